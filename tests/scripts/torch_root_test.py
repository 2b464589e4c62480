# tests/scripts/torch_root_test.py — runs scripts/torch-root on a machine that is played.
import os
import shutil
import unittest

import played_machine

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
class TorchRoot(played_machine.PlayedRoot):
    SCRIPT = "torch-root"
    APT = APT

    def setUp(self):
        super().setUp()
        self.write("targets", "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 \n")
        self.write("plan", "'http://mirror/debian/pool/contrib/p/torch_2.6_amd64.deb' torch_2.6_amd64.deb 481000000 SHA256:0\n")
        self.write("available", AVAILABLE)
        (self.machine / "tree/etc").mkdir(parents=True)
        played_machine.deb(self.machine / "tree", {name: name for name in FILES}, self.machine / "torch.deb")

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


if __name__ == "__main__":
    unittest.main()
