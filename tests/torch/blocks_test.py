# tests/torch/blocks_test.py — real PyTorch's blocks: each is in the log, none is counted twice, and
# what is lost has its line.
import unittest

from segments_test import EXPANDABLE, STREAM_ORDERED, UNCACHED
from torch_root import PROGRAMS, REAL, TorchTest, main


def line_of(program, mark):
    [line] = [number for number, text in enumerate((PROGRAMS / program).read_text().splitlines(), start=1)
              if text.endswith(f"# MARK {mark}")]
    return line


class Blocks(TorchTest):
    def assert_blocks(self, traced, count):
        """At each moment PyTorch's list of live blocks, and its sums, are the log's."""
        self.assertEqual(len(traced.moments), count)
        [device] = traced.report["processes"][0]["device_memory"]
        marks = {mark["mark"]: mark["waterfall"] for mark in device["at_marks"]}
        for moment in traced.moments:
            with self.subTest(moment["name"]):
                theirs = {block["address"]: block["bytes"] for segment in moment["segments"]
                          for block in segment["blocks"] if block["state"] == "active_allocated"}
                self.assertEqual(moment.blocks("suballocated"), theirs)
                self.assertEqual(moment.live_bytes("suballocated"), moment["allocated"])
                self.assertEqual(moment["allocated"] + moment.pending(), moment["stats"]["active_bytes.all.current"])
                parts = marks[moment["name"]]
                self.assertEqual(parts["kept"], moment["reserved"] - moment["allocated"])
                if not REAL:
                    self.assertEqual((parts["requested"], parts["reserved"]), (moment["allocated"], moment["reserved"]))
        [torch] = device["allocators"]
        for name in ("allocated", "reserved", "active"):
            self.assertEqual(torch[f"{name}_bytes"]["peak"], traced.moments[-1]["stats"][f"{name}_bytes.all.peak"])
        return torch["active_bytes"], traced.moments[-1]["stats"]

    def test_tensors_that_come_and_go(self):
        self.assert_blocks(self.run_both("tensors.py", VRAMSCOPE_POOL="off"), 50)

    def test_tensors_in_expandable_segments(self):
        self.assert_blocks(self.run_both("tensors.py", VRAMSCOPE_POOL="off", **EXPANDABLE), 50)

    def test_what_another_stream_still_uses_is_active(self):
        for mode in ({}, EXPANDABLE):
            with self.subTest(mode):
                traced = self.run_traced("recorded.py", VRAMSCOPE_POOL="off", **mode)  # no two runs take the same time
                self.assert_complete(traced)
                active, stats = self.assert_blocks(traced, 50)
                self.assertEqual(active["allocated"], stats["active_bytes.all.allocated"])
                pending = {moment.pending() for moment in traced.moments}
                self.assertIn(0, pending)
                if not REAL:  # where nothing is queued for long, little is ever pending
                    self.assertGreater(len(pending), 10)

    def test_streams_pools_and_graphs(self):
        self.assert_blocks(self.run_both("streams.py", VRAMSCOPE_POOL="off"), 4)

    def test_other_allocators_cut_nothing(self):
        for mode in (UNCACHED, STREAM_ORDERED):
            with self.subTest(mode):
                report = self.run_both("tensors.py", **mode).report
                self.assertEqual(report["processes"][0]["device_memory"][0]["allocators"], [])


