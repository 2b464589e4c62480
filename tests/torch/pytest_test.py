# tests/torch/pytest_test.py — our plugin for pytest, with real PyTorch in workers of pytest-xdist.
import json
import subprocess
import sys
import unittest

from torch_root import PRELOAD, PROGRAMS, REAL, SOURCE, VRAMSCOPE, TorchTest, in_root, main

MIB = 1 << 20


class Pytest(TorchTest):
    def command(self, *words, **environment):
        environment |= {"PYTHONPATH": str(SOURCE / "tools" / "python"), "PYTHONDONTWRITEBYTECODE": "1"}
        if REAL:
            return [sys.executable, *words], self.environment(**environment)
        return in_root(self.folder, "python3", *words, **environment), None

    def run_pytest(self, *words, **environment):
        command, changes = self.command(*words, **environment)
        return subprocess.run([str(word) for word in command], cwd=self.folder, env=changes, capture_output=True, text=True,
                              timeout=300)

    def setUp(self):
        super().setUp()
        if self.run_pytest("-c", "import pytest, xdist").returncode != 0:
            self.skipTest("needs python3-pytest and python3-pytest-xdist beside PyTorch")

    def test_each_test_of_a_worker_has_its_name_and_its_peak(self):
        done = self.run_pytest("-m", "pytest", "-p", "no:cacheprovider", "-p", "vramscope.pytest_plugin", "--vramscope",
                               "-n", "2", PROGRAMS / "pytest_suite.py", LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG="run.%p.vsl")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertIn("1 failed, 14 passed", done.stdout)
        rows = [line.split() for line in done.stdout.splitlines() if line.endswith(("::test_keeps", "::test_gives_back"))]
        self.assertEqual({row[-1].partition("::")[2]: row[:4] for row in rows},
                         {"test_gives_back": ["30", "MiB", "0", "B"], "test_keeps": ["26", "MiB", "26", "MiB"]}, done.stdout)
        processes = []
        for log in self.folder.glob("run.*.vsl"):
            self.execute(VRAMSCOPE, "report", log, "--json", "worker.json", "--force")
            processes += json.loads((self.folder / "worker.json").read_text())["processes"]
        workers = [process for process in processes if process.get("tests")]
        self.assertEqual(len(workers), 2)
        tests = {test["name"].partition("::")[2]: test for worker in workers for test in worker["tests"]}
        expected = {f"test_takes[{count}]": count for count in range(2, 26, 2)}
        expected |= {"test_keeps": 26, "test_fails": 28, "test_gives_back": 30}
        self.assertEqual(sum(worker["test_count"] for worker in workers), len(expected))
        self.assertEqual({name: test["peaks"][0]["peak_allocated"] - test["peaks"][0]["allocated_at_begin"]
                          for name, test in tests.items()}, {name: count * MIB for name, count in expected.items()})
        self.assertEqual({name for name, test in tests.items() if test["result"] != "passed"}, {"test_fails"})
        self.assertEqual(tests["test_keeps"]["held_bytes"], 26 * MIB)
        self.assertEqual(tests["test_gives_back"]["held_bytes"], 0)


if __name__ == "__main__":
    main()
