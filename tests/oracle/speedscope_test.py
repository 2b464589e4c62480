#!/usr/bin/env python3
# tests/oracle/speedscope_test.py — speedscope reads our stacks, by its own schema and in a browser, and they add up to the report.
#
# speedscope puts a profile's name into the page's title when it could read it; of what it cannot read, it shows an alert.
import base64
import collections
import json
import unittest

from oracle import NPM, TRACED, OracleTest, name_of, why_not, why_not_npm

RELEASE = NPM / "speedscope/dist/release"


class SpeedscopeTest(OracleTest):
    def test_follows_its_schema(self):
        if why := why_not_npm("speedscope"):
            self.skip(why)
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, _):
                file = self.export(log, "speedscope")
                done = self.execute("/usr/bin/python3", "-m", "jsonschema", "-i", file, RELEASE / "file-format-schema.json")
                self.assertEqual((done.returncode, done.stderr), (0, ""))

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

    def in_speedscope(self, file):
        """The page's title after it was given this file."""
        page = self.folder / "file.js"
        page.write_text(f'speedscope.loadFileFromBase64("{file.name}", "{base64.b64encode(file.read_bytes()).decode()}")')
        done = self.execute("chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=20000",
                            f"--user-data-dir={self.folder}/profile", "--allow-file-access-from-files", "--dump-dom",
                            f"file://{RELEASE}/index.html#localProfilePath={page}")
        return done.stdout.partition("<title>")[2].partition("</title>")[0]

    def test_opens_in_it(self):
        if why := why_not("chromium") or why_not_npm("speedscope"):
            self.skip(why)
        log, _ = self.trace_log("training_demo")
        for form in ("speedscope", "folded", "pprof"):
            self.assertRegex(self.in_speedscope(self.export(log, form)), r".+ - speedscope$", form)


if __name__ == "__main__":
    unittest.main()
