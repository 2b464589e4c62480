# tests/scripts/played_machine.py — a Debian machine in a folder, whose apt and mirror are played.
#
# The packages are real, and so is what a script does with them. "log" has the commands of apt; the
# files "reachable", "offline" and the like, which each test's own apt knows, say what goes wrong.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPTS = pathlib.Path(__file__).parents[2] / "scripts"


def deb(tree, files, package):
    """Packs files, a dictionary of contents by path, into a package; what lies in a bin/, or is a script, can be run."""
    for name, content in {**files, "DEBIAN/control": "Package: p\nVersion: 1\nArchitecture: all\nMaintainer: m\nDescription: d\n"}.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
        path.chmod(0o755 if "bin/" in name or data.startswith(b"#!") else 0o644)
    (tree / "DEBIAN").chmod(0o755)
    subprocess.run(["dpkg-deb", "-Znone", "--root-owner-group", "-b", tree, package], check=True, capture_output=True)


class PlayedMachine(unittest.TestCase):
    """SCRIPT: the name of the script under test. APT: what apt-get and apt-cache are played by."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        for name in ("bin/apt-get", "bin/apt-cache"):
            self.write(name, self.APT)
            (self.machine / name).chmod(0o755)
        self.write("root/etc/os-release", 'ID=debian\nVERSION_CODENAME="bookworm"\n')

    def write(self, name, text=""):
        path = self.machine / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def log(self):
        return (self.machine / "log").read_text()

    def run_script(self, *options, **environment):
        """Its exit code, and all that it printed."""
        environment = {"PATH": f"{self.machine / 'bin'}:{os.environ['PATH']}", "MACHINE": str(self.machine),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), **environment}
        done = subprocess.run([SCRIPTS / self.SCRIPT, *options], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr


class PlayedMirror(PlayedMachine):
    """A script that fetches packages from a mirror, which is "reachable", by a fetch() of the class."""

    def setUp(self):
        super().setUp()
        self.write("reachable")

    def assert_gives_up(self, why):
        status, output = self.fetch()
        self.assertEqual(status, 1, output)
        self.assertIn(why, output.splitlines()[-1])
        self.assertIn("will be skipped", output.splitlines()[-1])

    def test_a_mirror_out_of_reach_is_told(self):
        (self.machine / "reachable").unlink()
        self.assert_gives_up("http://mirror/debian/ cannot be used: E: not signed")

    def test_a_machine_without_a_debian_mirror_is_told(self):
        self.write("root/etc/os-release", "ID=ubuntu\nVERSION_CODENAME=noble\n")
        self.assert_gives_up("this is no Debian")


# How the apt of a PlayedCache begins: it is asked of non-free alone.
NON_FREE_APT = """#!/bin/bash
echo "${0##*/} $*" >>"$MACHINE/log"
if [[ $* == "update --print-uris" ]]; then
    cat "$MACHINE/targets"
    exit
fi
read -r _ _ _ mirror suite components <"$(sed -n 's/.*sourcelist "\\(.*\\)";/\\1/p' "$APT_CONFIG")"
[[ "$mirror $components" == "http://mirror/debian/ non-free" ]] || exit 9
[[ -e $MACHINE/reachable ]] || { echo "E: not signed"; exit 100; }
"""


class PlayedCache(PlayedMirror):
    """A script that keeps some files of packages. "damaged": a download breaks."""

    def setUp(self):
        super().setUp()
        self.cache = self.machine / "cache"
        self.write("root/usr/share/keyrings/debian-archive-keyring.gpg")
        self.write("targets", "'http://mirror/debian/dists/bookworm/InRelease' InRelease 0 \n")
        self.write("tmp/x")

    def fetch(self):
        kept = {f"VRAMSCOPE_{self.SCRIPT.upper().replace('-', '_')}": str(self.cache)}
        return self.run_script(TMPDIR=str(self.machine / "tmp"), **kept)

    def kept(self):
        return sorted(str(path.relative_to(self.cache)) for path in self.cache.rglob("*") if path.is_file())

    def assert_gives_up(self, why):
        super().assert_gives_up(why)
        self.assertEqual(self.kept(), [])

    def assert_fetches_what_is_missing(self, present, missing):
        """Nothing once all is there; then one that is gone alone, and nothing is said of the other."""
        (self.machine / "log").unlink()
        self.assertEqual(self.fetch(), (0, ""))
        self.assertFalse((self.machine / "log").exists())
        shutil.rmtree(self.cache / missing)
        status, output = self.fetch()
        self.assertEqual(status, 0, output)
        self.assertNotIn(present, output)


class PlayedRoot(PlayedMirror):
    """A script that unpacks what it fetches as a root of its own. "damaged": a download breaks."""

    def setUp(self):
        super().setUp()
        self.kept = self.machine / "cache" / self.SCRIPT

    def fetch(self):
        return self.run_script(**{f"VRAMSCOPE_{self.SCRIPT.upper().replace('-', '_')}": str(self.kept)})

    def assert_gives_up(self, why):
        super().assert_gives_up(why)
        self.assertFalse(self.kept.exists())

    def test_what_is_there_is_not_fetched_again(self):
        self.fetch()
        (self.machine / "log").unlink()
        self.assertEqual(self.fetch(), (0, ""))
        self.assertFalse((self.machine / "log").exists())

    def test_a_broken_download_is_told_and_taken_up_again(self):
        self.write("damaged")
        self.assert_gives_up("did not come whole")
        (self.machine / "damaged").unlink()
        self.assertEqual(self.fetch()[0], 0)
