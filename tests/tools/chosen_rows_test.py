#!/usr/bin/env python3
# tests/tools/chosen_rows_test.py — -n, --sort, --min and --match choose call stacks of a text:
# verdict and sums stay, and what is left out is said.
import json
import re
import unittest

from cli import PROGRAMS, CliTest


class ChosenRows(CliTest):
    def setUp(self):
        super().setUp()
        status, _, stderr = self.simulate(PROGRAMS / "training_demo", "2")
        self.assertEqual(status, 0, stderr)

    def text(self, *arguments):
        status, stdout, stderr = self.vramscope(*arguments, "run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        return stdout

    def rows(self, *options, view="leaks"):
        """Their numbers and innermost functions, as they are listed."""
        return re.findall(r"(?m)^#(\d+) .*\n(?:    \S.*\n)+ {6}(\w+)", self.text(view, *options))

    def test_the_verdict_and_the_sums_stay(self):
        for view, most in (("leaks", 1), ("report", 1), ("peak", 2), ("churn", 2)):
            verdict = self.text(view).partition("\n")[0]
            for options in (["-n", 0], ["-n", most], ["--min", "1TiB"], ["--match", "nobody"], ["--sort", "count"]):
                self.assertEqual(self.text(view, *options).partition("\n")[0], verdict, (view, options))
        self.assertEqual(self.text("leaks", "-n", 99), self.text("leaks"))

    def test_what_is_left_out_is_said(self):
        labels, losses = (leak["bytes"] for leak in self.read_json("run.json")["leaks"])
        self.assertGreater(labels, 11 << 20)
        self.assertEqual(self.rows(), [("1", "load_labels"), ("2", "log_loss")])
        self.assertEqual(self.rows("-n", 1), [("1", "load_labels")])
        self.assertIn(f"\n... and 1 more call stack, {losses >> 10} KiB\n", self.text("leaks", "-n", 1))
        self.assertEqual(self.rows("--min", "1MiB"), [("1", "load_labels")])
        self.assertEqual(self.rows("--match", "log_lo"), [("2", "log_loss")])
        self.assertIn("\n... and 1 more call stack, 11.4 MiB\n", self.text("leaks", "--match", "log_loss"))
        self.assertIn("\nNone of 2 call stacks, ", self.text("leaks", "--match", "nobody"))

    def test_a_function_or_its_place_matches_anywhere_in_the_stack(self):
        self.assertEqual(len(self.rows("--match", "^main$")), 2)
        line = re.search(r"load_labels\(\) +\S*(training_demo\.cu:\d+)", self.text("leaks"))[1]
        self.assertEqual(self.rows("--match", line.replace(".", r"\.") + "$"), [("1", "load_labels")])

    def test_the_order(self):
        for order, first in (("bytes", "load_labels"), ("time", "load_labels"), ("count", "log_loss")):
            self.assertEqual(self.rows("--sort", order)[0][1], first, order)
        self.assertEqual(self.rows("--sort", "count"), [("2", "log_loss"), ("1", "load_labels")])
        self.simulate(PROGRAMS / "training_demo", "20")  # steps enough to grow by
        self.assertEqual([name for _, name in self.rows("--sort", "growth")], ["log_loss", "load_labels"])

    def test_a_peak_adds_up_whatever_is_shown(self):
        whole = self.text("peak", "-n", 99)
        part = self.text("peak", "-n", 1)
        stacks = lambda text: re.findall(r"(?m)^ +[\d.<]+ %\s+(\S+ \S+) in (\d+) block", text.partition("by call stack")[2].partition("  by ")[0])
        blocks = lambda text: sum(int(count) for _, count in stacks(text))
        self.assertGreater(len(stacks(whole)), 3)
        self.assertEqual(len(stacks(part)), 2)
        self.assertEqual(blocks(part), blocks(whole))
        self.assertRegex(part, r"\d+ more call stacks\n")
        self.assertNotIn("more call stack", whole)
        self.assertIn(f"{len(stacks(whole))} call stacks\n", self.text("peak", "--match", "nobody"))

    def test_churn_keeps_the_numbers_that_its_advice_names(self):
        rows = self.rows(view="churn")
        number, name = rows[-1]
        self.assertGreater(int(number), 1)
        self.assertIn((number, name), self.rows("--match", name, view="churn"))
        self.assertIn(f"... and {len(rows) - 1} more place", self.text("churn", "-n", 1))

    def test_json_has_all_rows(self):
        chosen = json.loads(self.vramscope("leaks", "-n", 1, "--json", "-", "run.vsl")[1])
        self.assertEqual(len(chosen["leaks"]), 2)

    def test_what_is_none_is_refused(self):
        for options, part in ((["-n", "many"], "-n"), (["-n", "-1"], "-n"), (["--sort", "colour"], "write bytes, count, growth, time"),
                              (["--min", "much"], "write a size"), (["--match", "("], "no regular expression")):
            status, stdout, stderr = self.vramscope("leaks", *options, "run.vsl")
            self.assertEqual((status, stdout), (125, ""), options)
            self.assert_one_line(stderr, part)
        self.assert_one_line(self.vramscope("peak", "--sort", "growth", "run.vsl")[2], "write bytes, count")
        for view in ("frag", "timeline"):  # these list no call stacks
            for option, value in (("-n", "1"), ("--sort", "bytes")):
                self.assert_one_line(self.vramscope(view, option, value, "run.vsl")[2], f"unknown option '{option}'")


if __name__ == "__main__":
    unittest.main()
