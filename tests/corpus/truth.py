# tests/corpus/truth.py — the truth that is planted in a program, read from the
# comments at its head.
#
# README.md has the grammar. A line that does not follow it is an error: a misspelt fact would be a
# fact that nobody checks.
import dataclasses
import pathlib
import re

UNITS = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

# Statement: (what finds rows of the report, what must be true of them together).
STATEMENTS = {
    "leak": ({"function", "headline", "through", "mark", "module", "kind", "memory", "api", "device", "process"},
             {"blocks", "bytes", "rows", "fingerprints", "threads", "class", "per", "slope"}),
    "sum": ({"function", "memory"}, {"blocks", "bytes", "stacks", "rows", "class", "per", "slope"}),
    "import": ({"function", "memory", "api", "process"}, {"blocks", "bytes", "rows"}),
    "graph": ({"function", "memory", "api"}, {"blocks", "bytes", "rows"}),
    "owner": ({"function", "memory", "api"}, {"blocks", "rows"}),
    "growth": ({"function", "through", "memory"}, {"per", "slope", "freed"}),
    "workspace": ({"library"}, {"stacks", "per", "slope"}),
    "oom": ({"function", "kind", "requested"}, {"rows", "short_by", "largest_gap", "estimated", "requested_at_least", "device",
                                            "unusable_index", "free_pieces"}),
    "failed": ({"function", "result"}, {"rows", "calls"}),
    "misuse": ({"function", "kind"}, {"rows", "calls", "ended_api", "ended_function"}),
    "damage": ({"kind"}, {"rows"}),
    "map": ({"at"}, {"largest_gap", "allocated"}),
    "waterfall": ({"at", "device"}, {"device_used", "unattributed", "contexts", "objects", "reserved", "releasable", "stuck", "pending", "allocated",
                                     "internal", "requested", "direct"}),
    "gaps": ({"at"}, {"bytes", "pieces", "largest", "largest_request", "unusable_for_largest_request"}),
    "peak": ({"function", "through", "memory", "phase"}, {"blocks", "bytes", "rows"}),
    "advice": ({"function", "kind"}, {"saving_bytes", "blocks", "block_bytes", "phase", "other_phase", "rows"}),
    "mempool": ({"function"}, {"kept_bytes", "reserved_bytes", "used_bytes", "rows"}),
    "object": ({"function", "object", "api", "library"}, {"made", "ended", "alive", "class", "per", "rows", "each"}),
    "context": ({"function", "api", "device", "opening"}, {"rows", "stray", "allocations"}),
    "total": (set(), {"peak_device_bytes", "peak_host_bytes", "address_reservations", "reserved_address_bytes"}),
    "verdict": ({"word"}, set()),
    "processes": ({"word"}, set()),
}
RUN_KEYS = {"simulate", "set", "pool", "exit", "takes"}


class BadTruth(Exception):
    pass


@dataclasses.dataclass
class Truth:
    statement: str
    keys: dict
    line: int

    def selectors(self):
        return {key: value for key, value in self.keys.items() if key in STATEMENTS[self.statement][0]}

    def facts(self):
        return {key: value for key, value in self.keys.items() if key in STATEMENTS[self.statement][1]}

    def __str__(self):
        return " ".join([self.statement, *(f"{key}={value}" for key, value in self.keys.items())])


@dataclasses.dataclass
class Program:
    name: str
    source: pathlib.Path
    run: dict          # simulate, pool, exit, takes: one value; set: several
    truths: list

    def of(self, statement):
        return [truth for truth in self.truths if truth.statement == statement]

    def line_of(self, mark):
        lines = [number for number, line in enumerate(self.source.read_text().splitlines(), start=1)
                 if re.search(rf"// MARK {mark}$", line)]
        if len(lines) != 1:
            raise BadTruth(f"{self.source.name}: {len(lines)} lines are marked {mark}")
        return lines[0]


def number(text):
    """A number: sums and products of sizes such as 64KiB."""
    plain = re.sub(r"(\d+)(KiB|MiB|GiB)", lambda found: str(int(found[1]) * UNITS[found[2]]), text)
    if not re.fullmatch(r"[0-9+*]+", plain):
        raise BadTruth(f"{text} is no number")
    try:
        return sum(product(term) for term in plain.split("+"))
    except ValueError:
        raise BadTruth(f"{text} is no number") from None


def product(term):
    result = 1
    for factor in term.split("*"):
        result *= int(factor)
    return result


def pairs(words, known, where):
    found = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in known or not value:
            raise BadTruth(f"{where}: {word} is not known here")
        if key == "set":
            found.setdefault(key, []).append(value)
        elif key in found:
            raise BadTruth(f"{where}: {key} is there twice")
        else:
            found[key] = value
    return found


def parse_truth(text, where, line):
    statement, *words = text.split()
    if statement not in STATEMENTS:
        raise BadTruth(f"{where}: {statement} is no statement")
    selectors, facts = STATEMENTS[statement]
    if selectors == {"word"}:
        if len(words) != 1:
            raise BadTruth(f"{where}: {statement} wants one word")
        return Truth(statement, {"word": words[0]}, line)
    return Truth(statement, pairs(words, selectors | facts, where), line)


def read_program(source):
    """The program of one file, with its truth."""
    program = Program(source.stem, source, {}, [])
    for line, text in enumerate(source.read_text().splitlines(), start=1):
        if not text.startswith("//"):
            break
        where = f"{source.name}:{line}"
        word, colon, rest = text[2:].partition(":")
        if colon and word.strip() == "run":
            program.run = pairs(rest.split(), RUN_KEYS, where)
        elif colon and word.strip() == "truth":
            program.truths.append(parse_truth(rest, where, line))
    if len(program.of("verdict")) != 1:
        raise BadTruth(f"{source.name}: one verdict must be planted")
    return program


def read_corpus(folder):
    return [read_program(source) for source in sorted(folder.glob("*.cu"))]
