#!/usr/bin/env python3
# tests/packages/clean_root_test.py — the .deb in a Debian that has nothing else: it installs, traces, has its manual.
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from package import BUILD, DEMO, SOURCE, PackageTest


def debian():
    """The code name of the Debian that this is; None on another system."""
    with open("/etc/os-release", encoding="utf-8") as file:
        fields = dict(line.strip().split("=", 1) for line in file if "=" in line)
    return fields.get("VERSION_CODENAME") if fields.get("ID") == "debian" else None


class CleanRoot(PackageTest):
    def setUp(self):
        super().setUp()
        if os.getuid() != 0 or not shutil.which("debootstrap") or not debian():
            self.skipTest("only root can make a root, on Debian, with debootstrap")
        if not re.search(r"^(\S+ ){4}/ ", pathlib.Path("/proc/self/mountinfo").read_text(), re.MULTILINE):
            self.skipTest("/ is no mount, as in a plain chroot: what is mounted here could not be kept from the system around it")
        mirror = subprocess.run(["bash", "-c", ". scripts/toolchain.sh && debian_mirror"], cwd=SOURCE, capture_output=True,
                                text=True).stdout.strip()
        self.root = self.folder / "root"
        made = subprocess.run(["debootstrap", "--variant=minbase", debian(), self.root, mirror], capture_output=True, text=True)
        if made.returncode != 0:
            self.skipTest("debootstrap cannot reach a mirror: " + made.stdout[-300:])

    def inside(self, *command, proc=True):
        mount = 'mount --make-rprivate / && mount -t proc proc "$0/proc" && ' if proc else ""
        return self.execute("unshare", "--mount", "bash", "-c", mount + 'exec chroot "$0" env -i HOME=/root "$@"', self.root,
                            "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command)

    def install(self, needs):
        if re.fullmatch(r"libc6 \(>= [0-9.]+\)\n", needs):
            done = self.inside("dpkg", "--install", "/vramscope.deb")
        else:
            self.assertNotEqual(debian(), "bookworm", needs)  # of elfutils only that has archives that can be linked
            done = self.inside("bash", "-c", "apt-get update -q && apt-get install -q --yes --no-install-recommends /vramscope.deb")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_package_is_enough(self):
        subprocess.run(["cpack", "-G", "DEB", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder / "made"], check=True,
                       capture_output=True)
        package, = (self.folder / "made").glob("*.deb")
        shutil.copy(package, self.root / "vramscope.deb")
        shutil.copy(DEMO, self.root / "demo")
        self.install(self.execute("dpkg-deb", "--field", package, "Depends").stdout)

        done = self.inside("vramscope", "run", "--simulate", "1GiB", "-o", "/tmp/demo.vsl", "/demo")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("LEAKS: 17.7 MiB in 101 blocks were not freed, from 2 call stacks", done.stderr)
        self.assertIn("load_labels()", self.inside("vramscope", "leaks", "/tmp/demo.vsl").stdout)
        self.assertEqual(self.inside("vramscope", "check", "/tmp/demo.vsl").returncode, 100)

        blind = self.inside("vramscope", "leaks", "/tmp/demo.vsl", proc=False)
        self.assertEqual((blind.returncode, blind.stderr), (0, ""))  # a report needs no /proc
        blind = self.inside("vramscope", "run", "/demo", proc=False)
        self.assertEqual(blind.returncode, 125)
        self.assertIn("/proc is not there", blind.stderr)

        # minbase leaves manual pages out of what it unpacks itself, not out of what dpkg is given.
        packed = self.root / "usr/share/man/man1/vramscope-run.1.gz"
        self.assertTrue(packed.is_file())
        if shutil.which("groff"):
            manual = self.folder / "vramscope-run.1"
            manual.write_bytes(gzip.decompress(packed.read_bytes()))
            read = self.execute("groff", "-man", "-ww", "-Tascii", "-P-cbou", manual)
            self.assertEqual((read.returncode, read.stderr), (0, ""))
            self.assertIn("--simulate", read.stdout)
        completed = self.inside("bash", "-c", ". /usr/share/bash-completion/completions/vramscope; COMP_WORDS=(vramscope doc); "
                                "COMP_CWORD=1; _vramscope; echo ${COMPREPLY[@]}")
        self.assertEqual(completed.stdout.split(), ["doctor"])
        removed = self.inside("dpkg", "--remove", "vramscope")
        self.assertEqual(removed.returncode, 0, removed.stderr)
        self.assertFalse((self.root / "usr/lib/libvramscope.so").exists())


if __name__ == "__main__":
    unittest.main()
