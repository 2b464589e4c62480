#!/usr/bin/env python3
# tests/oracle/torch_snapshots_test.py — recordings of real programs: PyTorch's own reader and ours say the same of them.
#
# VRAMSCOPE_TORCH_SNAPSHOTS names a folder of *.pickle; they are not in the repository. Where VRAMSCOPE_TORCH_ROOT has a
# PyTorch (scripts/torch-root), its _memory_viz.py reads what is exported too.
import os
import pathlib
import sys

from oracle import NOT_HERE, VRAMSCOPE, OracleTest
from torch_snapshots import LogOfASnapshot, events_of, expect_same, expect_same_snapshot, load

FOLDER = os.environ.get("VRAMSCOPE_TORCH_SNAPSHOTS")
VIZ = next(iter(pathlib.Path(os.environ.get("VRAMSCOPE_TORCH_ROOT", "/nowhere")).glob("**/torch/cuda/_memory_viz.py")), None)
VIEWS = ("report", "leaks", "peak", "timeline", "frag", "churn")
FORMATS = ("heaptrack", "pprof", "speedscope", "folded", "trace", "sanitizer", "csv", "openmetrics")


class RecordingsOfRealPrograms(OracleTest):
    def vramscope(self, *arguments, status=0):
        done = self.execute(VRAMSCOPE, *arguments)
        self.assertEqual((done.returncode, done.stderr), (status, ""), arguments)
        return done.stdout

    def test_are_read_as_they_are_and_given_back_so(self):
        for recording in sorted(pathlib.Path(FOLDER).glob("*.pickle")):
            with self.subTest(recording.name):
                self.check(recording)

    def check(self, recording):
        self.vramscope("import", "-f", recording, "-o", "run.vsl")
        snapshot = load(recording)
        expect_same(self, snapshot, LogOfASnapshot(events_of(self.vramscope("export", "--to", "jsonl", "run.vsl"))))
        self.vramscope("export", "--to", "torch-snapshot", "--all-frames", "-f", "-o", "out.pickle", "run.vsl")
        again = load(self.folder / "out.pickle")
        expect_same_snapshot(self, snapshot, again)
        for view in VIEWS:
            self.vramscope(view, "run.vsl")
        self.vramscope("check", "run.vsl", status=111)
        self.vramscope("diff", "run.vsl", "run.vsl")
        self.vramscope("report", "--html", "page.html", "-f", "run.vsl")
        for form in FORMATS:
            self.vramscope("export", "--to", form, "-f", "-o", f"out.{form}", "run.vsl")
        if VIZ:
            for what in ("stats", "trace", "segsum"):
                says = [self.execute(sys.executable, VIZ, what, path) for path in (recording, self.folder / "out.pickle")]
                self.assertEqual(says[1].stdout, says[0].stdout, what)
                self.assertEqual(says[1].returncode, says[0].returncode, says[1].stderr)


if __name__ == "__main__":
    if not FOLDER:
        print("SKIPPED: VRAMSCOPE_TORCH_SNAPSHOTS names no folder of recordings")
        sys.exit(NOT_HERE)
    import unittest
    unittest.main()
