#!/usr/bin/env python3
# tests/tools/round_trip_test.py — a log that was exported to PyTorch's format and imported again
# has the same numbers.
#
# Programs of the corpus, which were built by nvcc, under each pool. The format has device memory
# alone: of a program's other memory, and of what its calls took, nothing is compared.
from cli import BUILD, CliTest
from torch_snapshots import expect_same_snapshot, load

CORPUS = BUILD / "bin" / "corpus"
# Blocks of all sizes, of several streams, threads and devices; arrays, pitched, stream-ordered and
# mapped memory.
RUNS = [("--pool", "off"), ("--pool", "cache"), ("--pool", "split")]
PROGRAMS = ["frag_checkerboard", "leak_array", "leak_async", "leak_pinned", "leak_pitched", "leak_second_device",
            "leak_threads", "leak_vmm_grows", "oom_fragmented", "trap_stream_order_across_streams"]


HOST = ("pinned", "registered", "managed")


def place_of(row):
    """Frames that have a line: of any other the format has only a name."""
    return tuple((frame["function"], frame["line"]) for frame in row["stack"] if frame["line"])


def sums_by_place(rows):
    sums = {}
    for row in rows:
        size, blocks = sums.get(place_of(row), (0, 0))
        sums[place_of(row)] = size + row["bytes"], blocks + row["blocks"]
    return sums


def numbers_of(report):
    """By device: each sum of its memory, and each stack's part of the peak and of what is left."""
    [process] = report["processes"]
    numbers = {}
    for device in process["device_memory"]:
        parts = {when: device[when]["waterfall"] for when in ("at_peak", "at_reserved_peak", "at_end")}
        left = [row for row in report["leaks"] if row["device"] == device["device"] and row["memory"] not in HOST]
        numbers[device["device"]] = {
            "requested": device["requested_bytes"], "blocks": device["blocks"],
            "at_peak": [parts["at_peak"][part] for part in ("reserved", "requested")],
            "most_reserved": parts["at_reserved_peak"]["reserved"],
            "at_end": [parts["at_end"][part] for part in ("reserved", "requested")],
            "peak": [device["peak"]["bytes"], device["peak"]["blocks"], sums_by_place(device["peak"]["stacks"])],
            "left": sums_by_place(left)}
    return numbers


class RoundTrip(CliTest):
    def numbers(self, log):
        status, _, errors = self.vramscope("report", "--all-frames", "--force", "--json", "report.json", log)
        self.assertEqual(status, 0, errors)
        return numbers_of(self.read_json("report.json"))

    def exported(self, log, name):
        status, _, errors = self.vramscope("export", "--to", "torch-snapshot", "--all-frames", "-f", "-o", name, log)
        self.assertEqual(status, 0, errors)
        return load(self.folder / name)

    def test_keeps_every_number(self):
        blocks = 0
        for program in PROGRAMS:
            for pool in RUNS:
                with self.subTest(program=program, pool=pool[1]):
                    self.vramscope("run", "--simulate", "2x1GiB", *pool, "--force", "-o", "run.vsl", CORPUS / program)
                    snapshot = self.exported("run.vsl", "first.pickle")
                    status, _, errors = self.vramscope("import", "--force", "first.pickle", "-o", "again.vsl")
                    self.assertEqual(status, 0, errors)
                    before, after = self.numbers("run.vsl"), self.numbers("again.vsl")
                    self.assertEqual(after, before)
                    expect_same_snapshot(self, snapshot, self.exported("again.vsl", "second.pickle"), stacks=True, places=False)
                    blocks += sum(device["blocks"]["allocated"] for device in before.values())
        self.assertGreater(blocks, 300)


if __name__ == "__main__":
    import unittest
    unittest.main()
