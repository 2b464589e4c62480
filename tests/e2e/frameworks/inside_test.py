#!/usr/bin/env python3
# tests/e2e/frameworks/inside_test.py — `run --inside`: switches of frameworks, and a made-up CuPy
# on every Python at hand.
import shutil
import unittest

from framework import VRAMSCOPE
from python_module_test import MIB, MODULE, PythonTest, on_each_python

VARIABLES = ["XLA_PYTHON_CLIENT_ALLOCATOR", "TF_GPU_ALLOCATOR", "CUDF_PANDAS_RMM_MODE"]
BYPASSED = "allocator of CuPy bypassed: each of its buffers is an allocation"

# Arrays of its pool lie in one block of 8 MiB; without the pool each is a block.
CUPY = """
from driver import start, allocate
from . import cuda
start()

class _Pool:
    block = None
    def malloc(self, mib):
        self.block = self.block or allocate(8)
        return self.block

cuda.set_allocator(_Pool().malloc)

def empty(mib):
    return cuda.allocator(mib)
"""
CUPY_CUDA = """
from driver import allocate

def set_allocator(chosen=None):
    global allocator
    allocator = chosen or allocate

def set_pinned_memory_allocator(allocator=None):
    print("pinned", allocator)
"""


class InsideTest(PythonTest):
    def package(self, name, **files):
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            (folder / f"{file}.py").write_text(text)
        return folder

    def setUp(self):
        super().setUp()
        self.package("cupy", __init__=CUPY)
        self.package("cupy/cuda", __init__=CUPY_CUDA)


class CuPy(InsideTest):
    PROGRAM = """
        import importlib.util
        assert importlib.util.find_spec("cupy")
        import cupy
        arrays = [cupy.empty(1) for _ in range(3)]
        print(type(cupy.__loader__).__name__, "exec_module" in vars(cupy.__loader__))
        """

    @on_each_python
    def test_has_no_pool_and_the_report_says_so(self, python):
        out = self.run_python(python, self.PROGRAM, options=["--inside"])
        self.assertEqual(out, "pinned None\nSourceFileLoader False\n")
        self.assertEqual(self.report["totals"]["leaked_bytes"], 3 * MIB)
        self.assertEqual(self.report["totals"]["leaked_blocks"], 3)
        self.assertIn(BYPASSED, self.report["notices"])
        self.assertEqual(self.report["processes"][0]["frameworks"],
                         [{"name": "CuPy", "library": None, "bypassed": True, "bypassed_by": None,
                           "told_of_blocks": 0, "told_of_returns": 0}])

    @on_each_python
    def test_keeps_its_pool_without_the_option(self, python):
        out = self.run_python(python, self.PROGRAM)
        self.assertEqual(out, "SourceFileLoader False\n")
        self.assertEqual(self.report["totals"]["leaked_blocks"], 1)
        self.assertNotIn(BYPASSED, self.report["notices"])

    @on_each_python
    def test_that_does_not_load_fails_as_ever_and_may_be_tried_again(self, python):
        self.package("cupy", __init__="import sys\nsys.tries = getattr(sys, 'tries', 0) + 1\n"
                                      "if sys.tries == 1: raise ImportError('no GPU')\n" + CUPY)
        out = self.run_python(python, """
            try:
                import cupy
            except ImportError as error:
                print(error)
            import cupy
            cupy.empty(1), cupy.empty(1)
            """, options=["--inside"])
        self.assertEqual(out, "no GPU\npinned None\n")
        self.assertEqual(self.report["totals"]["leaked_blocks"], 2)

    @on_each_python
    def test_of_another_kind_is_left_alone(self, python):
        self.package("cupy", __init__="from driver import start, allocate\nstart()\nallocate(1)\n")
        shutil.rmtree(self.folder / "cupy" / "cuda", ignore_errors=True)
        self.assertEqual(self.run_python(python, "import cupy\nprint('runs')", options=["--inside"]), "runs\n")
        self.assertNotIn(BYPASSED, self.report["notices"])

    @on_each_python
    def test_in_a_child_of_a_fork_is_told_in_its_log(self, python):
        self.run_python(python, """
            import os
            import cupy
            cupy.empty(1)
            child = os.fork()
            if child == 0:
                try:
                    cupy.empty(1)
                except AssertionError:  # the driver does not work in a forked child
                    pass
                os._exit(0)
            os.waitpid(child, 0)
            """, options=["--inside"])
        for process in self.report["processes"]:
            self.assertEqual([use["name"] for use in process["frameworks"]], ["CuPy"])


