# tests/e2e/e2e.py — runs real programs under the tracer on the simulated GPU; the tests beside it
# read the reports.
#
# VRAMSCOPE_PRELOAD names another preload than the build's; ctest sets it. With
# VRAMSCOPE_E2E_GPU=real they run on this machine's own driver instead, but for what only a
# simulated GPU can do.
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program_test import BUILD, PROGRAMS, SOURCE, VRAMSCOPE, ProgramTest, unsanitized  # noqa: E402, F401

PRELOAD = pathlib.Path(os.environ.get("VRAMSCOPE_PRELOAD", BUILD / "lib" / "libvramscope.so"))
SIMGPU = BUILD / "lib" / "vramscope" / "simgpu"
GPU = os.environ.get("VRAMSCOPE_E2E_GPU", "256MiB")
REAL = GPU == "real"
CUDART = pathlib.Path(os.environ.get("VRAMSCOPE_CUDART_DIR", "/usr/local/cuda/lib64"))  # NVIDIA's
simulated_only = unittest.skipIf(REAL, "needs the simulated GPU")


def driver_file():
    if not REAL:
        return SIMGPU / "libcuda.so.1"
    known = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    return pathlib.Path(re.search(r"libcuda\.so\.1 \(.*x86-64.*\) => (\S+)", known)[1])


DRIVER = driver_file()


@functools.cache
def driver_names(driver=DRIVER):
    """What the driver exports."""
    table = subprocess.run(["nm", "-D", "--defined-only", driver], capture_output=True, text=True, check=True).stdout
    return {line.split()[2] for line in table.splitlines() if line.split()[2].startswith("cu")}


def needs(name):
    """Skips where the driver is too old to have `name`: the simulated one is as old as the toolkit."""
    return unittest.skipUnless(name in driver_names(), f"the driver has no {name}")


def program_source(name):
    [found] = (SOURCE / "tests" / "programs").rglob(name)
    return found


def line_of(source, mark):
    """The line of SOURCE, somewhere in tests/programs, that ends in the comment MARK mark."""
    text = program_source(source).read_text().splitlines()
    lines = [number for number, line in enumerate(text, start=1) if re.search(rf"// MARK {mark}$", line)]
    assert len(lines) == 1, f"{source} has {len(lines)} lines marked {mark}"
    return lines[0]


@functools.cache
def hooked_names():
    """What libvramscope.so exports: made from the hook table when it is built."""
    return set((BUILD / "interpose" / "exports.txt").read_text().split())


def wrapped(answer):
    """What a traced look-up must answer: the driver's own function becomes ours of the same name, if it is hooked."""
    library, _, symbol = answer.partition(":")
    return f"{PRELOAD.name}:{symbol}" if library == DRIVER.name and symbol in hooked_names() else answer


class EndToEndTest(ProgramTest):
    driver = DRIVER  # a class may name another file of this name

    def plain(self, program, *arguments, **env):
        """The program alone."""
        gpu = {"LD_LIBRARY_PATH": str(CUDART)} if REAL else {"LD_LIBRARY_PATH": str(self.driver.parent), "VRAMSCOPE_SIMULATE": GPU}
        return self.execute(PROGRAMS / program, *arguments, **{**gpu, **env})

    def preloaded(self, program, *arguments, **env):
        """The program with LD_PRELOAD and nothing else of ours around it."""
        return self.plain(program, *arguments, **{"LD_PRELOAD": str(PRELOAD), **env})

    def run_traced(self, program, *arguments, gpu=GPU, options=(), **env):
        """`vramscope run` of the program: what it did, and the report."""
        report = self.folder / "report.json"
        if REAL:
            env = {"LD_LIBRARY_PATH": str(CUDART), **env}
        done = self.execute(VRAMSCOPE, "run", *([] if REAL else ["--simulate", gpu]), "--json", report, *options, "--",
                            PROGRAMS / program, *arguments, **env)
        return done, json.loads(report.read_text()) if report.exists() else None

    def logs(self):
        return sorted(self.folder.glob("*.vsl*"))

    def report_of(self, *logs):
        report = self.folder / "report.json"
        done = self.execute(VRAMSCOPE, "leaks", "--json", report, *logs)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(report.read_text())

    def trace(self, program, *arguments, status=0, **env):
        """The report of a run that must end with this status."""
        done, report = self.run_traced(program, *arguments, **env)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertIsNotNone(report, done.stderr)
        self.stdout = done.stdout
        return report

    def look_ups(self, asked):
        """The answers of cuGetProcAddress to "name version flags", alone and traced: pairs of (question, answer)."""
        listed = self.folder / "asked"
        listed.write_text("\n".join(asked) + "\n")
        return [[line.rpartition(" ")[::2] for line in run("look_ups", listed).stdout.splitlines()]
                for run in (self.plain, self.preloaded)]

    def assert_wrapped(self, plain, traced):
        """Each answer is the driver's, or our wrapper of the very function that the driver gave."""
        different = [(expected, got) for expected, got in zip(plain, traced)
                     if got != (expected[0], wrapped(expected[1]))]
        self.assertEqual(different[:5], [])
        self.assertEqual(len(plain), len(traced))

    def assert_seen(self, report, allocations, frees):
        """Each call was recorded once, and nothing was lost."""
        seen = report["coverage"]
        self.assertEqual((seen["allocations"], seen["frees"]), (allocations, frees))
        self.assertEqual((seen["unmatched_frees"], seen["missed_frees"], seen["lost_events"]), (0, 0, 0))
        self.assertEqual((seen["undefined_events"], seen["damaged_chunks"], seen["truncated"]), (0, 0, False))

    def assert_leak(self, leak, source, mark, function=None, **facts):
        """The leak is at the marked line and has these facts (bytes, blocks, api, kind, ...)."""
        top = leak["stack"][0]
        self.assertEqual((pathlib.Path(top["file"] or "?").name, top["line"]), (source, line_of(source, mark)))
        if function:
            self.assertIn(function, top["function"])
        self.assertEqual({name: leak[name] for name in facts}, facts)

    def leak_at(self, report, source, mark):
        """The one leak whose top frame is the marked line."""
        line = line_of(source, mark)
        found = [leak for leak in report["leaks"]
                 if leak["stack"] and (pathlib.Path(leak["stack"][0]["file"] or "?").name, leak["stack"][0]["line"])
                 == (source, line)]
        self.assertEqual(len(found), 1, report["leaks"])
        return found[0]
