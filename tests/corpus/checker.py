# tests/corpus/checker.py — holds the report of a program against the truth that is planted in it.
#
# The world is closed: a row that no truth is about is false, as a truth without its rows is missed.
# Each finding is one Outcome; counts() sums them up by kind.
import collections
import dataclasses
import pathlib
import re

from truth import number

# Where the rows of a statement are in the report.
LISTS = {
    "leak": "leaks",
    "import": "unclosed_imports",
    "graph": "graph_memory",
    "owner": "owners_not_destroyed",
    "workspace": "workspaces",
    "oom": "out_of_memory",
    "failed": "failed_calls",
    "misuse": "misuse",
    "damage": "damage",
}
OBJECTS = ("stream", "event", "graph_object", "module", "library", "context_limit")
NAMES = {"oom": {"kind": "verdict", "requested": "requested_bytes"}, "failed": {"result": "result_name"}}


@dataclasses.dataclass
class Outcome:
    kind: str     # what it is about: "leaked-at-exit", "verdict clean", ...
    result: str   # found, missed or false
    text: str = ""


def plain_name(function):
    """A function without arguments, unnamed namespaces and clone suffixes."""
    name = re.sub(r"\(anonymous namespace\)::|\[[^]]*\]", "", function or "?").replace("operator()", "operator")
    while re.search(r"\([^()]*\)", name):
        name = re.sub(r"\([^()]*\)", "", name)
    name = re.sub(r" const$", "", name)
    return re.sub(r"^.* (?=[\w~:]+(<.*>)?$)", "", name)  # a template's name has its type in front


def is_called(function, wanted):
    name = plain_name(function)
    if "<" not in wanted:
        while re.search(r"<[^<>]*>", name):
            name = re.sub(r"<[^<>]*>", "", name)
    return name == wanted


def stack_of(row):
    if "frame" in row:  # in a sum
        return [row["frame"]]
    return (row.get("call") or row).get("stack") or [] if "stack" not in row else row["stack"]


def has(row, key, wanted, statement, program, report):
    """Whether a row of the report is one that this selector means."""
    stack = stack_of(row)
    if key == "function":
        return bool(stack) and is_called(stack[0]["function"], wanted)
    if key == "headline":
        return bool(stack) and is_called(stack[row.get("own", 0)]["function"], wanted)
    if key == "through":
        return any(is_called(frame["function"], wanted) for frame in stack)
    if key == "mark":
        return bool(stack) and stack[0]["line"] == program.line_of(wanted)
    if key == "module":
        return bool(stack) and pathlib.Path(stack[0]["module"] or "?").name == wanted
    if key == "process":
        command = report["processes"][row["process"]]["command"] or ""
        return wanted in command.split()
    value = row[NAMES.get(statement, {}).get(key, key)]
    return value == number(wanted) if isinstance(value, int) else value == wanted


def same(got, wanted):
    """Whether a member of the report is what a truth says: one of several words, a number, or a part to a thousandth."""
    if isinstance(got, float) or "." in wanted:
        return got is not None and abs(got - float(wanted)) < 0.001
    return got == number(wanted) if isinstance(got, int) and not isinstance(got, bool) else str(got).lower() in wanted.lower().split("|")


def ended(misuse, key):
    """What ended the block before, or its context."""
    call = misuse["ended"] or {"api": "?", "stack": []}
    return call["api"] if key == "ended_api" else plain_name(call["stack"][0]["function"] if call["stack"] else "?")


def describe(row):
    stack = stack_of(row)
    place = plain_name(stack[0]["function"]) if stack else "?"
    facts = [f"{key}={row[key]}" for key in ("kind", "class", "memory", "verdict", "api", "result_name", "requested_bytes",
                                             "largest_gap", "short_by", "blocks", "bytes", "calls",
                                             "saving_bytes", "phase") if row.get(key) is not None]
    return " ".join([f"function={place}", *facts])


