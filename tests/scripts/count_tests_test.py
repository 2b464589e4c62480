#!/usr/bin/env python3
# tests/scripts/count_tests_test.py — the last line of scripts/test says what ctest's files say.
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "count_tests.py"

PASSED = '<testcase name="a" status="run"/>'
FAILED = '<testcase name="b" status="fail"><failure message=""/></testcase>'
SKIPPED = '<testcase name="c" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>'
DISABLED = '<testcase name="d" status="disabled"/>'
IN_PART = '<testcase name="f" status="run"><system-out>.s\nSKIPPED: no ajv here\nOK (skipped=1)\n</system-out></testcase>'
IN_PART_BY_GOOGLE_TEST = ('<testcase name="g" status="run"><system-out>[  SKIPPED ] A.B (0 ms)\n[  PASSED  ] 3 tests.\n'
                          '[  SKIPPED ] 2 tests, listed below:\n[  SKIPPED ] A.B\n</system-out></testcase>')
WITH_REASON = ('<testcase name="h" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
               '<system-out>SKIPPED: there is no go here</system-out></testcase>')
NOT_STARTED = '<testcase name="e" status="notrun"><skipped message="Unable to find executable"/></testcase>'


class CountTests(unittest.TestCase):
    def count(self, *files):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for index, text in enumerate(files):
                paths.append(pathlib.Path(folder) / f"{index}.xml")
                paths[-1].write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, *paths], capture_output=True, text=True)
        self.lines = done.stdout.splitlines()
        return done.returncode, self.lines[-1]

    def suite(self, *cases):
        return f"<testsuite>{''.join(cases)}</testsuite>"

    def test_all_passed_ends_zero(self):
        self.assertEqual(self.count(self.suite(PASSED, PASSED)), (0, "2 passed, 0 failed, 0 skipped"))

    def test_files_are_added_up(self):
        counted = self.count(self.suite(PASSED), self.suite(PASSED, SKIPPED, DISABLED))
        self.assertEqual(counted, (0, "2 passed, 0 failed, 2 skipped"))

    def test_what_was_skipped_is_named_with_its_reason(self):
        self.assertEqual(self.count(self.suite(PASSED, SKIPPED, WITH_REASON)), (0, "1 passed, 0 failed, 2 skipped"))
        self.assertEqual(self.lines[:-1], ["skipped: c", "skipped: h: there is no go here"])

    def test_a_part_that_was_skipped_counts_and_is_named(self):
        self.assertEqual(self.count(self.suite(PASSED, IN_PART, IN_PART_BY_GOOGLE_TEST)), (0, "3 passed, 0 failed, 3 skipped"))
        self.assertEqual(self.lines[:-1], ["skipped: f: 1 of its tests: no ajv here", "skipped: g: 2 of its tests"])

    def test_a_failure_ends_one(self):
        self.assertEqual(self.count(self.suite(PASSED, FAILED)), (1, "1 passed, 1 failed, 0 skipped"))

    def test_a_test_that_could_not_start_is_a_failure(self):
        self.assertEqual(self.count(self.suite(PASSED, NOT_STARTED)), (1, "1 passed, 1 failed, 0 skipped"))

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.count(self.suite()), (1, "0 passed, 1 failed, 0 skipped"))
        self.assertEqual(self.count(), (1, "0 passed, 1 failed, 0 skipped"))

    def test_a_file_that_ctest_did_not_finish_is_a_failure(self):
        self.assertEqual(self.count(self.suite(PASSED), "<testsuite>"), (1, "1 passed, 1 failed, 0 skipped"))


if __name__ == "__main__":
    unittest.main()
