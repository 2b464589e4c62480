#!/usr/bin/env python3
# tests/scripts/gpu_check_test.py — shows gpu-check reports with one fault each: every
# one must be refused.
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
import gpu_programs  # noqa: E402  (gpu-check has told where it is)

EXACT = gpu_programs.Row("exact", "runtime_program.cu")
LOOSE = gpu_programs.Row("loose", "cublas_program.cu", exact=False)
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
        with self.assertRaises(gpu_programs.Failed) as caught:
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
        with self.assertRaises(gpu_programs.Failed):
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
                raise gpu_programs.EndsAlone("alone it ends 3")
            return "", {"coverage": {**REPORT["coverage"], "entry_points_seen": ["cuMemAlloc", "cuMemFree_v2", "cuMemAlloc_v2"],
                                     **(report or {})}}
        real, gpu_check.run_twice = gpu_check.run_twice, run_twice
        self.addCleanup(setattr, gpu_check, "run_twice", real)
        scenes = {"v1": {"cuMemAlloc"}, "v2": {"cuMemAlloc_v2", "cuMemFree_v2"}}
        return gpu_check.check_scenes(scenes, ["program"], None, None, simulate)

    def test_the_page_names_the_scenes(self):
        self.assertEqual(gpu_programs.scenes_of_page(PAGE, "13.0"), {("kinds", "v1"): {"cuMemAlloc"},
                                                                  ("kinds", "v2"): {"cuMemAlloc_v2", "cuMemFree_v2"}})

    def test_a_function_that_the_toolkit_is_too_old_for_is_not_asked_for(self):
        self.assertEqual(gpu_programs.scenes_of_page(PAGE, "3.0"), {("kinds", "v1"): {"cuMemAlloc"}})
        self.assertNotIn("green_context", self.row_named("scenes of owners").scenes("11.8"))
        self.assertNotIn("cuGraphInstantiateWithParams", self.row_named("scenes of owners").scenes("11.8")["graph_execs"])

    def test_the_real_page_has_scenes_of_each_program(self):
        rows = [row for row in gpu_programs.ROWS if isinstance(row, gpu_programs.Scenes)]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertGreater(len(row.scenes("13.0")), 4, row.name)

    @staticmethod
    def row_named(name):
        return next(row for row in gpu_programs.ROWS if row.name == name)

    def test_every_function_recorded_is_right(self):
        self.assertEqual(self.scene(), "3 functions recorded in 2 scenes")

    def test_a_function_that_is_not_in_the_log_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "v2: not recorded: cuMemFree_v2"):
            self.scene({"entry_points_seen": ["cuMemAlloc", "cuMemAlloc_v2"]})

    def test_a_lost_event_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "v1: 1 lost events"):
            self.scene({"lost_events": 1})

    def test_a_scene_that_a_gpu_cannot_play_is_told_and_no_fault(self):
        self.assertEqual(self.scene(ends_badly=["v1"]), "2 functions recorded in 1 scenes; not on this GPU, alone either: v1")

    def test_the_simulated_gpu_must_play_all(self):
        with self.assertRaises(gpu_programs.Failed):
            self.scene(ends_badly=["v1"], simulate="1GiB")

    def test_a_gpu_that_plays_none_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "none of its scenes"):
            self.scene(ends_badly=["v1", "v2"])


class FilesOfTests(unittest.TestCase):
    def told(self, status, stderr):
        def output_of(*command, env):
            self.assertEqual((env["VRAMSCOPE_E2E_GPU"], env["VRAMSCOPE_BUILD"]), ("real", "/build"))
            return status, "", stderr
        real, gpu_programs.output_of = gpu_programs.output_of, output_of
        self.addCleanup(setattr, gpu_programs, "output_of", real)
        return gpu_programs.Tests("segments", "../torch/segments_test.py").run(pathlib.Path("/build/bin/vramscope"))

    def test_how_many_passed_is_told(self):
        self.assertEqual(self.told(0, "Ran 8 tests in 51.4s\n\nOK\n"), "8 tests, as on the simulated GPU")

    def test_one_that_fails_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "2302 != 2560"):
            self.told(1, "AssertionError: 2302 != 2560 : moment 0\n")

    def test_those_of_the_list_are_there(self):
        rows = [row for row in gpu_programs.ROWS if isinstance(row, gpu_programs.Tests)]
        self.assertEqual([(gpu_programs.PROGRAMS / row.source).is_file() for row in rows], [True] * 3)


