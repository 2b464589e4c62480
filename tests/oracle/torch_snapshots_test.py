#!/usr/bin/env python3
# tests/oracle/torch_snapshots_test.py — recordings of real programs: PyTorch's own reader and ours say the same of them.
#
# VRAMSCOPE_TORCH_SNAPSHOTS names a folder of *.pickle; they are not in the repository. Where VRAMSCOPE_TORCH_ROOT has
# PyTorch (scripts/torch-root), of any number of versions, each _memory_viz.py reads what is exported too.
import collections
import os
import pathlib
import runpy
import sys

from oracle import NOT_HERE, VRAMSCOPE, OracleTest
from torch_snapshots import LogOfASnapshot, events_of, expect_same, expect_same_snapshot, load

FOLDER = os.environ.get("VRAMSCOPE_TORCH_SNAPSHOTS")
VIZ = sorted(pathlib.Path(os.environ.get("VRAMSCOPE_TORCH_ROOT", "/nowhere")).glob("**/torch/cuda/_memory_viz.py"))
VIEWS = ("report", "leaks", "peak", "timeline", "frag", "churn")
FORMATS = ("heaptrack", "pprof", "speedscope", "folded", "trace", "sanitizer", "csv", "openmetrics")


def sums(flame_graph):
    """Bytes by what is outermost, a stream or a segment, and state: a log does not keep the frames of what recorded a stack."""
    counts = collections.Counter()
    for line in flame_graph.splitlines():
        stack, _, size = line.rpartition(" ")
        frames = stack.split(";")
        counts[frames[0], next(frame for frame in frames if frame in STATES)] += int(size)
    return counts


def as_of_2_0(snapshot):
    """With what PyTorch 2.0 wrote in place of the frames and the requested size of a block."""
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] != "inactive":
                block.setdefault("history", [{"addr": block["address"], "real_size": block["requested_size"],
                                              "frames": block["frames"]}])
    return snapshot


STATES = ("active_allocated", "active_pending_free", "inactive", "<gaps>")
# What _memory_viz.py says of a snapshot. A page for a browser is only made.
SAYS = {
    "segsum": lambda viz, snapshot: viz["segsum"](snapshot),
    "trace": lambda viz, snapshot: [line for line in viz["trace"](snapshot).splitlines() if not line.startswith("{'action'")],
    "memory": lambda viz, snapshot: sums(viz["memory"](snapshot, format_flamegraph=str)),
    "segments": lambda viz, snapshot: sums(viz["segments"](snapshot, format_flamegraph=str)),
    "trace_plot": lambda viz, snapshot: len(viz["trace_plot"](snapshot)) > 0,
    "segment_plot": lambda viz, snapshot: len(viz["segment_plot"](snapshot)) > 0,
}


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
        generations = [runpy.run_path(str(viz)) for viz in VIZ]
        as_of_2_0(snapshot)
        for viz, tools in zip(VIZ, generations):
            for name, says in SAYS.items():
                if name in tools:
                    self.assertEqual(says(tools, again), says(tools, snapshot), f"{viz}: {name}")
        self.assertLessEqual(len({tools["segsum"](again) for tools in generations}), 1, "the totals of each generation")


if __name__ == "__main__":
    if not FOLDER:
        print("SKIPPED: VRAMSCOPE_TORCH_SNAPSHOTS names no folder of recordings")
        sys.exit(NOT_HERE)
    import unittest
    unittest.main()
