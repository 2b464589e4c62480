#!/usr/bin/env python3
# tests/scripts/cuda_headers_test.py — runs scripts/cuda-headers with an apt and a mirror that are played.
#
# The packages are real: the headers, and a library behind them.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "cuda-headers"
HEADERS = ["crt/host_defines.h", "cuda.h", "cudaTypedefs.h", "cuda_runtime.h", "nvtx3/nvToolsExt.h", "vector_types.h"]
APT = """#!/bin/bash
echo "${0##*/} $*" >>"$MACHINE/log"
if [[ $* == "update --print-uris" ]]; then
    cat "$MACHINE/targets"
    exit
fi
read -r _ _ _ mirror suite components <"$(sed -n 's/.*sourcelist "\\(.*\\)";/\\1/p' "$APT_CONFIG")"
[[ "$mirror $components" == "http://mirror/debian/ non-free" ]] || exit 9
[[ -e $MACHINE/reachable ]] || exit 100
case $* in
    update*) ;;
    *show*) [[ ! -e $MACHINE/$suite.deb ]] || echo "Size: $(stat -c %s "$MACHINE/$suite.deb")" ;;
    download*) [[ ! -e $MACHINE/damaged ]] && cp "$MACHINE/$suite.deb" nvidia-cuda-dev_1_amd64.deb ;;
esac
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class CudaHeaders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        self.cache = self.machine / "cache"
        self.write("bin/apt-get", APT)
        self.write("bin/apt-cache", APT)
        self.write("root/etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n")
        self.write("root/usr/share/keyrings/debian-archive-keyring.gpg")
        self.write("targets", "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 \n")
        self.write("reachable")
        self.write("tmp/x")

    def write(self, name, text=""):
        path = self.machine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def package(self, suite, version, headers=HEADERS):
        """A package with these headers, and a library behind them."""
        tree = self.machine / suite
        self.write(f"{suite}/DEBIAN/control", "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n")
        for header in headers:
            self.write(f"{suite}/usr/include/{header}", f"#define CUDA_VERSION {version}\n")
        self.write(f"{suite}/usr/lib/library.a")
        (tree / "usr/lib/library.a").write_bytes(os.urandom(3 << 20))
        subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, self.machine / f"{suite}.deb"], check=True,
                       capture_output=True)

    def packages(self):
        self.package("bookworm", 11080)
        self.package("trixie", 12040)

    def fetch(self):
        environment = {"PATH": f"{self.machine / 'bin'}:{os.environ['PATH']}", "MACHINE": str(self.machine),
                       "TMPDIR": str(self.machine / "tmp"), "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"),
                       "VRAMSCOPE_CUDA_HEADERS": str(self.cache)}
        done = subprocess.run([SCRIPT], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def kept(self):
        return sorted(str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if path.is_file())

    def assert_gives_up(self, why, kept=()):
        status, output = self.fetch()
        self.assertEqual(status, 1, output)
        self.assertIn(why, output.splitlines()[-1])
        self.assertIn("will be skipped", output.splitlines()[-1])
        self.assertEqual(self.kept(), list(kept))

    def test_the_headers_of_both_are_kept_and_nothing_else(self):
        self.packages()
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertEqual(self.kept(), [f"{version}/include/{header}" for version in ("11.8", "12.4") for header in HEADERS])
        self.assertEqual(os.listdir(self.machine / "tmp"), ["x"])

    def test_the_size_is_told_before_the_download(self):
        self.packages()
        self.assertIn("fetching those of CUDA 11.8: a download of 3 MB", self.fetch()[1].splitlines()[0])

    def test_what_is_there_is_not_fetched_again(self):
        self.packages()
        self.fetch()
        (self.machine / "log").unlink()
        self.assertEqual(self.fetch(), (0, ""))
        self.assertFalse((self.machine / "log").exists())

    def test_only_what_is_missing_is_fetched(self):
        self.packages()
        self.fetch()
        shutil.rmtree(self.cache / "12.4")
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertNotIn("11.8", output)
        self.assertTrue((self.cache / "12.4" / "include" / "cuda.h").exists())

    def test_a_mirror_out_of_reach_is_told(self):
        (self.machine / "reachable").unlink()
        self.assert_gives_up("http://mirror/debian/ cannot be reached")

    def test_a_machine_without_a_debian_mirror_is_told(self):
        self.write("root/etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n")
        self.assert_gives_up("this is no Debian")

    def test_a_mirror_without_the_package_is_told(self):
        self.assert_gives_up("http://mirror/debian/ has no nvidia-cuda-dev in bookworm")

    def test_a_package_whose_checksum_is_wrong_is_told(self):
        self.packages()
        self.write("damaged")
        self.assert_gives_up("nvidia-cuda-dev did not come whole")

    def test_a_header_that_is_missing_is_told(self):
        self.package("bookworm", 11080, headers=HEADERS[:-1])
        self.assert_gives_up(f"nvidia-cuda-dev of bookworm has no {HEADERS[-1]}")

    def test_another_cuda_is_refused(self):
        self.package("bookworm", 12040)
        self.assert_gives_up("nvidia-cuda-dev of bookworm is another version")


if __name__ == "__main__":
    unittest.main()
