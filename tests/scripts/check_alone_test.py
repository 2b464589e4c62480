#!/usr/bin/env python3
# tests/scripts/check_alone_test.py — a file that compiles only after another:
# check_alone.py names it.
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).parents[2]


class CheckAlone(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        (self.root / "scripts").mkdir()
        for name in ("check_alone.py", "check_tidy.py"):
            shutil.copy(SOURCE / "scripts" / name, self.root / "scripts")
        self.write("first.cpp", "#include <cstdint>\nstd::uint64_t first;\n")

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check(self, second, *options):
        """Both files as one unit, and a third that is compiled alone already."""
        files = [self.root / "first.cpp", self.write("second.cpp", second)]
        unit = self.write("Unity/unity_0_cxx.cxx", "".join(f'#include "{file}"\n' for file in files))
        other = self.write("other.cpp", "nonsense\n")
        entries = [{"directory": str(self.root), "command": f"g++ -o x.o -c {file}", "file": str(file)} for file in (unit, other)]
        self.write("build/compile_commands.json", json.dumps(entries))
        done = subprocess.run([sys.executable, self.root / "scripts/check_alone.py", *options, self.root / "build"],
                              capture_output=True, text=True)
        self.assertEqual(done.stderr, "")
        return done.returncode, done.stdout

    def test_files_that_include_what_they_use_pass(self):
        status, output = self.check("#include <cstdint>\nstd::uint64_t second;\n")
        self.assertEqual((status, output), (0, "check_alone: 2 files, 0 do not compile, 0 left out\n"))

    def test_a_file_that_lacks_an_include_is_named(self):
        status, output = self.check("std::uint64_t second;\n")
        self.assertEqual(status, 1)
        self.assertIn(f"{self.root}/second.cpp does not compile alone", output)
        self.assertIn("check_alone: 2 files, 1 do not compile, 0 left out", output)

    def test_what_there_was_no_time_for_is_counted(self):
        status, output = self.check("std::uint64_t second;\n", "--minutes", "-1")
        self.assertEqual((status, output), (0, "check_alone: 2 files, 0 do not compile, 2 left out\n"))

    def test_what_was_committed_last_is_looked_at_first(self):
        sys.path.insert(0, str(SOURCE / "scripts"))
        import check_alone
        older = self.write("older.cpp", '#include "report/model/report.hpp"\n')
        newer = self.write("newer.cpp", "")
        times = {older: 1, newer: 2, SOURCE / "report/model/report.hpp": 3}
        self.assertGreater(check_alone.touched(older, times), check_alone.touched(newer, times))


if __name__ == "__main__":
    unittest.main()
