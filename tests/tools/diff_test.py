#!/usr/bin/env python3
# tests/tools/diff_test.py — `diff`: before and after, as text, as JSON, and as an exit status.
import json
import os
import unittest

from cli import CliTest, PROGRAMS

MIB = 1 << 20


class OfTwoRuns(CliTest):
    def live(self, orders, log):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "-o", log, PROGRAMS / "live", stdin=orders)
        self.assertEqual(status, 0, stderr)

    def setUp(self):
        super().setUp()
        self.live(f"hold {MIB} 3 drop 2 end\n", "base.vsl")
        self.live(f"hold {MIB} 3 drop 1 host 4096 1 end\n", "new.vsl")

    def diff(self, *arguments, status=0):
        found, stdout, stderr = self.vramscope("diff", *arguments)
        self.assertEqual((found, stderr), (status, ""), stdout)
        return stdout

    def diff_json(self, *arguments):
        return json.loads(self.diff("--json", "-", *arguments))

    def test_leads_with_what_is_worse(self):
        text = self.diff("base.vsl", "new.vsl")
        self.assertRegex(text, r"^WORSE: 1 new leak; 1 leak that has grown")
        self.assertRegex(text, r"\n  leaked +1 MiB +2 MiB +\+1 MiB\n")
        self.assertRegex(text, r"\n  grown +\+1 MiB in \+1 block +cuMemAlloc  hold\(.*\) live\.cpp:\d+\n")
        self.assertRegex(text, r"\n  new +\+4 KiB in \+1 block +cuMemHostAlloc  hold_on_host\(.*\) live\.cpp:\d+\n")
        self.assertRegex(text, r"\nNext: vramscope leaks new\.vsl\n$")

    def test_two_runs_of_one_program_are_the_same(self):
        self.live(f"hold {MIB} 3 drop 2 end\n", "again.vsl")
        found = self.diff_json("base.vsl", "again.vsl")
        self.assertEqual((found["verdict"], found["leaks"], found["same_leaks"]), ("same", [], 1))
        self.diff("--fail-on-regression", "base.vsl", "again.vsl")

    def test_a_regression_ends_101_where_that_is_asked_for(self):
        self.diff("base.vsl", "new.vsl")
        self.diff("--fail-on-regression", "base.vsl", "new.vsl", status=101)
        text = self.diff("--fail-on-regression", "new.vsl", "base.vsl")
        self.assertRegex(text, r"^BETTER: ")

    def test_a_higher_peak_is_a_regression_beyond_the_tolerance(self):
        self.live(f"hold {MIB} 4 drop 3 end\n", "high.vsl")
        self.diff("--fail-on-regression", "base.vsl", "high.vsl", status=101)
        self.diff("--fail-on-regression", "--tolerance", "40", "base.vsl", "high.vsl")

    def test_owners_are_summed_up_on_both_sides(self):
        (self.folder / "teams.rules").write_text('owner "The holder" stack /hold\\(/\n')
        text = self.diff("base.vsl", "new.vsl", "--owners", "teams.rules")
        self.assertRegex(text, r"\nMemory by owner, device 0\n  The holder +3 MiB -> 3 MiB at the peak +1 MiB -> 2 MiB at the end\n")
        rows = {(row["owner"], row["device"]): row for row in self.diff_json("base.vsl", "new.vsl", "--owners", "teams.rules")["owners"]}
        self.assertEqual(rows["The holder", 0]["new"]["live_bytes"], 2 * MIB)
        self.assertEqual(rows["other", None]["new"]["live_bytes"], 4096)
        self.assertEqual(self.diff_json("base.vsl", "new.vsl")["owners"], [])
        status, _, stderr = self.vramscope("diff", "base.vsl", "new.vsl", "--owners", "none.rules")
        self.assertEqual(status, 125, stderr)

    def test_what_is_suppressed_is_not_compared(self):
        (self.folder / "known.supp").write_text("leak:hold\n")
        found = self.diff_json("base.vsl", "new.vsl", "--suppressions", "known.supp")
        self.assertEqual(found["leaks"], [])

    def test_logs_that_show_nothing_end_110_and_111(self):
        size = (self.folder / "new.vsl").stat().st_size
        os.truncate(self.folder / "new.vsl", size - 40_000)
        text = self.diff("base.vsl", "new.vsl")
        self.assertRegex(text, r"^(INCONCLUSIVE|WORSE)")
        self.diff("--fail-on-regression", "new.vsl", "base.vsl", status=111)

    def test_wrong_usage_and_no_log(self):
        (self.folder / "garbage.vsl").write_bytes(b"x" * 10_000)
        status, stdout, stderr = self.vramscope("diff", "base.vsl", "garbage.vsl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "garbage.vsl")
        for arguments in [["base.vsl"], ["base.vsl", "new.vsl", "x"], ["base.vsl", "new.vsl", "--tolerance", "-1"],
                          ["base.vsl", "new.vsl", "--tolerance", "nan"]]:
            status, _, stderr = self.vramscope("diff", *arguments)
            self.assertEqual(status, 125, arguments)
            self.assert_one_line(stderr, "vramscope: error: ")

    def test_json_follows_its_schema(self):
        self.diff("base.vsl", "new.vsl", "--json", "diff.json")
        self.assert_follows_schema("diff", "diff.json")


if __name__ == "__main__":
    unittest.main()
