# tests/e2e/frameworks/framework.py — what the tests of this folder take of e2e: Python, and what
# lies above the driver.
import functools
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from e2e import (BUILD, GPU, PRELOAD, PROGRAMS, SIMGPU, SOURCE, VRAMSCOPE, EndToEndTest, line_of,  # noqa: E402, F401
                 simulated_only)

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vramscope"
PYTHON_ROOT = pathlib.Path(os.environ.get("VRAMSCOPE_PYTHON_ROOT") or CACHE / "python-root")  # scripts/python-root
PYTHON_VERSIONS = [(3, minor) for minor in range(8, 16)]


def version_of(python):
    answer = subprocess.run([python, "-c", "import sys, ctypes; print(*sys.version_info[:2])"], capture_output=True,
                            text=True)
    return tuple(map(int, answer.stdout.split())) if answer.returncode == 0 else None


@functools.cache
def pythons():
    """{version: interpreters}: this one, those of VRAMSCOPE_PYTHONS (`:` between them), of /usr/bin and of pyenv; of
    scripts/python-root what is not among these."""
    candidates = [sys.executable, *filter(None, os.environ.get("VRAMSCOPE_PYTHONS", "").split(":"))]
    candidates += pathlib.Path("/usr/bin").glob("python3.*[0-9]")
    candidates += pathlib.Path.home().glob(".pyenv/versions/3.*/bin/python3.*[0-9]")
    found = {}
    for python in dict.fromkeys(os.path.realpath(candidate) for candidate in candidates):
        found.setdefault(version_of(python), []).append(python)
    for python in map(str, PYTHON_ROOT.glob("python3.*[0-9]")):
        found.setdefault(version_of(python), [python])
    return found


def on_each_python(test):
    """A test that takes an interpreter; what of its log is left is not the next one's."""
    @functools.wraps(test)
    def run(self):
        for version in PYTHON_VERSIONS:
            for python in pythons().get(version, [None]):
                with self.subTest(python=python or version):
                    if python is None:
                        self.skipTest("Python %d.%d is not here" % version)
                    test(self, python)
                for log in self.logs():
                    log.unlink()
    return run
