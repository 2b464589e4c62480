# tests/tools/cli.py — runs the built vramscope for the tests beside it.
import fcntl
import json
import os
import pathlib
import pty
import select
import struct
import subprocess
import sys
import termios
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program_test import BUILD, PROGRAMS, SOURCE, VRAMSCOPE, ProgramTest, unsanitized  # noqa: E402, F401

ESCAPE = "\x1b"


class CliTest(ProgramTest):
    def has_pages(self):
        """Whether vramscope was built with node; --html says so before it reads anything."""
        return "without pages" not in self.vramscope("report", "--html", "-", "run.vsl")[2]

    def vramscope(self, *arguments, stdin=None, env=None):
        done = self.execute(VRAMSCOPE, *arguments, stdin=stdin, **(env or {}))
        return done.returncode, done.stdout, done.stderr

    def assert_follows_schema(self, name, file):
        """The file, by the schema that is printed, which two validators know; members that it does not name are errors."""
        schema = self.folder / f"{name}.schema.json"
        schema.write_text(self.vramscope("schema", name)[1])
        done = subprocess.run(["/usr/bin/python3", SOURCE / "tests/report/check_schema.py", schema, self.folder / file],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def on_terminal(self, *arguments, keys=None, after="", env=None, width=None):
        """Runs it in the foreground of a new terminal; types `keys` once `after` was shown. (status, all output)"""
        try:
            child, terminal = pty.fork()
        except OSError as problem:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made here: {problem}")
        if child == 0:
            if width:
                fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
            os.chdir(self.folder)
            told = self.environment(**{"TERM": "xterm", "VRAMSCOPE_PAGER": "cat", **(env or {})})
            os.execve(VRAMSCOPE, [str(VRAMSCOPE), *map(str, arguments)],
                      {name: value for name, value in told.items() if value is not None})
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

    def wait_for(self, is_so):
        end = time.monotonic() + 60
        while not is_so():
            self.assertLess(time.monotonic(), end, "it did not come to be within a minute")
            time.sleep(0.02)

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
