# tests/stress/soak_test.py — seconds of calls of all kinds (tests/programs/memory/soak.cpp): the program does what it does
# alone, its memory does not grow, and the report has the counts that it kept itself.
#
# VRAMSCOPE_BUILD names the build folder; ctest sets it. VRAMSCOPE_SOAK_SECONDS: 3 in each mode unless told;
# VRAMSCOPE_SOAK_MODES: some of them; VRAMSCOPE_SOAK_RATE: calls a second in each of four threads;
# VRAMSCOPE_SOAK_OPTIONS: of vramscope run, as "--bounded 8MiB".
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from program_test import BUILD, PROGRAMS, VRAMSCOPE, ProgramTest  # noqa: E402

SECONDS = int(os.environ.get("VRAMSCOPE_SOAK_SECONDS", "3"))
MODES = os.environ.get("VRAMSCOPE_SOAK_MODES", "off,cache,split").split(",")
RATE = int(os.environ.get("VRAMSCOPE_SOAK_RATE", "10000"))
OPTIONS = os.environ.get("VRAMSCOPE_SOAK_OPTIONS", "").split()
ROUGHLY_STEADY = 1.1  # of the resident bytes


class SoakTest(ProgramTest):
    def run_traced(self, mode):
        """The program's lines of counts; its log is soak.vsl."""
        command = [VRAMSCOPE, "run", "--simulate", "1GiB", "-f", "-o", self.folder / "soak.vsl", "--pool", mode, *OPTIONS, "--",
                   PROGRAMS / "soak", SECONDS, RATE]
        done = subprocess.run([str(part) for part in command], cwd=self.folder, capture_output=True, text=True,
                              timeout=120 + 2 * SECONDS, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        # A collector to which a loaded machine gives no time says what the log needs meanwhile.
        warnings = [line for line in done.stderr.splitlines() if "warning:" in line and "--bounded: what" not in line]
        self.assertEqual(warnings, [])
        lines = [line for line in done.stdout.splitlines() if line.startswith("allocations=")]
        return [{name: int(value) for name, value in (pair.split("=") for pair in line.split())} for line in lines]

    def report(self):
        done = subprocess.run([VRAMSCOPE, "report", "--json", "-", "soak.vsl"], cwd=self.folder, capture_output=True, text=True,
                              timeout=600, env=self.environment())
        return json.loads(done.stdout)

    def test_each_mode(self):
        for mode in MODES:
            with self.subTest(mode):
                said = self.run_traced(mode)
                found, end = self.report(), said[-1]
                print(f"{mode}: {end}, {512 * (self.folder / 'soak.vsl').stat().st_blocks} bytes of log", file=sys.stderr)
                self.assertGreater(end["frees"], SECONDS * RATE // 10)
                totals = found["totals"]
                self.assertEqual((totals["allocations"], totals["frees"]), (end["allocations"], end["frees"]))
                self.assertEqual((totals["leaked_blocks"], totals["leaked_bytes"]), (end["kept"], end["kept_bytes"]))
                self.assertEqual(([leak["blocks"] for leak in found["leaks"]], found["verdict"]), ([end["kept"]], "leaks"))
                self.assertEqual([found["summary"][name] for name in ("lost_events", "wrong_frees", "damaged_blocks", "failed_calls")],
                                 [0] * 4)
                self.assert_steady(said)

    def assert_steady(self, said):
        """From a third of the time on; short runs end before that."""
        later = [counts["resident"] for counts in said[len(said) // 3:]]
        if len(later) > 3:
            self.assertLess(later[-1], ROUGHLY_STEADY * later[0], said)


if __name__ == "__main__":
    unittest.main()