class Doctor(InsideTest):
    def lines(self):
        [log] = self.logs()
        return self.execute(VRAMSCOPE, "doctor", log).stdout.splitlines()

    @on_each_python
    def test_names_the_python_that_it_found_and_what_was_bypassed(self, python):
        self.run_python(python, CuPy.PROGRAM, options=["--inside"])
        version = self.execute(python, "-c", "import platform; print(platform.python_version())").stdout.strip()
        self.assertIn(f"ok    Python {version}: its functions are in call stacks", self.lines())
        self.assertIn(f"note  {BYPASSED}", self.lines())


class ThePython(InsideTest):
    @on_each_python
    def test_has_its_own_path_and_sitecustomize(self, python):
        own = self.package("own", sitecustomize="import sys\nsys.own = __name__, __file__\n")
        shown = "import sys\nprint(sys.path)\nprint(getattr(sys, 'own', None), sys.modules['sitecustomize'].__file__)"
        out = self.run_python(python, shown, options=["--inside"], PYTHONPATH=str(own))
        self.assertEqual(out, self.run_python(python, shown, options=["--force"], PYTHONPATH=str(own)))
        self.assertIn(f"('sitecustomize', '{own}/sitecustomize.py') {own}/sitecustomize.py", out)

    @on_each_python
    def test_says_of_a_broken_sitecustomize_what_it_says_without_us(self, python):
        own = self.package("own", sitecustomize="raise ValueError('broken')\n")
        program = self.program("print('runs')")
        runs = [self.execute(VRAMSCOPE, "run", *options, python, program, PYTHONPATH=str(own)) for options in ([], ["--inside"])]
        for done in runs:
            self.assertEqual(done.stdout, "runs\n")
            self.assertIn("ValueError: broken", done.stderr)
            self.assertEqual(done.stderr.count("sitecustomize"), runs[0].stderr.count("sitecustomize"))

    def test_finds_the_folder_first_and_once(self):
        inside = MODULE / "vramscope" / "inside"
        run = [VRAMSCOPE, "run", "--inside"]
        done = self.execute(*run, *run, "sh", "-c", "echo $PYTHONPATH", PYTHONPATH="/a")
        self.assertEqual(done.stdout, f"{inside}:/a:{MODULE}\n")


class Switches(InsideTest):
    SHOW = ["sh", "-c", "env | grep -E '^(" + "|".join(VARIABLES) + ")=' | sort"]

    def shown(self, *options, **env):
        done = self.execute(VRAMSCOPE, "run", *options, *self.SHOW, **env)
        return done.stdout.splitlines(), [line for line in done.stderr.splitlines() if "warning" in line]

    def test_are_set_on_request_alone(self):
        self.assertEqual(self.shown(), ([], []))
        self.assertEqual(self.shown("--inside"), (["CUDF_PANDAS_RMM_MODE=cuda", "TF_GPU_ALLOCATOR=cuda_malloc_async",
                                                   "XLA_PYTHON_CLIENT_ALLOCATOR=platform"], []))

    def test_of_the_user_stay_and_are_told_if_they_bypass_nothing(self):
        lines, warnings = self.shown("--inside", TF_GPU_ALLOCATOR="bfc", XLA_PYTHON_CLIENT_ALLOCATOR="cuda_async")
        self.assertEqual(lines, ["CUDF_PANDAS_RMM_MODE=cuda", "TF_GPU_ALLOCATOR=bfc", "XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"])
        self.assertEqual(warnings, ["vramscope: warning: --inside: TF_GPU_ALLOCATOR=bfc is set, and stays"])

    def test_are_in_the_log(self):
        self.run_python(shutil.which("python3"), "from driver import start, allocate\nstart()\nallocate(1)",
                        options=["--inside"], TF_GPU_ALLOCATOR="bfc")
        info = self.report["processes"][0]["info"]
        self.assertEqual([info[f"env.{name}"] for name in VARIABLES], ["platform", "bfc", "cuda"])

    def test_are_in_the_help(self):
        shown = self.execute(VRAMSCOPE, "run", "--help-all").stdout
        self.assertIn("  TensorFlow  TF_GPU_ALLOCATOR=cuda_malloc_async\n", shown)
        self.assertIn("vramscope run --inside python3 ", shown)


if __name__ == "__main__":
    unittest.main()
