#!/usr/bin/env python3
# tests/packages/wheel_test.py — the wheel: what it brings, what it needs, and that its name says so.
import importlib.machinery
import importlib.util
import re
import shutil
import subprocess
import sys
import unittest
import zipfile

from package import BUILD, SOURCE, PackageTest

GLIBC = re.compile(r"lib(c|m|dl|rt|pthread|util|resolv)\.so\.\d+|ld-linux-x86-64\.so\.2")


def load_script():
    loader = importlib.machinery.SourceFileLoader("wheel", str(SOURCE / "scripts/wheel"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("wheel", loader))
    loader.exec_module(module)
    return module


class Wheel(PackageTest):
    def setUp(self):
        super().setUp()
        self.made = self.execute(SOURCE / "scripts/wheel", BUILD, "--output", self.folder)
        self.assertEqual(self.made.returncode, 0, self.made.stderr)
        self.wheel, = self.folder.glob("*.whl")

    def test_the_wheel_brings_command_and_module(self):
        venv = self.folder / "venv"
        done = self.execute(sys.executable, "-m", "venv", venv)
        if done.returncode != 0:
            self.skipTest("this Python makes no virtual environment: apt-get install python3-venv")
        done = self.execute(venv / "bin/pip", "install", "--no-index", "--disable-pip-version-check", self.wheel)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assert_traces(venv / "bin/vramscope")
        told = self.execute(venv / "bin/python", "-c", "import vramscope; print(vramscope.__file__); print(vramscope.stats())")
        self.assertIn(f"{venv}/", told.stdout, told.stderr)
        read = "import vramscope; run = vramscope.load('demo.vsl'); print(run.verdict, len(run.leaks), len(run.blocks))"
        self.assertEqual(self.execute(venv / "bin/python", "-c", read, PATH="/usr/bin:/bin").stdout, "leaks 2 310\n")
        about = "import importlib.metadata as m; print(m.distribution('vramscope').read_text('entry_points.txt'))"
        self.assertIn("[pytest11]", self.execute(venv / "bin/python", "-c", about).stdout)
        removed = self.execute(venv / "bin/pip", "uninstall", "-y", "vramscope")
        self.assertEqual((removed.returncode, list(venv.rglob("libvramscope*"))), (0, []), removed.stderr)

    def test_its_name_says_which_glibc_it_needs_and_it_needs_nothing_else(self):
        named = re.fullmatch(r"vramscope-[\d.]+-py3-none-manylinux_2_(\d+)_x86_64\.whl", self.wheel.name)
        self.assertTrue(named, self.wheel.name)
        with zipfile.ZipFile(self.wheel) as archive:
            archive.extractall(self.folder / "inside")
        binaries = [path for path in (self.folder / "inside").rglob("*") if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]
        self.assertGreater(len(binaries), 4)
        inside, newest = {path.name for path in binaries}, 0
        for binary in binaries:
            told = self.execute("objdump", "--private-headers", binary).stdout
            for library in re.findall(r"NEEDED +(\S+)", told):
                self.assertTrue(GLIBC.fullmatch(library) or library in inside, (binary, library))
            newest = max([newest] + [int(minor) for minor in re.findall(r"GLIBC_2\.(\d+)", told)])
        self.assertEqual(int(named[1]), newest)
        self.assertIn(f"for glibc 2.{newest} or newer", self.made.stdout)
        about, = (self.folder / "inside").glob("*.dist-info/METADATA")
        self.assertIn(f"\n\nThis wheel is for Linux on x86-64 with glibc 2.{newest} or newer", about.read_text())


class WhatIsRefused(PackageTest):
    def wheel_of(self, cache):
        (self.folder / "CMakeCache.txt").write_text(cache)
        return self.execute(SOURCE / "scripts/wheel", self.folder, "--output", self.folder)

    def test_a_build_without_the_page_is_not_packed_unless_that_was_asked_for(self):
        refused = self.wheel_of("VRAMSCOPE_HTML:STRING=AUTO\nVRAMSCOPE_WHY_NO_PAGE:INTERNAL=there is no npm\n")
        self.assertEqual(refused.returncode, 1)
        self.assertIn("no page for --html, as there is no npm, and a wheel has one", refused.stderr)
        asked = self.wheel_of("VRAMSCOPE_HTML:STRING=OFF\nVRAMSCOPE_WHY_NO_PAGE:INTERNAL=VRAMSCOPE_HTML is OFF\n")
        self.assertNotIn("has no page", asked.stderr)  # but this folder is no build

    def linked_with_zlib(self):
        (self.folder / "main.c").write_text("#include <zlib.h>\nint main(void) { return *zlibVersion() != '1'; }\n")
        (self.folder / "bin").mkdir()
        subprocess.run(["cc", "-o", "bin/vramscope", "main.c", "-lz"], cwd=self.folder, check=True)

    def test_what_pip_does_not_bring_is_put_inside(self):
        self.linked_with_zlib()
        wheel, patchelf = load_script(), shutil.which("patchelf")
        if not patchelf:
            with self.assertRaisesRegex(SystemExit, r"needs libz\.so\.1, which pip does not bring.*apt-get install patchelf"):
                wheel.bundle(self.folder)
            self.skipTest("there is no patchelf here, with which a library is put inside")
        with self.assertRaisesRegex(SystemExit, r"vramscope needs libz\.so\.1, which pip does not bring"):
            wheel.glibc_needed(self.folder)
        wheel.bundle(self.folder)
        self.assertGreaterEqual(wheel.glibc_needed(self.folder), (2, 14))
        self.assertIn(f"{self.folder}/bin/../lib/vramscope/bundled/libz.so.1", self.execute("ldd", self.folder / "bin/vramscope").stdout)
        self.assertEqual(self.execute(self.folder / "bin/vramscope").returncode, 0)


if __name__ == "__main__":
    unittest.main()
