#!/usr/bin/env python3
# tests/scripts/format_test.py — gives scripts/format comments that are too wide, in a small tree of its own.
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "format"
NO_CLANG_FORMAT = 77
CODE = "int x;"


@unittest.skipUnless(shutil.which("git"), "there is no git")
class WideComments(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.write("scripts/format", SCRIPT.read_text()).chmod(0o755)
        self.write(".clang-format", (SCRIPT.parents[1] / ".clang-format").read_text())
        subprocess.run(["git", "init", "--quiet", self.root], check=True)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def check(self):
        done = subprocess.run([self.root / "scripts" / "format", "--check"], capture_output=True, text=True)
        return done.returncode, done.stderr

    def test_a_comment_of_100_characters_passes(self):
        self.write("interpose/pool/narrow.hpp", "// " + "—" * 97 + "\n" + CODE + "\n")
        status, output = self.check()
        self.assertIn(status, (0, NO_CLANG_FORMAT), output)

    def test_one_of_101_fails_with_its_line(self):
        wide = "// " + "a" * 98
        for name, line in (("interpose/pool/wide.hpp", wide), ("tracker/wide.def", f"    {wide}"),
                           ("tracker/log/wide.cpp", f"{CODE} {wide}"), ("report/model/wide.hpp", wide)):
            with self.subTest(name):
                path = self.write(name, f"{CODE}\n{line}\n")
                status, output = self.check()
                self.assertEqual(status, 1, output)
                self.assertIn(f"{name}:2:", output)
                path.unlink()

    def test_a_wide_line_without_a_comment_passes(self):
        self.write("tracker/names.def", 'NAME("' + "a" * 100 + '", "https://example.org")\n')
        status, output = self.check()
        self.assertIn(status, (0, NO_CLANG_FORMAT), output)


if __name__ == "__main__":
    unittest.main()
