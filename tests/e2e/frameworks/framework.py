# tests/e2e/frameworks/framework.py — what the tests of this folder take of e2e: Python, and what lies above the driver.
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from e2e import (BUILD, GPU, PRELOAD, PROGRAMS, SIMGPU, SOURCE, VRAMSCOPE, EndToEndTest, line_of,  # noqa: E402, F401
                 simulated_only)
