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
NOT_STARTED = '<testcase name="e" status="notrun"><skipped message="Unable to find executable"/></testcase>'


class CountTests(unittest.TestCase):
    def count(self, *files):
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for index, text in enumerate(files):
                paths.append(pathlib.Path(folder) / f"{index}.xml")
                paths[-1].write_text(text)
            done = subprocess.run([sys.executable, SCRIPT, *paths], capture_output=True, text=True)
        return done.returncode, done.stdout.splitlines()[-1]

    def suite(self, *cases):
        return f"<testsuite>{''.join(cases)}</testsuite>"

    def test_all_passed_ends_zero(self):
        self.assertEqual(self.count(self.suite(PASSED, PASSED)), (0, "2 passed, 0 failed"))

    def test_files_are_added_up(self):
        counted = self.count(self.suite(PASSED), self.suite(PASSED, SKIPPED, DISABLED))
        self.assertEqual(counted, (0, "2 passed, 0 failed, 2 skipped"))

    def test_a_failure_ends_one(self):
        self.assertEqual(self.count(self.suite(PASSED, FAILED)), (1, "1 passed, 1 failed"))

    def test_a_test_that_could_not_start_is_a_failure(self):
        self.assertEqual(self.count(self.suite(PASSED, NOT_STARTED)), (1, "1 passed, 1 failed"))

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.count(self.suite()), (1, "0 passed, 1 failed"))
        self.assertEqual(self.count(), (1, "0 passed, 1 failed"))

    def test_a_file_that_ctest_did_not_finish_is_a_failure(self):
        self.assertEqual(self.count(self.suite(PASSED), "<testsuite>"), (1, "1 passed, 1 failed"))


if __name__ == "__main__":
    unittest.main()
