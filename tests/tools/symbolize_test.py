#!/usr/bin/env python3
# tests/tools/symbolize_test.py — a log that has its names says without the program what
# it said beside it.
import os
import shutil
import signal
import stat
import struct
import subprocess
import unittest

from cli import PROGRAMS, CliTest

PID, PROCESS_START = 24, 40  # offsets in FileHeader
COMMANDS = [("report",), ("report", "--json", "-"), ("leaks", "--all-frames"), ("peak",), ("frag",), ("churn",), ("timeline",),
            ("check", "--json", "-"), ("check", "--sarif", "-"), ("suppress",), ("diff", "run.vsl"), ("export", "--to", "jsonl"),
            ("export", "--to", "heaptrack"), ("export", "--to", "speedscope"), ("export", "--to", "sanitizer"),
            ("export", "--to", "trace"), ("export", "--to", "openmetrics"), ("report", "--html", "-")]
FEW = [("report",), ("report", "--json", "-"), ("export", "--to", "jsonl"), ("report", "--html", "-")]


class SymbolizeTest(CliTest):
    """The program, which leaks with inlined calls, runs in a folder that is then removed."""

    def setUp(self):
        super().setUp()
        (self.folder / "inside").mkdir()
        shutil.copy(PROGRAMS / "training_demo", self.folder / "inside" / "train")
        status, _, errors = self.simulate(self.folder / "inside" / "train", "2")
        self.assertEqual(status, 0, errors)
        self.log = self.folder / "run.vsl"

    def symbolize(self, *arguments, status=0):
        found, stdout, stderr = self.vramscope("symbolize", *arguments)
        self.assertEqual(found, status, stderr)
        return stdout if status == 0 else stderr

    def told(self, commands):
        return {command: self.vramscope(*command, "run.vsl") for command in commands}

    def remove_program(self):
        shutil.rmtree(self.folder / "inside")


class ANamedLog(SymbolizeTest):
    def check(self, commands):
        wanted = self.told(commands)
        self.assertIn("log_loss", wanted[("report",)][1])
        self.assertRegex(self.symbolize("run.vsl"), r"^run\.vsl: \d+ places named\n$")
        self.remove_program()
        for command, found in self.told(commands).items():
            with self.subTest(command):
                self.assertEqual(found, wanted[command])

    def test_says_the_same_where_the_program_is_not(self):
        self.check(COMMANDS)

    def test_and_so_it_does_packed(self):
        self.assertEqual(self.vramscope("pack", "--rm", "run.vsl")[0], 0)
        (self.folder / "run.vsl.zst").rename(self.log)
        self.check(FEW)
        self.assertEqual(self.log.read_bytes()[:4], b"\x28\xb5\x2f\xfd", "it is packed as before")

    def test_needs_no_library_either(self):
        self.symbolize("run.vsl")
        (self.folder / "empty").mkdir()
        named = self.vramscope("leaks", "--sysroot", "empty", "run.vsl")
        self.assertNotIn("no such file", named[1])
        self.assertIn("log_loss", named[1])

    def test_keeps_what_is_to_be_known_of_its_names(self):
        program = self.folder / "inside" / "train"
        self.assertEqual(self.execute("objcopy", "--remove-section=.note.gnu.build-id", program).returncode, 0)
        self.assertEqual(self.vramscope("run", "--simulate", "1GiB", "-f", "-o", "run.vsl", program, "2")[0], 0)
        self.assertIn("has no build-id in the log", self.vramscope("leaks", "run.vsl")[1])
        self.check(FEW)

    def test_is_not_named_twice(self):
        self.symbolize("run.vsl")
        once = self.log.read_bytes()
        self.assertEqual(self.symbolize("run.vsl"), "run.vsl: 0 places named\n")
        self.assertEqual(self.log.read_bytes(), once)

    def test_what_was_not_here_is_still_said_and_may_come_later(self):
        home = self.folder / "inside"
        home.rename(self.folder / "away")
        self.assertEqual(self.vramscope("symbolize", "run.vsl")[0], 0)
        self.assertIn("no such file", self.vramscope("leaks", "run.vsl")[1])
        (self.folder / "away").rename(home)
        self.assertIn("log_loss", self.vramscope("leaks", "run.vsl")[1])