class Facts(unittest.TestCase):
    def told(self, status, stdout):
        real, gpu_programs.output_of = gpu_programs.output_of, lambda *command, env: (status, stdout, "")
        self.addCleanup(setattr, gpu_programs, "output_of", real)
        return gpu_programs.Facts("waits").tell(["driver_facts", "waits"], pathlib.Path("/build/bin/vramscope"), None)

    def test_they_are_told_below_the_table(self):
        told = self.told(0, "cudaFree: OK, 200.2 ms: it WAITS\ncudaMalloc: OK, 0.1 ms\n")
        real, gpu_check.output_of = gpu_check.output_of, lambda *command: (0, "", "")
        self.addCleanup(setattr, gpu_check, "output_of", real)
        text = gpu_check.table("a GPU", [("facts: waits", "ok", told), ("CuPy", "ok", "8 | 9")], pathlib.Path("/none"))
        self.assertIn("| facts: waits | ok | told below |\n| CuPy | ok | 8 / 9 |\n", text)
        self.assertIn("\n## Facts: waits\n\n```\ncudaFree: OK, 200.2 ms: it WAITS\ncudaMalloc: OK, 0.1 ms\n```\n", text)

    def test_a_part_that_ends_badly_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "it ends -11 after 'cudaFree: OK'"):
            self.told(-11, "cudaFree: OK\n")

    def test_a_library_that_nobody_calls_is_wrong(self):
        real, gpu_programs.output_of = gpu_programs.output_of, lambda *command, env, cwd: (0, "", "other words\n")
        self.addCleanup(setattr, gpu_programs, "output_of", real)
        with self.assertRaisesRegex(gpu_programs.Failed, "alone it ends 0"):
            gpu_programs.Injection().tell([pathlib.Path("/there/program")], pathlib.Path("/build/bin/vramscope"), None)

    def test_the_names_of_the_look_ups_are_the_hooked_ones(self):
        self.assertEqual(gpu_programs.hooked_names("| cuInit | 2.0 | x | y |\n| a | b |\n| cuMemFree<br>cuMemFree_v2 | 2 | x | y |\n"),
                         ["cuInit", "cuMemFree", "cuMemFree_v2"])


class Order(unittest.TestCase):
    def test_what_is_measured_runs_alone_and_after_the_others(self):
        running, most, order = [], {}, []

        def run(row, _):
            running.append(row)
            most[row] = len(running)
            order.append(row)
            running.remove(row)
            return row.name
        told = gpu_check.run_rows(pathlib.Path("/tmp"), run)
        self.assertEqual(told, [row.name for row in gpu_programs.ROWS])
        alone = [row for row in gpu_programs.ROWS if row.alone]
        self.assertEqual(order[-len(alone):], alone)
        self.assertEqual({most[row] for row in alone}, {1})


class Speeds(unittest.TestCase):
    ROW = gpu_programs.Speed("speed", "speed_program.cu", work=["pairs", "malloc"], count=70, small=2, env={"ALONE": "1"},
                          peers={"peer": (["pairs", "async"], {"PEER": "1"})}, simulated=True)

    def measured(self, answer, simulate=None):
        """What comes of runs that are played: `answer` is given the command and the environment."""
        self.played = []

        def output_of(*command, env, cwd):
            words = [str(word) for word in command]
            self.played.append(words)
            return answer(words, env)
        real, gpu_programs.output_of = gpu_programs.output_of, output_of
        self.addCleanup(setattr, gpu_programs, "output_of", real)
        return self.ROW.measure(["program"], pathlib.Path("/there/bin/vramscope"), pathlib.Path("/tmp"), simulate)

    def test_each_way_is_run_in_turn_and_its_median_told(self):
        numbers = self.measured(lambda words, env: (0, f"1MiB {100 + len(self.played) % 5 if 'split' in words else 7}\n", ""))
        self.assertEqual(set(numbers["1MiB"]), {"alone", "off", "cache", "split", "peer"})
        self.assertEqual(len(self.played), 5 * self.ROW.REPETITIONS)
        self.assertEqual(self.played[0], ["program", "pairs", "malloc", "70"])
        self.assertIn("--pool cache --force -o speed.vsl -- program pairs malloc 70", " ".join(self.played[2]))
        self.assertEqual(gpu_programs.speed_text({"1MiB": {"alone": [3, 1, 200], "cache": [0.5, 0.25, 0.75]}}, None),
                         "us, medians of 5: 1MiB: alone 3.0, cache 0.5")

    def test_a_peer_has_its_own_environment(self):
        self.measured(lambda words, env: (0, "step 1\n", "") if ("PEER" in env) == ("async" in words) != ("ALONE" in env) else (1, "", ""))

    def test_a_simulated_run_is_short_and_says_so(self):
        numbers = self.measured(lambda words, env: (0, "1MiB 1\n", ""), simulate="1GiB")
        self.assertEqual([words[-1] for words in self.played], ["2"] * 5)
        self.assertIn("simulated", gpu_programs.speed_text(numbers, "1GiB"))

    def test_a_run_that_ends_badly_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "split: it ends 1: 'no memory'"):
            self.measured(lambda words, env: (1, "no memory", "") if "split" in words else (0, "1MiB 1\n", ""))

    def test_a_program_that_measures_nothing_is_wrong(self):
        with self.assertRaisesRegex(gpu_programs.Failed, "measured nothing"):
            self.measured(lambda words, env: (0, "", ""))


if __name__ == "__main__":
    unittest.main()
