# tests/scripts/python_root_test.py — runs scripts/python-root on a machine that is played.
import os
import shutil
import subprocess
import unittest

import played_machine

VERSIONS = ("3.11", "3.13", "3.14", "3.15")
# The C library's loader is played by a program that prints what it is asked to run.
FILES = {"usr/lib64/ld-linux-x86-64.so.2": '#!/bin/sh\n[ ! -e "$MACHINE/unfit" ] && echo "$LD_LIBRARY_PATH: $*"\n',
         "usr/lib/x86_64-linux-gnu/libc.so.6": "", "lib/x86_64-linux-gnu/libtirpc.so.3": "",  # as an older package has it
         **{f"usr/bin/python{version}": "" for version in VERSIONS}}
APT = """#!/bin/bash
echo "${0##*/} $*" >>"$MACHINE/log"
if [[ $* == "update --print-uris" ]]; then
    echo "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 "
    exit
fi
folder=$(dirname "$APT_CONFIG")
case $* in
    update*) [[ -e $MACHINE/reachable ]] && cp "$folder/sources.list" "$MACHINE/sources" || { echo "E: not signed"; exit 100; } ;;
    *--print-uris*) echo "'http://mirror/debian/pool/main/p/python3.15_3.15_amd64.deb' python3.15_3.15_amd64.deb 30000000 SHA256:0" ;;
    *--download-only*) [[ ! -e $MACHINE/damaged ]] && cp "$MACHINE/python.deb" "$folder/cache/archives/python3.15_3.15_amd64.deb" ;;
esac
"""


@unittest.skipUnless(shutil.which("dpkg-deb"), "no dpkg-deb here")
class PythonRoot(played_machine.PlayedRoot):
    SCRIPT = "python-root"
    APT = APT

    def setUp(self):
        super().setUp()
        played_machine.deb(self.machine / "tree", FILES, self.machine / "python.deb")

    def test_the_root_is_whole_and_nothing_else_stays(self):
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertIn("a download of 30 MB", output)
        self.assertEqual((self.kept / "packages.txt").read_text(), "python3.15_3.15_amd64\n")
        self.assertEqual(os.listdir(self.kept.parent), ["python-root"])
        self.assertEqual(sorted(os.listdir(self.kept / "lib/x86_64-linux-gnu")), ["libc.so.6", "libtirpc.so.3"])
        sources = [line.split()[-3:] for line in (self.machine / "sources").read_text().splitlines()]
        self.assertEqual(sources, [["http://mirror/debian/", release, "main"] for release in ("bookworm", "forky")])

    def test_a_launcher_runs_each_version_with_the_c_library_beside_it(self):
        self.fetch()
        folder = os.path.realpath(self.kept)
        for version in VERSIONS:
            python = self.kept / f"python{version}"
            done = subprocess.run([python, "-c", "1 + 1"], env={**os.environ, "LD_LIBRARY_PATH": "/gpu", "MACHINE": str(self.machine)},
                                  capture_output=True, text=True)
            self.assertEqual(done.stdout, f"/gpu: --argv0 {folder}/python{version} --library-path {folder}/lib/x86_64-linux-gnu:/gpu "
                                          f"{folder}/usr/bin/python{version} -c 1 + 1\n")

    def test_a_root_that_lacks_a_version_is_made_anew(self):
        self.fetch()
        (self.kept / "python3.11").unlink()
        self.assertEqual(self.fetch()[0], 0)
        self.assertTrue((self.kept / "python3.11").exists())

    def test_what_does_not_run_here_is_told(self):
        self.write("unfit")
        self.assert_gives_up("does not run here")


if __name__ == "__main__":
    unittest.main()