class Checker:
    def __init__(self, program, report):
        self.program = program
        self.report = report
        self.outcomes = []

    def check(self):
        self.check_verdict()
        self.check_totals()
        self.check_maps()
        self.check_memory()
        self.check_growth()
        self.check_objects()
        self.check_contexts()
        for statement, rows in LISTS.items():
            self.check_rows(statement, list(self.report[rows]))
        if self.program.of("sum"):  # the list is closed where something of it is planted
            self.check_rows("sum", list(self.report["leaks_by_function"]))
        for row in self.report["suppressed"]:  # by a list that is for libraries, of which there is none here
            self.add("suppressed", "false", f"suppressed: {describe(row)}")
        return self.outcomes

    def add(self, kind, result, text=""):
        self.outcomes.append(Outcome(kind, result, f"{self.program.name}: {text}" if text else ""))

    def compare(self, kind, wanted, got, text):
        """One thing that must be so: found, or missed."""
        self.add(kind, "found" if wanted == got else "missed", "" if wanted == got else f"{text}: {got}, not {wanted}")

    def check_verdict(self):
        wanted = self.program.of("verdict")[0].keys["word"]
        got = self.report["verdict"]
        self.compare(f"verdict {wanted}", wanted, got, "verdict")
        if wanted != got:
            self.add(f"verdict {got}", "false", f"verdict {got}")
        processes = self.program.of("processes")
        self.compare("processes", int(processes[0].keys["word"]) if processes else 1, len(self.report["processes"]), "processes")

    def check_totals(self):
        planted = {"address_reservations": "0", "reserved_address_bytes": "0"}
        for truth in self.program.of("total"):
            planted.update(truth.keys)
        for name, text in planted.items():
            self.compare(f"total {name}", number(text), self.report["totals"][name], name)
        for name in ("bytes", "blocks"):  # the total is that of the rows, whatever the rows are
            self.compare(f"total leaked_{name}", sum(row[name] for row in self.report["leaks"]
                                                     if row["kind"] != "unclosed-import"),
                         self.report["totals"][f"leaked_{name}"], f"leaked_{name}")

    def check_objects(self):
        """The list is closed where something of it is planted; what piles up is closed everywhere, but for what owns memory:
        a truth says that as growth."""
        planted = self.program.of("object")
        self.check_rows("object", [row for row in self.report["objects"]
                                   if planted or row["class"] == "growing" and row["object"] in OBJECTS])

    def check_contexts(self):
        """The list is closed where something of it is planted; stray ones are closed everywhere."""
        rows = [{**row["opened"], **row} for row in self.report["contexts"] if "opened" in row]
        self.check_rows("context", rows if self.program.of("context") else [row for row in rows if row["stray"]])

    def check_maps(self):
        for truth in self.program.of("map"):
            device = self.report["processes"][0]["pool"]["devices"][0]
            found = device["at_" + truth.keys["at"]]
            got = {"largest_gap": found["largest_gap"],
                   "allocated": sum(segment["allocated_size"] for segment in found["segments"])}
            for name, wanted in truth.facts().items():
                self.compare(f"map at {truth.keys['at']}", number(wanted), got[name], name)

    def check_memory(self):
        """What holds of every program, and what is planted of this one."""
        for process in self.report["processes"]:
            for device in process["device_memory"]:
                self.check_sums(device)
        for statement, name in (("peak", "stacks"), ("advice", "advice"), ("mempool", "mempools_at_end")):
            if self.program.of(statement):  # the list is closed where something of it is planted
                self.check_rows(statement, [row for process in self.report["processes"] for device in process["device_memory"]
                                            for row in (device["peak"] if statement == "peak" else device)[name]])
        for truth in self.program.of("waterfall"):
            self.compare_parts("waterfall", truth, self.moment(truth))
        for truth in self.program.of("gaps"):
            at = {"peak": "free_at_pool_peak", "end": "free_at_end"}[truth.keys["at"]]
            self.compare_parts("gaps", truth, self.device(truth)[at])

    def check_sums(self, device):
        moments = [device[name] for name in ("at_peak", "at_reserved_peak", "at_end")] + device["at_marks"]
        for parts in [moment["waterfall"] for moment in moments]:
            used = parts["device_used"] is None or (parts["device_used"] == parts["unattributed"] + parts["reserved"] and
                                                    parts["contexts"] + parts["objects"] <= parts["unattributed"])
            pool = parts["releasable"] + parts["stuck"] + parts["pending"] + parts["kept"] + parts["allocated"]
            blocks = parts["internal"] + parts["requested"]
            self.compare("waterfall adds up", (True, parts["reserved"], parts["allocated"]), (used, pool, blocks), f"{parts}")
        peak = device["peak"]
        sums = [sum(row["bytes"] for row in peak[name]) for name in ("modules", "phases", "apis")]
        sums.append(sum(row["bytes"] for row in peak["stacks"]) + peak["more"]["bytes"])
        sums.append(device["at_peak"]["waterfall"]["requested"])
        self.compare("peak adds up", [peak["bytes"]] * len(sums), sums, "modules, phases, apis, stacks, waterfall")

    def device(self, truth):
        wanted = int(truth.keys.get("device", 0))
        return next(device for device in self.report["processes"][0]["device_memory"] if device["device"] == wanted)

    def moment(self, truth):
        at = truth.keys["at"]
        device = self.device(truth)
        name = "at_" + at.replace("-", "_")
        moments = [device[name]] if name in device else [mark for mark in device["at_marks"] if mark["mark"] == at]
        return moments[0]["waterfall"] if moments else {}

    def compare_parts(self, kind, truth, parts):
        wrong = [f"{name} {parts.get(name)}, not {wanted}" for name, wanted in truth.facts().items()
                 if not same(parts.get(name), wanted)]
        self.add(kind, "missed" if wrong else "found", f"{truth}: {'; '.join(wrong)}" if wrong else "")

    def check_rows(self, statement, rows):
        for truth in self.program.of(statement):
            mine = [row for row in rows if all(has(row, key, wanted, statement, self.program, self.report)
                                               for key, wanted in truth.selectors().items())]
            kind = self.kind_of(statement, truth.keys, mine)
            if not mine:
                self.add(kind, "missed", f"no row for: {truth}")
                continue
            rows = [row for row in rows if row not in mine]
            wrong = self.wrong_facts(statement, truth, mine)
            self.check_unplanted_growth(statement, truth, mine)
            self.add(kind, "missed" if wrong else "found", f"{truth}: {'; '.join(wrong)}" if wrong else "")
        for row in rows:
            self.add(self.kind_of(statement, {}, [row]), "false", f"{statement} not planted: {describe(row)}")

    def check_class(self, wanted, rows):
        """A word of its own: a leak may be found and be taken for a cache."""
        for row in rows:
            right = row["class"] in wanted.split("|")
            text = f"{describe(row)}: class {row['class']}, not {wanted}"
            self.add(f"class {wanted}", "found" if right else "missed", "" if right else text)
            if not right:
                self.add(f"class {row['class']}", "false", text)

    def check_unplanted_growth(self, statement, truth, rows):
        for row in rows:
            if statement == "leak" and "class" not in truth.keys and row["class"] == "growing":
                self.add("class growing", "false", f"{describe(row)}: nobody said that it grows")

    @staticmethod
    def wrong_rate(key, wanted, rates):
        """A slope is a median over noise: right within a twentieth."""
        if None in rates:
            return [f"no rate, not {key} {wanted}"]
        if key == "per":
            got = {rate["per"].replace("#", "").strip() for rate in rates}
            return [] if got <= set(wanted.split("|")) else [f"per {', '.join(got)}, not {wanted}"]
        slope = sum(rate["bytes_per_step"] for rate in rates)
        return [] if abs(slope - number(wanted)) <= number(wanted) / 20 else [f"slope {slope:.0f}, not {number(wanted)}"]

    @staticmethod
    def wrong_range(each, taken):
        """The true bytes lie in the range, and the range says something."""
        least, most = (taken["least_each"], taken["most_each"]) if taken else (None, None)
        return [] if most and least <= each <= most < 4 * each else [f"each {least} to {most}, not {each}"]

    def check_growth(self):
        """What grows is in a list of its own: leaks that grow, and what is freed at the end."""
        rows = list(self.report["growth"])
        planted = [truth for truth in self.program.of("leak") if "growing" in truth.keys.get("class", "").split("|")]
        for truth in planted + self.program.of("growth"):
            keys = {key: value for key, value in truth.selectors().items() if key in ("function", "headline", "through", "mark", "memory")}
            mine = [row for row in rows if all(has(row, key, wanted, "growth", self.program, self.report)
                                               for key, wanted in keys.items())]
            rows = [row for row in rows if row not in mine]
            if not mine and "|" in truth.keys.get("class", ""):
                continue  # it may be called so, and need not
            facts = {"freed": "false", **{key: value for key, value in truth.keys.items() if key in ("per", "slope", "freed")}}
            grows = dataclasses.replace(truth, statement="growth", keys=facts)
            wrong = self.wrong_facts("growth", grows, mine) if mine else ["no row"]
            self.add("growth", "missed" if wrong else "found", f"growth of {truth}: {'; '.join(wrong)}" if wrong else "")
        for row in rows:
            self.add("growth", "false", f"growth not planted: {describe(row)}")

    def kind_of(self, statement, keys, rows):
        if statement in ("leak", "misuse", "damage", "oom", "advice"):
            name = NAMES.get(statement, {}).get("kind", "kind")
            word = keys.get("kind") or (rows[0][name] if rows else "leaked-at-exit" if statement == "leak" else "?")
            return f"{statement} {word}"
        if statement in ("import", "graph", "owner"):
            return f"{statement} {keys.get('memory') or (rows[0]['memory'] if rows else '?')}"
        return statement

    def wrong_facts(self, statement, truth, rows):
        """What is not as it should be; of several rows together, numbers are their sums."""
        wrong = []
        facts = truth.facts() if statement == "growth" else {"rows": "1", **truth.facts()}
        for key, wanted in facts.items():
            if key == "class":
                self.check_class(wanted, rows)
                continue
            if key in ("per", "slope"):
                wrong += self.wrong_rate(key, wanted, [row["rate" if statement in ("growth", "workspace") else "growth"] for row in rows])
                continue
            if key == "each":
                wrong += self.wrong_range(number(wanted), rows[0]["taken"])
                continue
            if key == "rows":
                got = len(rows)
            elif key == "fingerprints":
                got = len({row["fingerprint"] for row in rows})
            elif key == "threads":
                got = sum(row["thread_count"] for row in rows)
            elif key in ("ended_api", "ended_function"):
                got = ended(rows[0], key)
            elif key in ("blocks", "bytes", "calls", "made", "ended", "alive"):
                got = sum(row[key] for row in rows)
            else:
                got = all(row[key] for row in rows) if key == "freed" else rows[0][key]
            if not same(got, wanted):
                wrong.append(f"{key} {got}, not {wanted}")
        return wrong


def check(program, report):
    return Checker(program, report).check()


def counts(outcomes):
    """{kind: {"planted", "found", "missed", "false"}}"""
    table = collections.defaultdict(lambda: dict.fromkeys(("planted", "found", "missed", "false"), 0))
    for outcome in outcomes:
        table[outcome.kind][outcome.result] += 1
        if outcome.result != "false":
            table[outcome.kind]["planted"] += 1
    return dict(sorted(table.items()))


def print_table(table):
    total = {column: sum(row[column] for row in table.values()) for column in ("planted", "found", "missed", "false")}
    print(f"{'kind':<34}{'planted':>9}{'found':>9}{'missed':>9}{'false':>9}")
    for kind, row in [*table.items(), ("all", total)]:
        print(f"{kind:<34}{row['planted']:>9}{row['found']:>9}{row['missed']:>9}{row['false']:>9}")
