#!/usr/bin/env python3
# tests/scripts/sanitized_reader_test.py — scripts/sanitized-reader fails for what a sanitizer says, whatever tests do.
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"
TEST = """add_test(a sh -c "{command}")
set_tests_properties(a PROPERTIES LABELS "e2e" TIMEOUT "5")
"""


class SanitizedReader(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clone = pathlib.Path(folder.name)
        (self.clone / "scripts").mkdir()
        for name in ("sanitized-reader", "toolchain.sh"):
            shutil.copy(SCRIPTS / name, self.clone / "scripts")

    def play(self, command):
        """Of two builds of which one has a test that is this command."""
        for file, text in (("asan/bin/vramscope", "sanitized"), ("dev/bin/vramscope", "plain"), ("dev/CTestTestfile.cmake",
                                                                                              TEST.format(command=command))):
            (self.clone / "build" / file).parent.mkdir(parents=True, exist_ok=True)
            (self.clone / "build" / file).write_text(text)
        return self.run_script()

    def run_script(self):
        return subprocess.run([self.clone / "scripts/sanitized-reader"], capture_output=True, text=True)

    def test_the_command_line_is_the_sanitized_one_and_the_other_build_is_left_alone(self):
        done = self.play(f"grep -q sanitized {self.clone}/build/dev/bin/vramscope")  # which the script makes build/reader
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual((self.clone / "build/dev/bin/vramscope").read_text(), "plain")

    def test_a_test_that_fails_is_told(self):
        self.assertNotIn(self.play("false").returncode, (0, 3))

    def test_what_a_sanitizer_says_is_told_though_each_test_passes(self):
        for log, word in (("asan", "ERROR: AddressSanitizer: x"), ("asan", "ERROR: LeakSanitizer: x"), ("ubsan", "a.cpp:1: runtime error: x")):
            done = self.play(f"echo '{word}' > {self.clone}/build/dev/found/{log}.1")
            self.assertEqual(done.returncode, 3, done.stdout + done.stderr)
            self.assertIn(f"found/{log}.1", done.stdout)

    def test_a_warning_is_no_finding(self):
        done = self.play(f"echo 'WARNING: ASan is ignoring' > {self.clone}/build/dev/found/asan.1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_without_both_builds_it_says_what_to_do(self):
        done = self.run_script()
        self.assertEqual((done.returncode, done.stderr.count("\n")), (1, 1))
        self.assertIn("build both presets", done.stderr)


if __name__ == "__main__":
    unittest.main()
