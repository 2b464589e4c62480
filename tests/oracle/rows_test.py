#!/usr/bin/env python3
# tests/oracle/rows_test.py — each list of a report is seen by a reader: the words of its rows are in the text and on the page.
#
# The lists are those of the schema that `vramscope schema report` prints, so that none can be forgotten: a list that is new
# there fails until LISTS says what is seen of its rows, and until a log here has one.
import collections
import gzip
import json
import pathlib
import re
import sys
import unittest
from typing import Callable, NamedTuple

from oracle import GPU, NOT_HERE, PROGRAMS, SOURCE, VRAMSCOPE, OracleTest
from pages import Pages, why_no_pages

OLD_LOGS = SOURCE / "tests" / "golden" / "old_logs"
SCENES = ("careless", "misuse", "damage", "shortages", "random_1", "suppressed", "growth_marks", "churn", "ranks", "leaks_reset",
          "training")
VIEWS = ("report", "leaks", "peak", "frag", "timeline", "churn", "objects", "contexts")
ROWS = 3  # of each list in each log: a text tells of the first few

TRACED = {
    "tests, by their names": ["gtest_suite"],
    "a pool of the driver's that keeps memory": ["../corpus/oom_mempool_keeps"],
    "a context beside another": ["contexts", "destroy_one_of_two"],
    "a library whose handles pile up": ["../corpus/leak_handle_per_step"],
    "an allocator like PyTorch's that asks again": ["torch_program", PROGRAMS / "libtorch_allocator.so", "retry"],
}

UNITS = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")


def in_bytes(number):
    """As the text and the page have it: "512 B", "64 KiB", "3.1 MiB"."""
    if number < 1024:
        return f"{number} B"
    unit = -1
    while number >= 1023.95 and unit + 1 < len(UNITS) or unit < 0:
        number /= 1024
        unit += 1
    return f"{number:.1f}".removesuffix(".0") + f" {UNITS[unit]}"


def counted(number, noun):
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def place(row):
    """The innermost frame, as a reader knows it."""
    if not row["stack"]:
        return ""
    frame = row["stack"][row.get("own", 0)]
    if frame["function"]:
        return frame["function"].removeprefix("(anonymous namespace)::").partition("(")[0].partition("<")[0]
    return f"{pathlib.Path(frame['module'] or '?').name}+{frame['offset']}"


def blocks_at(row):
    return [in_bytes(row["bytes"]), row["api"], place(row)]


def rate(row):
    return f"{in_bytes(int(max(1, row['bytes_per_step'] + 0.5)))} per {row['per']}" if row["bytes_per_step"] > 0 else ""


def wrong_free(row):
    calls = [row["call"], row["allocation"], row["ended"]]
    return [row["kind"], row["address"], row["result_name"], row["call"]["api"], *(place(call) for call in calls if call)]


def damaged(row):
    calls = [row["noticed"], row["allocation"], row["freed"]]
    return [row["kind"], row["address"], *(place(call) for call in calls if call)]


def part_of_peak(row):
    return [in_bytes(row["bytes"]), row["name"] or ""]


def mempool(row):
    return [in_bytes(row["kept_bytes"]), place(row)]


def taken(row):
    """Of the driver's memory for an object, where it is told of each."""
    return [in_bytes(row["taken"]["most_each"])] if row["taken"] and row["taken"]["most_each"] else []


def holder(row):
    return [in_bytes(row["bytes"]), row["name"] or row["library"] or ""]


def noun(kind):
    return "graph" if kind == "graph_object" else kind.replace("_", " ")


def context(row):
    opened = row.get("opened")
    return [opened["api"], place(opened)] if opened else ["not recorded"]


class Seen(NamedTuple):
    part: str  # of the page: the id of its section
    words: Callable
    in_text: Callable | None = None  # where a text has fewer of them
    least: int = 1  # of fewer rows a reader is not told: they say what the sum says


DRAWN = "in a chart or a map, without words"

