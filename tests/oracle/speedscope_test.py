#!/usr/bin/env python3
# tests/oracle/speedscope_test.py — speedscope reads our stacks, by its own schema and in a browser, and they add up to the report.
import collections
import json
import pathlib
import shutil
import unittest

from oracle import BROWSER, NPM, TRACED, OracleTest, name_of, why_no_browser, why_not_npm

RELEASE = NPM / "speedscope/dist/release"
DRIVE = pathlib.Path(__file__).parent / "browser" / "speedscope.mjs"


def size(bytes_):
    """As speedscope writes it."""
    for unit in ("B", "KB", "MB"):
        if bytes_ < 1024:
            break
        bytes_ /= 1024
    else:
        unit = "GB"
    return f"{bytes_:.0f} B" if unit == "B" else f"{bytes_:.2f} {unit}"


def own(profile):
    """What each function has alone, of those that have something."""
    shown = {name: alone.partition(" (")[0] for _, alone, name in profile["rows"]}
    return {name: alone for name, alone in shown.items() if not alone.startswith("0 ") and alone != "0"}


def whole(profile):
    return next(total for total, _, name in profile["rows"] if name == "main").partition(" (")[0]


class SpeedscopeTest(OracleTest):
    def test_follows_its_schema(self):
        if why := why_not_npm("speedscope"):
            self.skip(why)
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, _):
                self.assert_follows(RELEASE / "file-format-schema.json", self.export(log, "speedscope"))

    def test_sums_are_those_of_the_report(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                totals = report["totals"]
                profiles = json.loads(self.export(log, "speedscope").read_text())["profiles"]
                self.assertEqual([sum(one["weights"]) for one in profiles],
                                 [totals["leaked_bytes"], totals["leaked_blocks"], totals["allocated_bytes"], totals["allocations"]])
                self.assertEqual([one["endValue"] for one in profiles], [sum(one["weights"]) for one in profiles])
                lines = self.export(log, "folded").read_text().splitlines()
                self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), totals["leaked_bytes"])
                lines = self.export(log, "folded", "--sum", "allocated").read_text().splitlines()
                self.assertEqual(sum(int(line.rpartition(" ")[2]) for line in lines), totals["allocated_bytes"])

    def test_stacks_end_where_the_report_says(self):
        log, report = self.trace_log("training_demo")
        expected = collections.Counter()
        for leak in report["leaks"]:
            expected[name_of(leak)] += leak["bytes"]
        found = collections.Counter()
        for line in self.export(log, "folded").read_text().splitlines():
            stack, _, bytes_ = line.rpartition(" ")
            found[stack.split(";")[-1]] += int(bytes_)
        self.assertEqual(found, expected)

    def in_speedscope(self, *files):
        """What its page shows of each file."""
        if why := why_no_browser() or why_not_npm("speedscope"):
            self.skip(why)
        done = self.execute("node", DRIVE, BROWSER, shutil.which("chromium"), RELEASE, *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_shows_the_sums_of_the_report(self):
        log, report = self.trace_log("training_demo")
        files = [self.export(log, form) for form in ("speedscope", "folded", "pprof")]
        stacks, folded, pprof = self.in_speedscope(*files)
        for told in (stacks, folded, pprof):
            self.assertRegex(told["title"], r".+ - speedscope$")
        expected = {"bytes": collections.Counter(), "blocks": collections.Counter()}
        for leak in report["leaks"]:
            for what, sums in expected.items():
                sums[name_of(leak)] += leak[what]
        self.assertEqual(own(folded["profiles"][0]), {name: f"{bytes_:,}" for name, bytes_ in expected["bytes"].items()})
        self.assertEqual(own(pprof["profiles"][0]), {name: size(bytes_) for name, bytes_ in expected["bytes"].items()})
        profiles = {one["name"]: one for one in stacks["profiles"]}
        self.assertEqual(own(profiles["never freed, bytes"]), {name: size(bytes_) for name, bytes_ in expected["bytes"].items()})
        self.assertEqual(own(profiles["never freed, blocks"]), {name: f"{blocks:,}" for name, blocks in expected["blocks"].items()})
        totals = report["totals"]
        self.assertEqual(whole(profiles["allocated, bytes"]), size(totals["allocated_bytes"]))
        self.assertEqual(whole(profiles["allocated, blocks"]), f"{totals['allocations']:,}")


if __name__ == "__main__":
    unittest.main()
