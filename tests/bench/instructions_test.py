#!/usr/bin/env python3
# tests/bench/instructions_test.py — tests/bench/instructions fails, skips and rewrites as it says.
#
#   instructions_test.py MADE_WITH
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

PROGRAM = pathlib.Path(__file__).with_name("instructions")
FIGURE = "pass-through"  # the quickest


class Instructions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.figures = pathlib.Path(folder.name, "figures.json")
        self.write("", {})

    def write(self, made_with, instructions):
        self.figures.write_text(json.dumps({"made_with": made_with, "instructions": instructions}))

    def run_program(self, *options):
        return subprocess.run([PROGRAM, "--only", FIGURE, "--figures", self.figures, *options,
                               os.environ["VRAMSCOPE_BUILD"], MADE_WITH], stdout=subprocess.PIPE, text=True)

    def rewritten(self):
        done = self.run_program("--rewrite")
        if done.returncode == 77:
            print(done.stdout)
            self.skipTest(done.stdout)
        self.assertEqual(done.returncode, 0, done.stdout)
        return json.loads(self.figures.read_text())

    def test_the_same_run_counts_the_same(self):
        first = self.rewritten()
        self.assertGreater(first["instructions"][FIGURE], 0)
        self.assertEqual(self.rewritten(), first)

    def test_a_figure_that_has_grown_fails(self):
        now = self.rewritten()
        was = now["instructions"][FIGURE]
        self.write(now["made_with"], {FIGURE: was / 1.02})
        self.assertEqual(self.run_program().returncode, 0)
        self.write(now["made_with"], {FIGURE: was / 1.04})
        done = self.run_program()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"{was / 1.04:,.1f}, now {was:,.1f}", done.stdout)

    def test_a_figure_that_is_missing_fails(self):
        self.write(self.rewritten()["made_with"], {})
        self.assertEqual(self.run_program().returncode, 1)

    def test_another_compiler_is_not_compared(self):
        self.write("plan9 4, 6c 1.0", {FIGURE: 1})
        done = self.run_program()
        self.assertEqual(done.returncode, 77)
        self.assertIn("SKIPPED: ", done.stdout)


if __name__ == "__main__":
    MADE_WITH = sys.argv.pop(1)
    unittest.main()
