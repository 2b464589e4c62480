#!/usr/bin/env python3
# tests/scripts/check_exports_test.py — builds small libraries with one fault each; check_exports.py
# must find it.
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "check_exports.py"
SOURCE = "int cuOne(void) { return 1; }\nint cuTwo(void) { return 2; }\n"


class CheckExports(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def check(self, source=SOURCE, names="cuOne\ncuTwo\n", compiler="cc", flags=(), options=()):
        suffix = ".cpp" if compiler == "c++" else ".c"
        code = self.folder / f"library{suffix}"
        library = self.folder / "library.so"
        exports = self.folder / "exports.txt"
        code.write_text(source)
        exports.write_text(names)
        subprocess.run([compiler, "-shared", "-fPIC", "-o", library, code, *flags], check=True)
        done = subprocess.run([sys.executable, SCRIPT, library, exports, *options], capture_output=True, text=True)
        return done.returncode, done.stdout

    def test_exactly_the_table_passes(self):
        self.assertEqual(self.check(), (0, ""))

    def test_a_name_too_many_fails(self):
        status, output = self.check(SOURCE + "int leaked(void) { return 3; }\n")
        self.assertEqual(status, 1)
        self.assertIn("exported, and not in the table: leaked", output)

    def test_a_name_too_few_fails(self):
        status, output = self.check(names="cuOne\ncuTwo\ncuThree\n")
        self.assertEqual(status, 1)
        self.assertIn("in the table, and not exported: cuThree", output)

    def test_an_empty_table_fails(self):
        self.assertEqual(self.check(names="")[0], 1)

    def test_an_undefined_name_that_is_not_libcs_fails(self):
        status, output = self.check(SOURCE + "int cuInit(unsigned);\nint call(void) { return cuInit(0); }\n",
                                    "cuOne\ncuTwo\ncall\n")
        self.assertEqual(status, 1)
        self.assertIn("undefined and not libc's: cuInit", output)

    def test_a_needed_library_besides_libc_fails(self):
        status, output = self.check('#include <string>\nextern "C" int cuOne() { return std::stoi("1"); }\n',
                                    "cuOne\n", "c++", ["-fvisibility=hidden"])
        self.assertEqual(status, 1)
        self.assertIn("needs libstdc++.so.6", output)

    def test_a_name_of_a_newer_glibc_fails(self):
        try:
            status, output = self.check("unsigned arc4random(void);\nunsigned cuOne(void) { return arc4random(); }\n",
                                        "cuOne\n", flags=["-Wl,-z,defs"])
        except subprocess.CalledProcessError:
            self.skipTest("this glibc is older than 2.36")
        self.assertEqual(status, 1)
        self.assertIn("asks for GLIBC_2.36: arc4random", output)

    def test_a_table_of_pointers_fails(self):
        words = ", ".join(f'"{number}"' for number in range(101))
        status, output = self.check(SOURCE + f"static const char* const table[] = {{{words}}};\n"
                                    "const char* cuThree(int at) { return table[at]; }\n", "cuOne\ncuTwo\ncuThree\n")
        self.assertEqual(status, 1)
        self.assertIn("addresses for the loader to write", output)

    def test_the_stripped_size_is_told(self):
        status, output = self.check(options=["--size", "strip"])
        self.assertEqual(status, 0)
        self.assertRegex(output, r"^\d+ bytes stripped \(below 1048576\)")

    def test_a_missing_library_fails(self):
        done = subprocess.run([sys.executable, SCRIPT, self.folder / "none.so", __file__], capture_output=True)
        self.assertEqual(done.returncode, 1)


if __name__ == "__main__":
    unittest.main()
