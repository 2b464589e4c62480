#!/usr/bin/env python3
# tests/tools/left_running_test.py — `run` of programs whose children go on when they have ended.
import json
import os
import re
import subprocess
import sys
import unittest

from cli import PROGRAMS, SOURCE, VRAMSCOPE, CliTest

OUTLIVES = SOURCE / "tests" / "programs" / "process" / "outlives.py"
STILL_RUNS = r"process (\d+) \(python3[^)]*\) still runs and is traced: `vramscope snapshot \1` shows"


class LeftRunning(CliTest):
    def start(self, *arguments):
        """Runs a program whose child reads from our pipe; what `run` said, and its report."""
        os.mkfifo(self.folder / "orders")
        # Opened for both: it blocks nobody, and `cat` waits as long as we live.
        self.orders = os.fdopen(os.open(self.folder / "orders", os.O_RDWR), "wb", buffering=0)
        self.addCleanup(self.orders.close)
        with open(self.folder / "orders", "rb") as orders, open(self.folder / "said", "wb") as said:
            done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "--json", "run.json", *map(str, arguments)],
                                  cwd=self.folder, stdin=orders, stdout=said, stderr=said, timeout=120,
                                  env=self.environment())
        self.addCleanup(self.end)
        self.listens = True
        return done.returncode, (self.folder / "said").read_text(), self.read_json("run.json")

    def tell(self, order):
        before = self.lines()
        self.orders.write(f"{order}\n".encode())
        while self.lines() == before:
            pass

    def lines(self):
        return (self.folder / "done").read_text().splitlines() if (self.folder / "done").exists() else []

    def end(self):
        """Before our folder goes, the last that writes into it has done so."""
        if self.listens:
            self.tell("end")

    def test_a_child_that_has_not_allocated_yet_is_told(self):
        status, said, report = self.start(sys.executable, OUTLIVES, "done")
        self.assertEqual(status, 0)
        self.assertNotIn("no allocation of GPU memory", said + str(report))
        told = re.search(STILL_RUNS, " ".join(said.replace("vramscope: ", "").split()))
        self.assertTrue(told, said)
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertRegex(" ".join(report["verdict_reasons"]), STILL_RUNS)
        self.tell("hold")
        status, stdout, stderr = self.vramscope("snapshot", told[1], "--json", "-")
        self.assertEqual((status, json.loads(stdout)["totals"]["leaked_bytes"]), (0, 1000), stderr)
        self.assertEqual(self.lines(), [f"{told[1]} hold"])

    def test_a_child_that_holds_memory_is_told(self):
        status, said, report = self.start(sys.executable, OUTLIVES, "done", "held")
        self.assertEqual((status, report["verdict"]), (0, "inconclusive"))
        told = re.search(STILL_RUNS, " ".join(said.replace("vramscope: ", "").split()))
        self.assertTrue(told, said)
        self.assertEqual([process["pid"] for process in report["processes"]], [int(told[1])])

    def test_a_check_is_not_passed_by_it(self):
        status, said, _ = self.start("--check", sys.executable, OUTLIVES, "done")
        self.assertEqual(status, 110, said)
        self.assertIn("still runs and is traced", said)

    def test_a_job_in_the_background_without_cuda_spoils_no_verdict(self):
        demo = PROGRAMS / "training_demo"
        status, said, report = self.start("sh", "-c", f"cat <orders >done & {demo} 1")
        self.assertEqual((status, report["verdict"]), (0, "leaks"), said)
        self.assertNotIn("still runs", said + str(report))

    def test_what_a_program_of_a_few_milliseconds_leaves_is_told(self):
        status, said, report = self.start("sh", "-c", "cat <orders >done &")
        self.assertEqual((status, report["verdict"]), (0, "inconclusive"), said)
        self.assertRegex(" ".join(said.replace("vramscope: ", "").split()), r"process \d+ \((cat|sh)\) still runs and is")

    def test_what_has_ended_is_not_told(self):
        _, said, report = self.start("sh", "-c", f"{PROGRAMS / 'training_demo'} 1 & wait")
        self.listens = False
        self.assertEqual(report["verdict"], "leaks")
        self.assertNotIn("still runs", said)


if __name__ == "__main__":
    unittest.main()
