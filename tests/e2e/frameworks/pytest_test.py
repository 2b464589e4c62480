# tests/e2e/frameworks/pytest_test.py — the plugin for pytest, with Debian's pytest, in a program
# that is traced or not.
import json
import shutil
import subprocess
import sys
import textwrap
import unittest

from framework import VRAMSCOPE, EndToEndTest, simulated_only
from python_module_test import GPU, MODULE, SCENES, SIMGPU

MIB = 1 << 20
PYTHON = next((python for python in (sys.executable, "/usr/bin/python3")  # Debian's pytest is Debian's Python's
               if subprocess.run([python, "-c", "import pytest"], capture_output=True).returncode == 0), None)
SUITE = """
import pytest
import driver

driver.start()
kept = []

def test_leaks():
    kept.append(driver.allocate(3))

def test_caches():
    kept.append(driver.allocate(2))

def test_frees_the_cache():
    driver.free(kept.pop())

@pytest.mark.no_gpu_leaks
@pytest.mark.parametrize("mib", [1, 4])
def test_clean(mib):
    driver.free(driver.allocate(mib))

@pytest.mark.skip
def test_skipped():
    pass
"""
MARKED = """
import pytest
import driver

driver.start()
warm = driver.allocate(64)

@pytest.mark.no_gpu_leaks
def test_leaks():
    driver.allocate(3)

@pytest.mark.limit_vram("4MiB")
def test_takes_too_much():
    driver.free(driver.allocate(5))

@pytest.mark.limit_vram("5 MiB")
@pytest.mark.no_gpu_leaks
def test_keeps_both():
    driver.free(driver.allocate(5))

@pytest.mark.no_gpu_leaks
def test_fails_by_itself():
    block = driver.allocate(1)
    assert False, "its own word"
"""

TORCH = """
import sys
import types
import pytest
import driver

driver.start()
kept = driver.allocate(64)
reserved = [0]
sys.modules["torch"] = types.SimpleNamespace(cuda=types.SimpleNamespace(
    is_initialized=lambda: True, device_count=lambda: 1,
    memory_reserved=lambda device: reserved[0] << 20, memory_allocated=lambda device: 0))

@pytest.mark.no_gpu_leaks
def test_what_pytorch_keeps_cached_is_no_leak():
    reserved[0] += 4
    driver.allocate(4)

@pytest.mark.no_gpu_leaks
def test_expandable_segments_are_past_the_pool():
    reserved[0] += 1000
"""


# PyTorch's allocator tells of its blocks by this function, which the tracer has.
TENSORS = """
import ctypes
import driver

driver.start()
tell = ctypes.CDLL(None)._ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE
segment = driver.allocate(1).value
driver.allocate(19)
total = 0

def tensor(at, kib):
    global total
    total += kib << 10
    tell(ctypes.c_void_p(segment + at), ctypes.c_int64(kib << 10), ctypes.c_size_t(total), ctypes.c_size_t(20 << 20),
         ctypes.c_uint32(1))

def test_without():
    pass

def test_keeps():
    tensor(0, 64)

def test_gives_back():
    tensor(1 << 19, 128)
    driver.allocate(4)
    tensor(1 << 19, -128)
    tensor(1 << 19, 32)
    tensor(1 << 19, -32)
"""


