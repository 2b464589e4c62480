#!/usr/bin/env python3
# tests/tools/signals_test.py — signals reach the program once, and `vramscope run` lives to tell.
import json
import os
import pathlib
import re
import signal
import subprocess
import unittest

from cli import CliTest, VRAMSCOPE

CATCHES = "trap 'echo got {name} >>signals; exit 5' {name}; echo ready; while :; do sleep 0.02; done"


class Signals(CliTest):
    def test_a_signal_sent_to_run_is_passed_on(self):
        for name in ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2"]:
            with self.subTest(signal=name):
                run = subprocess.Popen([VRAMSCOPE, "run", "sh", "-c", CATCHES.format(name=name)], cwd=self.folder,
                                       env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                self.assertEqual(run.stdout.readline(), "ready\n")
                run.send_signal(getattr(signal, f"SIG{name}"))
                _, stderr = run.communicate(timeout=60)
                self.assertEqual(run.returncode, 5)
                self.assertIn("nothing was seen of the program", stderr)

    def test_control_c_is_for_the_program_and_run_still_reports(self):
        status, shown = self.on_terminal("run", "sh", "-c", CATCHES.format(name="INT"), keys=b"\x03", after="ready")
        self.assertEqual(status, 5)
        self.assertIn("nothing was seen of the program", shown)
        self.assertEqual((self.folder / "signals").read_text(), "got INT\n")

    def test_a_program_that_does_not_catch_control_c_ends_as_130(self):
        status, shown = self.on_terminal("run", "sh", "-c", "echo ready; exec sleep 60", keys=b"\x03", after="ready")
        self.assertEqual(status, 130)
        self.assertIn("nothing was seen of the program", shown)

    def start(self, report, script):
        """`run` and the program in a group of their own; the program is ready."""
        with open(self.folder / "said", "wb") as said:
            run = subprocess.Popen([VRAMSCOPE, "run", "--json", report, "sh", "-c", script], cwd=self.folder,
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=said, text=True,
                                   start_new_session=True)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), "ready\n")
        return run

    def start_reporting(self, name):
        """One whose program ended by the signal, to the whole group, and that waits for the reader of its report."""
        os.mkfifo(self.folder / "report")
        run = self.start("report", CATCHES.format(name=name))
        os.killpg(run.pid, getattr(signal, f"SIG{name}"))
        while "nothing was seen of the program" not in (self.folder / "said").read_text():
            self.assertIsNone(run.poll())
        return run

    def send(self, run, number):
        """To the group; returns when `run` has taken it."""
        os.killpg(run.pid, number)
        status = pathlib.Path(f"/proc/{run.pid}/status")
        while run.poll() is None and re.search(r"^(SigPnd|ShdPnd):\t0*[1-9a-f]", status.read_text(), re.M):
            pass

    def assert_reports(self, run):
        reader = os.open(self.folder / "report", os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.assertEqual(run.wait(timeout=60), 5)
        self.assertEqual(json.loads(os.read(reader, 65536))["verdict"], "inconclusive")

    def test_the_same_signal_again_leaves_the_report_whole(self):
        for name in ["TERM", "INT", "HUP", "QUIT"]:
            with self.subTest(signal=name):
                run = self.start_reporting(name)
                self.send(run, getattr(signal, f"SIG{name}"))
                self.assert_reports(run)
                (self.folder / "report").unlink()

    def test_a_signal_for_programs_does_not_end_the_report(self):
        run = self.start_reporting("TERM")
        os.killpg(run.pid, signal.SIGUSR1)
        self.assert_reports(run)

    def test_the_third_one_asks_for_an_end_and_the_fourth_is_one(self):
        run = self.start_reporting("INT")
        for _ in range(2):  # the repeat, and one that ends the reading, which is over
            self.send(run, signal.SIGINT)
        self.assertIsNone(run.poll())
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), -signal.SIGINT)

    def test_another_signal_has_no_repeat(self):
        run = self.start_reporting("TERM")
        self.send(run, signal.SIGINT)
        self.assertIsNone(run.poll())
        os.killpg(run.pid, signal.SIGINT)
        self.assertEqual(run.wait(timeout=60), -signal.SIGINT)

    def test_twice_to_the_group_as_timeout_sends_it_the_report_is_always_written(self):
        for _ in range(20):
            run = self.start("out.json", "echo ready; exec sleep 60")
            os.kill(run.pid, signal.SIGTERM)
            os.killpg(run.pid, signal.SIGTERM)
            self.assertEqual(run.wait(timeout=60), 143)
            self.assertEqual(self.read_json("out.json")["verdict"], "inconclusive")
            (self.folder / "out.json").unlink()

    def test_the_program_starts_with_the_signal_mask_of_its_user(self):
        command = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"]
        alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.vramscope("run", *command)[1], alone)


if __name__ == "__main__":
    unittest.main()
