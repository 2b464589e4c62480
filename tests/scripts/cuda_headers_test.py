#!/usr/bin/env python3
# tests/scripts/cuda_headers_test.py — runs scripts/cuda-headers with an apt and a mirror that are played.
#
# The package is real, and longer than what the script reads of it: only its beginning arrives.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "cuda-headers"
HEADERS = ["cuda.h", "cudaTypedefs.h", "cudaGL.h", "cudaGLTypedefs.h", "cudaEGL.h", "cudaEGLTypedefs.h", "cudaVDPAU.h",
           "cudaVDPAUTypedefs.h", "cudaProfiler.h", "cudaProfilerTypedefs.h"]
APT_GET = """#!/bin/bash
echo "apt-get $*" >>"$MACHINE/log"
grep -q "bookworm non-free" "$(sed -n 's/.*sourcelist "\\(.*\\)";/\\1/p' "$APT_CONFIG")" || exit 9
[[ -e $MACHINE/reachable ]] || exit 100
[[ $1 == update ]] || echo "'http://mirror/package.deb' package.deb 774230656 SHA256:0"
"""
APT_HELPER = """#!/bin/bash
[[ $1 == download-file && $2 == http://mirror/package.deb ]] && cat "$MACHINE/package.deb" >"$3"
"""


class CudaHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        self.cache = self.machine / "cache"
        self.actor("bin/apt-get", APT_GET)
        self.actor("root/usr/lib/apt/apt-helper", APT_HELPER)
        self.actor("root/usr/share/keyrings/debian-archive-keyring.gpg", "")
        (self.machine / "reachable").touch()
        if not shutil.which("dpkg-deb"):
            self.skipTest("no dpkg-deb here")

    def actor(self, name, text):
        path = self.machine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def package(self, version=11080, headers=HEADERS, filler=0):
        """A package with these headers behind `filler` bytes, and much more behind them."""
        tree = self.machine / "tree"
        include = tree / "usr" / "include"
        include.mkdir(parents=True)
        (tree / "DEBIAN").mkdir()
        (tree / "DEBIAN" / "control").write_text("Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n")
        (include / "a_filler").write_bytes(os.urandom(filler))
        for header in headers:
            (include / header).write_text(f"#define CUDA_VERSION {version}\n#endif\n")
        (tree / "usr" / "lib").mkdir()
        (tree / "usr" / "lib" / "library.a").write_bytes(os.urandom(3 << 20))
        subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, self.machine / "package.deb"], check=True,
                       capture_output=True)

    def fetch(self):
        environment = {"PATH": f"{self.machine / 'bin'}:{os.environ['PATH']}", "MACHINE": str(self.machine),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), "VRAMSCOPE_CUDA_HEADERS": str(self.cache)}
        done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def assert_gives_up(self, why):
        status, output = self.fetch()
        self.assertEqual(status, 1)
        self.assertIn(why, output)
        self.assertIn("will be skipped", output)
        self.assertFalse(self.cache.exists())

    def test_the_headers_of_a_package_that_is_cut_short(self):
        self.package()
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertEqual(sorted(os.listdir(self.cache / "11.8" / "include")), sorted(HEADERS))
        self.assertIn(f"in {self.cache}/11.8/include", output)

    def test_what_is_there_is_not_fetched_again(self):
        self.package()
        self.fetch()
        (self.machine / "log").unlink()
        self.assertEqual(self.fetch(), (0, ""))
        self.assertFalse((self.machine / "log").exists())

    def test_a_mirror_out_of_reach_is_told(self):
        (self.machine / "reachable").unlink()
        self.assert_gives_up("cannot be reached")

    def test_a_machine_without_debians_keys_is_told(self):
        (self.machine / "root/usr/share/keyrings/debian-archive-keyring.gpg").unlink()
        self.assert_gives_up("the keys of Debian's archive are not here")

    def test_a_package_that_does_not_come_is_told(self):
        self.assert_gives_up("did not come")

    def test_a_header_that_lies_too_far_behind_is_told(self):
        self.package(filler=3 << 20)
        self.assert_gives_up("is not whole in the first 2048 KiB")

    def test_a_header_that_is_missing_is_told(self):
        self.package(headers=HEADERS[:-1])
        self.assert_gives_up(f"{HEADERS[-1]} is not whole")

    def test_another_cuda_is_refused(self):
        self.package(version=12040)
        self.assert_gives_up("is not of CUDA 11.8")


if __name__ == "__main__":
    unittest.main()