@simulated_only
@unittest.skipUnless(PYTHON, "needs python3-pytest: scripts/setup --tests")
class PytestTest(EndToEndTest):
    def write(self, text):
        shutil.copy(SCENES / "driver.py", self.folder)
        suite = self.folder / "test_suite.py"
        suite.write_text(textwrap.dedent(text))
        return ["-m", "pytest", "-p", "no:cacheprovider", "-p", "vramscope.pytest_plugin", suite]

    def traced(self, text, *arguments, status):
        done, report = self.run_traced(PYTHON, *self.write(text), *arguments, PYTHONDONTWRITEBYTECODE="1")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout, report["processes"][0] if report else None

    def untraced(self, text, *arguments, status):
        done = self.execute(PYTHON, *self.write(text), *arguments, LD_LIBRARY_PATH=str(SIMGPU),
                            VRAMSCOPE_SIMULATE=GPU, PYTHONPATH=str(MODULE), PYTHONDONTWRITEBYTECODE="1")
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_each_test_has_what_it_left(self):
        said, process = self.traced(SUITE, "--vramscope", status=0)
        tests = {test["name"].partition("::")[2]: test for test in process["tests"]}
        self.assertEqual(list(tests), ["test_leaks", "test_caches", "test_frees_the_cache", "test_clean[1]",
                                       "test_clean[4]", "test_skipped"])
        self.assertEqual({name: test["leaked_bytes"] // MIB for name, test in tests.items() if test["leaked_bytes"]},
                         {"test_leaks": 3})
        self.assertEqual(tests["test_caches"]["freed_later_bytes"], 2 * MIB)
        self.assertEqual({test["result"] for test in tests.values()}, {"passed", "skipped"})
        self.assertEqual(tests["test_skipped"]["result"], "skipped")
        self.assertRegex(said, r"4 MiB +0 B  \S*test_clean\[4\]")
        self.assertRegex(said, r"3 MiB +3 MiB  \S*test_leaks")

    def test_the_check_names_it(self):
        self.traced(SUITE, "--vramscope", status=0)
        result = self.folder / "check.json"
        done = self.execute(VRAMSCOPE, "check", "--json", result, *self.logs())
        self.assertEqual(done.returncode, 100, done.stdout)
        [row] = json.loads(result.read_text())["tests"]["rows"]
        self.assertTrue(row["name"].endswith("::test_leaks"), row)

    def test_marks_fail_their_tests(self):
        said, process = self.traced(MARKED, status=1)
        self.assertIn("no_gpu_leaks: 3 MiB that the test allocated was still there when it returned", said)
        self.assertIn("limit_vram: the test took 5 MiB at its peak, at most 4 MiB is allowed", said)
        self.assertIn("its own word", said)
        self.assertIn("3 failed, 1 passed", said)
        self.assertNotIn("tests", process, "the names are put into the log with --vramscope alone")

    def test_what_is_not_watched_is_never_silently_green(self):
        said = self.untraced(SUITE, status=0)
        self.assertIn("GPU memory of 2 marked tests was not judged", said)
        self.assertIn("vramscope run -- pytest", said)

    def test_without_a_pool_tests_are_named_and_marks_not_judged(self):
        done, report = self.run_traced(PYTHON, *self.write(SUITE), "--vramscope", options=["--pool", "off"])
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertEqual(len(report["processes"][0]["tests"]), 6)
        self.assertIn("GPU memory of 2 marked tests was not judged", done.stdout)

    def test_pytorchs_cache_is_left_out(self):
        said, _ = self.traced(TORCH, status=0)
        self.assertIn("GPU memory of 1 marked test was not judged", said)
        self.assertIn("PyTorch's expandable segments", said)

    def test_of_pytorch_its_tensors_are_told_and_not_its_segments(self):
        said, process = self.traced(TENSORS, "--vramscope", status=0)
        rows = dict(line.split()[::-1][:1] + [" ".join(line.split()[:-1])] for line in said.splitlines() if "::" in line
                    and "iB" in line)
        self.assertEqual({name.partition("::")[2]: row for name, row in rows.items()},
                         {"test_gives_back": "128 KiB 0 B 4 MiB", "test_keeps": "64 KiB 64 KiB 0 B"})
        self.assertRegex(said, r"0 B +0 B +0 B  \S*test_without")
        self.assertIn("of PyTorch's tensors; with cache:", said)

    def test_the_option_without_the_tracer_is_an_error(self):
        self.assertIn("nothing is watched", self.untraced(SUITE, "--vramscope", status=4))

    def test_a_size_that_is_none_is_an_error(self):
        suite = """
            import pytest
            @pytest.mark.limit_vram("much")
            def test_size():
                pass
            """
        self.assertIn("a size such as", self.untraced(suite, status=4))


if __name__ == "__main__":
    unittest.main()
