#!/usr/bin/env python3
# tests/tools/signals_test.py — signals reach the program once, and `vramscope run` lives to tell.
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

    def test_the_program_starts_with_the_signal_mask_of_its_user(self):
        command = ["sh", "-c", "grep -E '^Sig(Blk|Ign)' /proc/self/status"]
        alone = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        self.assertEqual(self.vramscope("run", *command)[1], alone)


if __name__ == "__main__":
    unittest.main()
