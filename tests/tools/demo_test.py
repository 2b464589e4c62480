#!/usr/bin/env python3
# tests/tools/demo_test.py — the demo program's report: each planted leak by its line, with exact
# numbers, and no other.
import os
import pathlib
import shutil
import signal
import subprocess
import time
import unittest

from cli import CliTest, PROGRAMS, SOURCE, VRAMSCOPE

DEMO = SOURCE / "tests" / "programs" / "training_demo.cu"
LABEL_BYTES = 3_000_000 * 4
LOSS_BYTES = 64 << 10


def line_of(marker):
    """The line of the demo that carries this comment; exactly one does."""
    lines = [number for number, text in enumerate(DEMO.read_text().splitlines(), 1) if f"// {marker}" in text]
    assert len(lines) == 1, (marker, lines)
    return lines[0]


class TheDemo(CliTest):
    def traced(self, *arguments):
        status, stdout, stderr = self.simulate(PROGRAMS / "training_demo", *arguments)
        return status, stdout, stderr, self.read_json("run.json")

    def assert_leak(self, leak, marker, function, **facts):
        self.assertEqual({name: leak[name] for name in facts}, facts)
        where = leak["stack"][0]
        self.assertEqual((pathlib.Path(where["file"]).name, where["line"]), (DEMO.name, line_of(marker)))
        self.assertIn(function, where["function"])
        self.assertTrue(any(frame["function"] == "main" for frame in leak["stack"]), leak["stack"])

    def test_the_program_does_what_it_does_alone(self):
        status, stdout, stderr, report = self.traced()
        self.assertEqual((status, stdout), (0, "trained 2 epochs of 50 steps\n"), stderr)
        process = report["processes"][0]
        self.assertEqual((process["end"]["kind"], process["end"]["status"]), ("exited", 0))

    def test_both_leaks_are_named_by_line_and_nothing_else_is(self):
        _, _, _, report = self.traced()
        self.assertEqual(report["verdict"], "leaks")
        self.assertEqual(len(report["leaks"]), 2, report["leaks"])
        labels, losses = report["leaks"]
        self.assert_leak(labels, "LEAK once", "load_labels", bytes=LABEL_BYTES, blocks=1, pattern="once", device=0,
                         api="cudaMalloc", memory="device", kind="leaked-at-exit", phase=None)
        self.assert_leak(losses, "LEAK in every step", "log_loss", bytes=100 * LOSS_BYTES, blocks=100,
                         pattern="repeated", device=0, api="cudaMalloc", memory="device", kind="leaked-at-exit",
                         phase="epoch/step")

    def test_everything_was_seen_once(self):
        _, _, _, report = self.traced()
        weights, workspaces, staging, labels, steps = 4, 3, 2, 1, 100
        allocations = weights + workspaces + staging + labels + 3 * steps  # activations, gradients, loss
        totals, coverage = report["totals"], report["coverage"]
        self.assertEqual((totals["allocations"], totals["frees"]), (allocations, allocations - 1 - steps))
        self.assertEqual((totals["leaked_bytes"], totals["leaked_blocks"]), (LABEL_BYTES + steps * LOSS_BYTES, 1 + steps))
        self.assertEqual((coverage["lost_events"], coverage["unmatched_frees"], coverage["missed_frees"]), (0, 0, 0))
        self.assertTrue(coverage["driver"]["simulated"])

    def test_the_per_step_leak_grows_with_the_steps_and_the_other_does_not(self):
        _, _, _, report = self.traced("7")
        self.assertEqual([(leak["bytes"], leak["blocks"]) for leak in report["leaks"]],
                         [(LABEL_BYTES, 1), (14 * LOSS_BYTES, 14)])

    def test_the_summary_names_verdict_driver_lines_log_and_next_command(self):
        _, _, stderr, _ = self.traced()
        self.assertIn("vramscope: ran on the simulated GPU", stderr)
        self.assertRegex(stderr, r"vramscope: LEAKS: 17\.7 MiB in 101 blocks .*, from 2 call stacks\n")
        self.assertIn(f"training_demo.cu:{line_of('LEAK once')}\n", stderr)
        self.assertIn(f"training_demo.cu:{line_of('LEAK in every step')}\n", stderr)
        self.assertIn("log: run.vsl\n", stderr)
        self.assertIn("next: vramscope ", stderr)

    def test_the_default_log_carries_program_and_pid(self):
        self.vramscope("run", "--simulate", "1GiB", PROGRAMS / "training_demo", "1")
        self.assertRegex(" ".join(os.listdir(self.folder)), r"^vramscope\.training_demo\.\d+\.vsl$")

    def test_a_killed_program_is_told_as_killed_and_gives_no_clean_verdict(self):
        run = subprocess.Popen([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "run.vsl", "--json", "run.json",
                                PROGRAMS / "training_demo", "1000000"], cwd=self.folder, env=self.environment(),
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        children = pathlib.Path(f"/proc/{run.pid}/task/{run.pid}/children")
        log = self.folder / "run.vsl"
        while not log.exists() or log.stat().st_size < 100_000:
            self.assertIsNone(run.poll())
            time.sleep(0.02)
        os.kill(int(children.read_text()), signal.SIGKILL)
        _, stderr = run.communicate(timeout=60)
        self.assertEqual(run.returncode, 137)
        self.assertIn("INCONCLUSIVE", stderr)
        report = self.read_json("run.json")
        self.assertEqual(report["verdict"], "inconclusive")
        end = report["processes"][0]["end"]
        self.assertEqual((end["kind"], end["signal"]), ("killed", signal.SIGKILL))
        self.assertGreater(report["totals"]["allocations"], 10)

    def test_a_program_without_debug_information_is_told_how_its_lines_are_had(self):
        shutil.copy(PROGRAMS / "training_demo", self.folder / "train")
        for option, function in (("--strip-debug", "load_labels()"), ("--strip-all", None)):
            subprocess.run(["strip", option, self.folder / "train"], check=True)
            self.simulate(self.folder / "train")
            report = self.read_json("run.json")
            self.assertEqual(report["leaks"][0]["stack"][0]["function"], function)
            note = f"no line is known of {self.folder}/train, as it was compiled without -g"
            self.assertTrue(any(line.startswith(note) for line in report["notices"]), report["notices"])
            self.assertIn(note, " ".join(self.vramscope("leaks", "run.vsl")[1].split()))
        self.simulate(PROGRAMS / "training_demo")
        self.assertEqual(self.read_json("run.json")["notices"], [])

    def test_a_program_with_nvidias_own_runtime_is_told_about_the_shared_one(self):
        _, _, stderr = self.simulate(PROGRAMS / "training_demo_static")
        self.assertIn("-cudart shared", stderr)

    def test_without_a_driver_the_simulated_gpu_is_suggested(self):
        if os.path.exists("/proc/driver/nvidia/version"):
            self.skipTest("this machine has a driver")
        status, _, stderr = self.vramscope("run", PROGRAMS / "training_demo_static")
        self.assertEqual(status, 1)
        self.assertIn("vramscope run --simulate 24GiB", stderr)


if __name__ == "__main__":
    unittest.main()
