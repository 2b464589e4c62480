# tests/scripts/torch_root_test.py — runs scripts/torch-root on a machine that is played.
import os
import shutil
import unittest

from played_machine import PlayedMachine, deb

FILES = ["usr/lib/x86_64-linux-gnu/libtorch_cuda.so", "usr/share/base-passwd/passwd.master", "usr/bin/python3.13"]
AVAILABLE = """Package: libcudart12
Source: nvidia-cuda-toolkit (12.4.131)
Version: 12.4
Section: non-free/libs

Package: python3-numba
Version: 0.61
Section: python
"""
APT = """#!/bin/bash
echo "${0##*/} $*" >>"$MACHINE/log"
if [[ $* == "update --print-uris" ]]; then
    cat "$MACHINE/targets"
    exit
fi
folder=$(dirname "$APT_CONFIG")
case $* in
    update*) [[ -e $MACHINE/reachable ]] || { echo "E: not signed"; exit 100; } ;;
    dumpavail) cat "$MACHINE/available" ;;
    *--print-uris*) cat "$MACHINE/plan"; cp "$folder/status" "$MACHINE/status" ;;
    *--download-only*) [[ ! -e $MACHINE/damaged ]] && cp "$MACHINE/torch.deb" "$folder/cache/archives/torch_2.6_amd64.deb" ;;
esac
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class TorchRoot(PlayedMachine):
    SCRIPT = "torch-root"
    APT = APT

    def setUp(self):
        super().setUp()
        self.kept = self.machine / "cache" / "torch-root"
        self.write("targets", "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 \n")
        self.write("plan", "'http://mirror/debian/pool/contrib/p/torch_2.6_amd64.deb' torch_2.6_amd64.deb 481000000 SHA256:0\n")
        self.write("available", AVAILABLE)
        self.write("reachable")
        (self.machine / "tree/etc").mkdir(parents=True)
        deb(self.machine / "tree", {name: name for name in FILES}, self.machine / "torch.deb")

    def fetch(self):
        return self.run_script(VRAMSCOPE_TORCH_ROOT=str(self.kept))

    def assert_gives_up(self, why):
        status, output = self.fetch()
        self.assertEqual(status, 1, output)
        self.assertIn(why, output.splitlines()[-1])
        self.assertIn("will be skipped", output.splitlines()[-1])
        self.assertFalse(self.kept.exists())

    def test_the_root_is_whole_and_nothing_else_stays(self):
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertIn("a download of 481 MB", output)
        self.assertEqual((self.kept / "lib/x86_64-linux-gnu/libtorch_cuda.so").read_text(), FILES[0])
        self.assertEqual((self.kept / "etc/passwd").read_text(), FILES[1])
        self.assertEqual((self.kept / "packages.txt").read_text(), "torch_2.6_amd64\n")
        self.assertEqual(os.listdir(self.kept.parent), ["torch-root"])

    def test_apt_believes_that_packages_of_nvidias_are_installed(self):
        self.fetch()
        status = (self.machine / "status").read_text()
        self.assertIn("Package: libcudart12\n", status)
        self.assertIn("Status: install ok installed\n", status)
        self.assertNotIn("python3-numba", status)

    def test_packages_of_nvidias_are_never_fetched(self):
        self.write("plan", "'http://mirror/debian/pool/non-free/n/libcublas12_12_amd64.deb' libcublas12_12_amd64.deb 1 SHA256:0\n")
        self.assert_gives_up("packages of NVIDIA's would be fetched")
        self.assertNotIn("--download-only", self.log())

    def test_what_is_there_is_not_fetched_again(self):
        self.fetch()
        (self.machine / "log").unlink()
        self.assertEqual(self.fetch(), (0, ""))
        self.assertFalse((self.machine / "log").exists())

    def test_a_mirror_out_of_reach_is_told(self):
        (self.machine / "reachable").unlink()
        self.assert_gives_up("http://mirror/debian/ cannot be used: E: not signed")

    def test_a_machine_without_a_debian_mirror_is_told(self):
        self.write("root/etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n")
        self.assert_gives_up("this is no Debian")

    def test_a_broken_download_is_told_and_taken_up_again(self):
        self.write("damaged")
        self.assert_gives_up("did not come whole")
        (self.machine / "damaged").unlink()
        self.assertEqual(self.fetch()[0], 0)


if __name__ == "__main__":
    unittest.main()