class Leaks(TorchTest):
    def test_each_is_found_at_its_line(self):
        report = self.run_traced("leaks.py").report  # it ends by _exit
        self.assertEqual(report["verdict"], "leaks")
        found = {(frame["file"].rpartition("/")[2], frame["line"]): leak["blocks"] for leak in report["leaks"]
                 for frame in leak["stack"][:1] if frame["file"]}
        for mark, blocks in (("loss", 30), ("exception", 1), ("cache", 20), ("hook", 10)):
            self.assertEqual(found.pop(("leaks.py", line_of("leaks.py", mark)), 0), blocks, f"{mark}: {found}")
        self.assertEqual(found, {})

    def test_a_program_that_gives_its_tensors_back_is_clean(self):
        report = self.run_both("clean.py").report
        self.assertEqual(report["verdict"], "clean", report["leaks"])
        if not REAL:  # cuBLAS's workspace, which PyTorch keeps
            self.assertEqual([leak["blocks"] for leak in report["suppressed"]], [1])

    @unittest.skipIf(REAL, "needs the stand-ins")
    def test_what_is_not_pytorchs_is_told_by_module(self):
        report = self.run_both("clean.py", VRAMSCOPE_POOL="off", STAND_IN_CUBLAS_BYTES="12345678").report
        self.assertEqual(report["verdict"], "clean", report["leaks"])
        [device] = report["processes"][0]["device_memory"]
        [torch] = device["allocators"]
        workspace = torch["allocated_bytes"]["current"]
        held = [(row["kind"], row["name"], row["library"], row["bytes"]) for row in device["holders_at_end"]]
        handles = 2  # the backward pass has a thread of its own
        self.assertEqual(held[:3], [("blocks", "PyTorch", "cuBLAS", workspace),
                                    ("cache", "PyTorch", None, torch["reserved_bytes"]["current"] - workspace),
                                    ("module", "libcublas.so.12", "cuBLAS", handles * 12345678)])
        for moment in ("at_peak", "at_end"):
            parts = device[moment]["waterfall"]
            self.assertEqual(sum(row["bytes"] for row in device[f"holders_{moment}"]),
                             parts["reserved"] if parts["device_used"] is None else parts["device_used"])


class OutOfMemory(TorchTest):
    def test_it_is_pytorchs_with_its_line_and_its_owners(self):
        for mode in ({}, EXPANDABLE):
            with self.subTest(mode):
                traced = self.run_both("shortage.py", VRAMSCOPE_POOL="off", **mode)
                [shortage] = traced.report["out_of_memory"]  # another refusal was mended
                self.assertEqual((shortage["api"], shortage["verdict"]), ("PyTorch", "lacking"))
                if not REAL:
                    self.assertEqual(shortage["requested_bytes"] - shortage["total_bytes"], 1 << 30)
                    self.assertIn(f"free {shortage['free_bytes']}\n", traced.done.stdout)
                self.assertEqual(shortage["stack"][0]["line"], line_of("shortage.py", "short"))
                self.assertEqual(shortage["owners"][0]["stack"][0]["line"], line_of("shortage.py", "kept"))
                peak = max(moment["stats"]["allocated_bytes.all.peak"] for moment in traced.moments)
                self.assertEqual(traced.report["summary"]["peak_bytes"], peak)

    def test_what_was_refused_and_then_granted_is_a_retry(self):
        for mode in ({"VRAMSCOPE_POOL": "split"}, {"VRAMSCOPE_POOL": "off"}, {"VRAMSCOPE_POOL": "off", **EXPANDABLE}):
            with self.subTest(mode):
                traced = self.run_both("retries.py", **mode)
                stats = traced.moments[-1]["stats"]
                self.assertEqual((stats["num_alloc_retries"], stats["num_ooms"]), (7, 1))
                [shortage] = traced.report["out_of_memory"]
                self.assertEqual((shortage["api"], shortage["retries"]), ("PyTorch", 4))
                told = sum(row["calls"] for row in traced.report["failed_calls"])
                self.assertEqual(traced.report["coverage"]["failed_calls"] - told, 6, "what was mended is no failed call")
                [device] = traced.report["processes"][0]["device_memory"]
                [torch] = device["allocators"]
                self.assertEqual(torch["num_alloc_retries"], 7)
                lines = {place["stack"][0]["line"] for place in torch["retried_at"]}
                self.assertEqual(lines, {line_of("retries.py", "taken")})


if __name__ == "__main__":
    main()
