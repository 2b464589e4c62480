#!/usr/bin/env python3
# tests/scripts/check_tidy_test.py — plants a fault in a small tree and looks whether check_tidy.py
# tells of it.
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).parents[2]


class CheckTidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.write("report/good.cpp", "int good(int a)\n{\n    return a;\n}\n")
        self.write("report/wrong.cpp", "int wrong(int a)\n{\n    if (a > 0);\n        return 1;\n    return a;\n}\n")
        for name in ("scripts/check_tidy.py", ".clang-tidy"):
            self.write(name, (SOURCE / name).read_text())

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self, *units, minutes="1", **environment):
        entries = [{"directory": str(self.root), "command": f"c++ -c {unit}", "file": unit} for unit in units]
        self.write("build/compile_commands.json", json.dumps(entries))
        done = subprocess.run([sys.executable, self.root / "scripts/check_tidy.py", "--minutes", minutes, self.root / "build"],
                              env={**os.environ, "VRAMSCOPE_TEST_ALL": "", **environment}, capture_output=True, text=True)
        if done.returncode == 77:
            self.skipTest(done.stdout)
        return done.returncode, done.stdout

    def test_code_without_a_fault_passes(self):
        self.assertEqual(self.check("report/good.cpp"), (0, "check_tidy: 1 translation units, 0 with findings, 0 left out\n"))

    def test_a_fault_fails_with_its_line(self):
        status, output = self.check("report/good.cpp", "report/wrong.cpp")
        self.assertEqual(status, 1, output)
        self.assertIn("report/wrong.cpp:3:15: error: ", output)

    def test_a_fault_in_a_file_of_a_unity_build_fails_too(self):
        self.write("build/Unity/unity_0_cxx.cxx", f'#include "{self.root}/report/good.cpp"\n#include "{self.root}/report/wrong.cpp"\n')
        status, output = self.check("build/Unity/unity_0_cxx.cxx")
        self.assertEqual(status, 1, output)
        self.assertIn("report/wrong.cpp:3:15: error: ", output)

    def test_what_there_is_no_time_for_is_told(self):
        self.assertEqual(self.check("report/good.cpp", "report/wrong.cpp", minutes="0"),
                         (0, "check_tidy: 2 translation units, 0 with findings, 2 left out\n"))

    def test_with_all_tests_there_is_time_for_all(self):
        status, output = self.check("report/good.cpp", "report/wrong.cpp", minutes="0", VRAMSCOPE_TEST_ALL="1")
        self.assertEqual(status, 1, output)
        self.assertIn("check_tidy: 2 translation units, 1 with findings, 0 left out", output)

    def test_what_is_not_ours_is_not_looked_at(self):
        shutil.move(self.root / "report", self.root / "tests")
        self.assertEqual(self.check("tests/wrong.cpp")[0], 1)  # nothing to look at is a fault of the call


if __name__ == "__main__":
    unittest.main()