# What a reader sees of a row of each list.
LISTS = {
    "findings": Seen("overview", lambda row: [row["sentence"].removeprefix(row["title"]).removeprefix(": ").strip()]),
    "leaks": Seen("leaks", blocks_at),
    "leaks_by_function": Seen("leaks", lambda row: [f"{row['stacks']} call stacks", in_bytes(row["bytes"]), place({"stack": [row["frame"]]})]),
    "unclosed_imports": Seen("open", blocks_at),
    "suppressed": Seen("suppressed", lambda row: [in_bytes(row["bytes"])]),
    "suppressions": Seen("suppressed", lambda row: [row["rule"], in_bytes(row["bytes"])]),
    "growth": Seen("growth", lambda row: [rate(row["rate"]), row["api"], place(row), "freed" if row["freed"] else ""]),
    "workspaces": Seen("workspaces", lambda row: [row["library"], in_bytes(row["bytes"]), rate(row["rate"]), place(row)]),
    "by_owner": Seen("by-owner", lambda row: [row["owner"], "" if row["device"] is None else in_bytes(row["at_peak_bytes"]), in_bytes(row["live_bytes"])]),
    "objects": Seen("objects", lambda row: [noun(row["object"]), f"{row['alive']:,} left", *taken(row), place(row)]),
    "processes[].objects": Seen("objects", lambda row: [f"{row['made']:,}", f"{row['alive']:,} left"]),
    "contexts": Seen("contexts", lambda row: ["context" if row["device"] is None else f"device {row['device']}", *context(row)],
                     lambda row: ["device that is not known" if row["device"] is None else f"Device {row['device']}", *context(row)], least=2),
    "misuse": Seen("misuse", wrong_free),
    "damage": Seen("misuse", damaged),
    "out_of_memory": Seen("shortages", lambda row: [in_bytes(row["requested_bytes"]), row["api"], place(row)]),
    "out_of_memory[].owners": Seen("shortages", lambda row: [in_bytes(row["bytes"]), place(row)]),
    "out_of_memory[].mempools": Seen("shortages", mempool),
    "failed_calls": Seen("refused", lambda row: [row["result_name"], row["api"], place(row)]),
    "owners_not_destroyed": Seen("open", lambda row: [row["memory"], row["api"], place(row)]),
    "graph_memory": Seen("open", blocks_at, lambda row: ["theirs to free"]),
    "held_at_work_end": Seen("open", blocks_at),
    "reservations": Seen("open", blocks_at),
    "processes": Seen("coverage", lambda row: [str(row["pid"]), pathlib.Path(row["program"] or "").name]),
    "processes[].devices": Seen("timeline", lambda row: [f"device {row['ordinal']}", row["name"]]),
    "processes[].frameworks": Seen("coverage", lambda row: [row["name"]]),
    "processes[].marks": Seen("timeline", lambda row: [row["name"]]),
    "processes[].tests": Seen("tests", lambda row: [row["name"], in_bytes(row["leaked_bytes"]) if row["leaked_bytes"] else ""]),
    "processes[].tests[].peaks": Seen("tests", lambda row: [in_bytes(row["peak_allocated"])]),
    "processes[].tests[].leaks": Seen("tests", blocks_at),
    "processes[].pool.devices": Seen("segments", lambda row: [f"device {row['device']}"]),
    "processes[].pool.devices[].timeline": DRAWN,
    "processes[].pool.devices[].at_peak.segments": DRAWN,
    "processes[].pool.devices[].at_peak.segments[].blocks": DRAWN,
    "processes[].pool.devices[].at_end.segments": DRAWN,
    "processes[].pool.devices[].at_end.segments[].blocks": DRAWN,
    "processes[].device_memory": Seen("peak", lambda row: [in_bytes(row["at_peak"]["waterfall"]["allocated"])]),
    "processes[].device_memory[].timeline": DRAWN,
    "processes[].device_memory[].at_marks": Seen("peak", lambda row: [row["mark"], in_bytes(row["waterfall"]["allocated"])]),
    "processes[].device_memory[].allocators": Seen("peak", lambda row: [row["name"], in_bytes(row["reserved_bytes"]["peak"])]),
    "processes[].device_memory[].allocators[].retried_at": Seen("peak", lambda row: [place(row)]),
    "processes[].device_memory[].mempools": Seen("peak", mempool),
    "processes[].device_memory[].mempools_at_end": Seen("peak", mempool),
    "processes[].device_memory[].holders_at_peak": Seen("peak", holder, least=3),
    "processes[].device_memory[].holders_at_end": Seen("peak", holder, least=3),
    "processes[].device_memory[].peak.stacks": Seen("peak", lambda row: [in_bytes(row["bytes"]), place(row)]),
    "processes[].device_memory[].peak.modules": Seen("peak", part_of_peak, least=2),
    "processes[].device_memory[].peak.phases": Seen("peak", part_of_peak, least=2),
    "processes[].device_memory[].peak.apis": Seen("peak", part_of_peak, least=2),
    "processes[].device_memory[].advice": Seen("peak", lambda row: [in_bytes(row["saving_bytes"]) if row["saving_bytes"] else "", place(row)]),
    "processes[].churn.driver": Seen("sizes", lambda row: [row["entry_point"] or "", f"{row['calls']:,}"]),
    "processes[].churn.sizes": Seen("sizes", lambda row: [in_bytes(row["from_bytes"]), f"{row['blocks']:,}"] if row["blocks"] else []),
    "processes[].churn.lifetimes": Seen("sizes", lambda row: [f"{row['blocks']:,}"] if row["blocks"] else []),
    "processes[].churn.sites": Seen("flame", lambda row: [in_bytes(row["allocated_bytes"]), place(row)]),
    "ranks.rows": Seen("ranks", lambda row: [row["verdict"], in_bytes(row["leaked_bytes"])], least=2),
    "ranks.leaks": Seen("ranks", lambda row: [in_bytes(row["most_bytes"]) if len(row["processes"]) > 1 else ""]),
}
# A call has frames, a row that many threads made says how many, and what holds its blocks is e2e_reach's.
OF_EACH_ROW = ("stack", "threads", "reach")


