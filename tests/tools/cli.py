# tests/tools/cli.py — runs the built vramscope for the tests beside it.
#
# VRAMSCOPE_BUILD names the build folder; ctest sets it. Each test gets a folder of its own to run in.
import json
import os
import pathlib
import pty
import select
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import kept_json  # noqa: E402

BUILD = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve()
SOURCE = pathlib.Path(__file__).parents[2]
VRAMSCOPE = BUILD / "bin" / "vramscope"
PROGRAMS = BUILD / "bin" / "programs"
ESCAPE = "\x1b"


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def environment(self, **changes):
        plain = {name: value for name, value in os.environ.items()
                 if not name.startswith("VRAMSCOPE") and name not in ("LD_PRELOAD", "LD_AUDIT", "NO_COLOR")}
        return {**plain, **changes}

    def vramscope(self, *arguments, stdin=None, env=None):
        done = subprocess.run([VRAMSCOPE, *arguments], cwd=self.folder, input=stdin, capture_output=True, text=True,
                              timeout=120, env=self.environment(**(env or {})))
        for written in self.folder.glob("*.json"):
            kept_json.keep(BUILD, written)
        kept_json.keep_text(BUILD, done.stdout)
        return done.returncode, done.stdout, done.stderr

    def on_terminal(self, *arguments, keys=None, after="", env=None):
        """Runs it in the foreground of a new terminal; types `keys` once `after` was shown. (status, all output)"""
        try:
            child, terminal = pty.fork()
        except OSError as problem:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made here: {problem}")
        if child == 0:
            os.chdir(self.folder)
            os.execve(VRAMSCOPE, [str(VRAMSCOPE), *map(str, arguments)], self.environment(TERM="xterm", **(env or {})))
        shown = b""
        while True:
            ready, _, _ = select.select([terminal], [], [], 60)
            self.assertTrue(ready, f"nothing more was shown for a minute, after: {shown!r}")
            try:
                shown += os.read(terminal, 65536)
            except OSError:  # the other end is closed
                break
            if keys and after.encode() in shown:
                os.write(terminal, keys)
                keys = None
        _, status = os.waitpid(child, 0)
        os.close(terminal)
        return os.waitstatus_to_exitcode(status), shown.decode()

    def assert_one_line(self, text, *parts):
        self.assertEqual(len(text.splitlines()), 1, text)
        for part in parts:
            self.assertIn(part, text)

    def read_json(self, name):
        return json.loads((self.folder / name).read_text())

    def script(self, name, text):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return path

    def simulate(self, *arguments, env=None):
        """`vramscope run` on a simulated GPU; the log is run.vsl and the report run.json."""
        return self.vramscope("run", "--simulate", "1GiB", "--force", "-o", "run.vsl", "--json", "run.json",
                              *arguments, env=env)
