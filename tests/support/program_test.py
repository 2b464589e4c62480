# tests/support/program_test.py — the base of the tests that run built programs: where they are, and
# a folder for each.
#
# VRAMSCOPE_BUILD names the build folder; ctest sets it. VRAMSCOPE_TEST_SANITIZED: its command line is under
# AddressSanitizer (scripts/sanitized-reader), which takes time and memory.
import os
import pathlib
import subprocess
import tempfile
import unittest

import kept_json

BUILD = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve()
SOURCE = pathlib.Path(__file__).parents[2]
VRAMSCOPE = BUILD / "bin" / "vramscope"
PROGRAMS = BUILD / "bin" / "programs"
SANITIZED = "VRAMSCOPE_TEST_SANITIZED" in os.environ
unsanitized = unittest.skipIf(SANITIZED, "AddressSanitizer takes memory, time and libraries of its own")
PATIENCE = 10 if SANITIZED else 1  # how many times as long a command may take


class ProgramTest(unittest.TestCase):
    maxDiff = None
    cache = os.devnull  # what a test keeps is gone after it, and what the user keeps is left alone

    def setUp(self):
        self.folder = self.make_folder()
        ProgramTest.cache = self.make_folder()

    def make_folder(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        return pathlib.Path(folder.name)

    def names_by_bytes(self, process):
        """Of the blocks that it names by lines "BYTES NAME" until it is "ready"."""
        names = {}
        for line in process.stdout:
            if line == "ready\n":
                return names
            size, name = line.split()
            names[int(size)] = name
        self.fail("the program ended early")

    @staticmethod
    def environment(**changes):
        """The user's, without what changes how programs are traced or how text looks; with a cache of the test's own."""
        plain = {name: value for name, value in os.environ.items()
                 if not name.startswith(("VRAMSCOPE", "NVTX", "LD_")) and name not in ("NO_COLOR", "COLUMNS", "PAGER")}
        return {**plain, "XDG_CACHE_HOME": str(ProgramTest.cache), **changes}

    def execute(self, *command, stdin=None, **env):
        """Runs it in the test's folder, and keeps what it wrote as JSON for the oracle."""
        done = subprocess.run([str(part) for part in command], cwd=self.folder, input=stdin, capture_output=True,
                              text=True, timeout=120 * PATIENCE, env=self.environment(**env))
        for written in self.folder.glob("*.json"):
            kept_json.keep(BUILD, written)
        kept_json.keep_text(BUILD, done.stdout)
        return done