def resolved(schema, root):
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def lists_of(schema, root, path=""):
    """The paths of all lists of objects that a document of this schema may have: "processes[].marks"."""
    schema = resolved(schema, root)
    for choice in schema.get("anyOf", ()):
        yield from lists_of(choice, root, path)
    for name, member in schema.get("properties", {}).items():
        if name not in OF_EACH_ROW:
            yield from lists_of(member, root, f"{path}.{name}" if path else name)
    items = resolved(schema.get("items", {}), root)
    if "object" in items.get("type", ()):
        yield path
        yield from lists_of(items, root, f"{path}[]")


def rows_at(document, path):
    """The lists that a document has at such a path."""
    head, _, rest = path.partition("[].")
    for name in head.split("."):
        document = (document or {}).get(name)
    if not rest:
        return [document] if document else []
    return [rows for one in document or () for rows in rows_at(one, rest)]


def is_told(word, text):
    """As a word, or as words: 1 MiB is no part of 11 MiB."""
    return re.search(rf"(?<![\w.]){re.escape(word)}(?![\w])", text) is not None


class EachRow(Pages, OracleTest):
    """In every form: the text of the views, the page, and the JSON that says what they must have."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.seen = collections.Counter()  # rows by the path of their list

    def owners(self):
        """What makes a report sum up memory by owner."""
        (self.folder / "owners.txt").write_text("owner device kind device\n")
        return "--owners", self.folder / "owners.txt"

    def texts_of(self, *logs):
        return "\n".join(self.ask(VRAMSCOPE, view, *(self.owners() if view == "report" else ()), *logs) for view in VIEWS)

    def document_of(self, *logs):
        return json.loads(self.ask(VRAMSCOPE, "report", *self.owners(), "--json", "-", *logs))

    def assert_seen_in_each_form(self, *logs):
        document = self.document_of(*logs)
        text = " ".join(self.texts_of(*logs).split())
        page = self.read(self.page_of(*self.owners(), *logs))
        for path, seen in LISTS.items():
            if seen == DRAWN:
                continue
            for rows in rows_at(document, path):
                for row in rows[:ROWS] if len(rows) >= seen.least else ():
                    self.seen[path] += 1
                    with self.subTest(list=path, row=row):
                        self.assert_told(seen.words(row), " ".join(page.get(seen.part, "").split()), f"the page's {seen.part}")
                        self.assert_told((seen.in_text or seen.words)(row), text, "the text")

    def assert_told(self, words, text, where):
        self.assertEqual([word for word in words if word and not is_told(word, text)], [], f"is missing in {where}")

    def old_logs(self, scene):
        logs = []
        for packed in sorted(OLD_LOGS.glob(f"{scene}.*vsl.gz")):
            logs.append(self.folder / packed.name.removesuffix(".gz"))
            logs[-1].write_bytes(gzip.decompress(packed.read_bytes()))
        return logs

    def test_each_list_has_words_and_a_log(self):
        schema = json.loads(self.ask(VRAMSCOPE, "schema", "report"))
        self.assertEqual(sorted(LISTS), sorted(set(lists_of(schema, schema))))
        for scene in SCENES:
            with self.subTest(log=scene):
                self.assert_seen_in_each_form(*self.old_logs(scene))
        for name, (program, *arguments) in TRACED.items():
            with self.subTest(program=name):
                log = self.folder / f"{pathlib.Path(program).name}.vsl"
                self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--force", "-o", log, "--set", "pool=off", "--",
                             PROGRAMS / program, *arguments)
                self.assert_seen_in_each_form(log)
        self.assertEqual([path for path, seen in LISTS.items() if seen != DRAWN and self.seen[path] == 0], [],
                         "no log here has a row of these")


if __name__ == "__main__":
    if why_no_pages():
        print(f"SKIPPED: {why_no_pages()}")
        sys.exit(NOT_HERE)
    unittest.main()
