#!/usr/bin/env python3
# tests/scripts/gpu_check_test.py — shows gpu-check reports with one fault each: every one must be refused.
import copy
import importlib.machinery
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "gpu-check"
sys.dont_write_bytecode = True
loader = importlib.machinery.SourceFileLoader("gpu_check", str(SCRIPT))
gpu_check = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
loader.exec_module(gpu_check)

EXACT = gpu_check.Row("exact", "runtime_program.cu")
LOOSE = gpu_check.Row("loose", "cublas_program.cu", exact=False)
TEXT = "cudaMalloc cuMemAlloc_v2 2 200 3\ncudaMallocArray cuArray3DCreate_v2 1 - 1\n"
REPORT = {
    "coverage": {"lost_events": 0, "damaged_chunks": 0, "unmatched_frees": 0, "missed_frees": 0},
    "totals": {"allocations": 7, "leaked_blocks": 3, "peak_device_bytes": 5000},
    "leaks": [{"api": "cudaMalloc", "entry_point": "cuMemAlloc_v2", "blocks": 1, "bytes": 100},
              {"api": "cudaMalloc", "entry_point": "cuMemAlloc_v2", "blocks": 1, "bytes": 100},
              {"api": "cudaMallocArray", "entry_point": "cuArray3DCreate_v2", "blocks": 1, "bytes": 4096}],
}


class Judge(unittest.TestCase):
    def refused(self, change, row=EXACT, text=TEXT):
        report = copy.deepcopy(REPORT)
        change(report)
        with self.assertRaises(gpu_check.Failed) as caught:
            gpu_check.judge(row, text, report)
        return str(caught.exception)

    def test_the_right_report_passes(self):
        self.assertEqual(gpu_check.judge(EXACT, TEXT, REPORT), "7 allocations, 3 leaked, as planted")

    def test_an_allocation_seen_twice_is_wrong(self):
        self.assertIn("7 allocations were made, and 8 seen",
                      self.refused(lambda report: report["totals"].update(allocations=8)))

    def test_an_allocation_not_seen_is_wrong_even_among_those_of_a_library(self):
        self.assertIn("at least 7", self.refused(lambda report: report["totals"].update(allocations=6), LOOSE))

    def test_a_wrong_size_is_wrong(self):
        self.assertIn("200 bytes leaked, the report has 2 of 201",
                      self.refused(lambda report: report["leaks"][0].update(bytes=101)))

    def test_a_wrong_name_is_wrong(self):
        self.refused(lambda report: report["leaks"][0].update(api="cuMemAlloc_v2"))
        self.refused(lambda report: report["leaks"][2].update(entry_point="cuArrayCreate_v2"))

    def test_a_leak_that_is_none_is_wrong_unless_a_library_made_it(self):
        def add(report):
            report["leaks"].append({"api": "cudaMallocHost", "entry_point": "cuMemHostAlloc", "blocks": 1, "bytes": 8})
        self.assertIn("leaks that the program does not have", self.refused(add))
        report = copy.deepcopy(REPORT)
        add(report)
        gpu_check.judge(LOOSE, TEXT, report)

    def test_lost_events_are_wrong(self):
        for what in REPORT["coverage"]:
            self.assertIn(f"1 {what.replace('_', ' ')}", self.refused(lambda report: report["coverage"].update({what: 1})))
        self.refused(lambda report: report["coverage"].update(lost_events=1), LOOSE)

    def test_a_program_that_says_nothing_is_wrong(self):
        self.assertIn("the program said", self.refused(lambda report: None, text="failed\n"))

    def test_a_framework_whose_memory_was_not_seen_is_wrong(self):
        gpu_check.judge(LOOSE, "at least 1 5000\n", REPORT)
        with self.assertRaises(gpu_check.Failed):
            gpu_check.judge(LOOSE, "at least 1 5001\n", REPORT)


class WithoutAGpu(unittest.TestCase):
    def test_it_says_so_and_ends_zero(self):
        with tempfile.TemporaryDirectory() as empty:  # a PATH without nvidia-smi
            done = subprocess.run([sys.executable, SCRIPT], env={"PATH": empty}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, "gpu-check: no NVIDIA GPU: nothing was checked\n"))


PAGE = """| entry points | since CUDA | effect, on what | scene |
|---|---|---|---|
| cuInit | 2.0 | not recorded: opens the log | owners pools |
| cuMemAlloc<br>cuMemAlloc_v2 | 2.0<br>3.2 | alloc, device | kinds v1<br>kinds v2 |
| cuMemFree_v2 | 3.2 | free, device | kinds v2 |

| class | why | entry points |
| pool | a reason | cuMemGetInfo, cuIpcGetMemHandle |
"""


class ScenesOfPrograms(unittest.TestCase):
    def scene(self, report=None, ends_badly=(), simulate=None):
        """What is told of two scenes whose runs are played."""
        def run_twice(command, *_):
            if command[-1] in ends_badly:
                raise gpu_check.EndsAlone("alone it ends 3")
            return "", {"coverage": {**REPORT["coverage"], "entry_points_seen": ["cuMemAlloc", "cuMemFree_v2", "cuMemAlloc_v2"],
                                     **(report or {})}}
        real, gpu_check.run_twice = gpu_check.run_twice, run_twice
        self.addCleanup(setattr, gpu_check, "run_twice", real)
        scenes = {"v1": {"cuMemAlloc"}, "v2": {"cuMemAlloc_v2", "cuMemFree_v2"}}
        return gpu_check.check_scenes(scenes, ["program"], None, None, simulate)

    def test_the_page_names_the_scenes(self):
        self.assertEqual(gpu_check.scenes_of_page(PAGE), {("kinds", "v1"): {"cuMemAlloc"},
                                                          ("kinds", "v2"): {"cuMemAlloc_v2", "cuMemFree_v2"}})

    def test_the_real_page_has_scenes_of_each_program(self):
        rows = [row for row in gpu_check.ROWS if isinstance(row, gpu_check.Scenes)]
        self.assertEqual(len(rows), 3)
        for row in rows:
            self.assertGreater(len(row.scenes()), 4, row.name)

    def test_every_function_recorded_is_right(self):
        self.assertEqual(self.scene(), "3 functions recorded in 2 scenes")

    def test_a_function_that_is_not_in_the_log_is_wrong(self):
        with self.assertRaisesRegex(gpu_check.Failed, "v2: not recorded: cuMemFree_v2"):
            self.scene({"entry_points_seen": ["cuMemAlloc", "cuMemAlloc_v2"]})

    def test_a_lost_event_is_wrong(self):
        with self.assertRaisesRegex(gpu_check.Failed, "v1: 1 lost events"):
            self.scene({"lost_events": 1})

    def test_a_scene_that_a_gpu_cannot_play_is_told_and_no_fault(self):
        self.assertEqual(self.scene(ends_badly=["v1"]), "2 functions recorded in 1 scenes; not on this GPU, alone either: v1")

    def test_the_simulated_gpu_must_play_all(self):
        with self.assertRaises(gpu_check.Failed):
            self.scene(ends_badly=["v1"], simulate="1GiB")

    def test_a_gpu_that_plays_none_is_wrong(self):
        with self.assertRaisesRegex(gpu_check.Failed, "none of its scenes"):
            self.scene(ends_badly=["v1", "v2"])


if __name__ == "__main__":
    unittest.main()