class SeveralLogs(SymbolizeTest):
    def test_are_each_named(self):
        shutil.copy(self.log, self.folder / "two.vsl")
        self.assertRegex(self.symbolize("run.vsl", "two.vsl"), r"^run\.vsl: (\d+) places named\ntwo\.vsl: \1 places named\n$")
        self.assertEqual((self.folder / "two.vsl").read_bytes(), self.log.read_bytes())

    def test_what_is_not_here_is_said_once(self):
        shutil.copy(self.log, self.folder / "two.vsl")
        self.remove_program()
        status, _, errors = self.vramscope("symbolize", "run.vsl", "two.vsl")
        self.assertEqual((status, errors.count("inside/train")), (0, 1), errors)

    def test_those_before_one_that_fails_are_named(self):
        (self.folder / "none.vsl").write_text("no log\n")
        self.assert_one_line(self.symbolize("run.vsl", "none.vsl", status=120), "none.vsl")
        self.remove_program()
        self.assertIn("log_loss", self.vramscope("leaks", "run.vsl")[1])

    def test_have_no_one_place(self):
        self.assert_one_line(self.symbolize("run.vsl", "two.vsl", "-o", "named.vsl", status=125), "-o names the place of one")
        self.assertFalse((self.folder / "named.vsl").exists())


class TheFile(SymbolizeTest):
    def test_is_its_users_alone_and_the_log_stays(self):
        before = self.log.read_bytes()
        self.symbolize("run.vsl", "-o", "named.vsl")
        self.assertEqual(stat.S_IMODE((self.folder / "named.vsl").stat().st_mode), 0o600)
        self.assertEqual(self.log.read_bytes(), before)
        self.symbolize("run.vsl")
        self.assertEqual(stat.S_IMODE(self.log.stat().st_mode), 0o600)

    def test_is_never_written_through_a_link(self):
        (self.folder / "link.vsl").symlink_to("elsewhere")
        self.assert_one_line(self.symbolize("run.vsl", "-o", "link.vsl", status=125), "is a link")
        self.assertFalse((self.folder / "elsewhere").exists())
        (self.folder / "other.vsl").symlink_to("run.vsl")
        self.assert_one_line(self.symbolize("other.vsl", status=125), "is a link")

    def test_of_somebody_else_stays(self):
        (self.folder / "named.vsl").write_text("precious\n")
        self.symbolize("run.vsl", "-o", "named.vsl", status=125)
        self.assertEqual((self.folder / "named.vsl").read_text(), "precious\n")
        self.symbolize("run.vsl", "-f", "-o", "named.vsl")

    def test_a_log_that_is_cut_is_refused_and_stays(self):
        content = self.log.read_bytes()
        self.log.write_bytes(content[:-1000])
        self.assert_one_line(self.symbolize("run.vsl", status=120), "is cut")
        self.assertEqual(self.log.read_bytes(), content[:-1000])

    def test_a_log_of_a_running_program_is_refused(self):
        content = bytearray(self.log.read_bytes())
        child = subprocess.Popen(["sleep", "60"])
        self.addCleanup(child.wait)
        self.addCleanup(os.kill, child.pid, signal.SIGKILL)
        with open(f"/proc/{child.pid}/stat") as text:
            start = int(text.read().rsplit(")", 1)[1].split()[19])
        struct.pack_into("<I", content, PID, child.pid)
        struct.pack_into("<Q", content, PROCESS_START, start)
        self.log.write_bytes(content)
        self.assert_one_line(self.symbolize("run.vsl", status=125), "still written by process", "snapshot")


if __name__ == "__main__":
    unittest.main()
