# tests/e2e/frameworks/frameworks_test.py — blocks that a caching allocator with PyTorch's manners
# cuts from what the driver gave it.
import unittest

from framework import PROGRAMS, VRAMSCOPE, EndToEndTest, line_of, simulated_only

MIB = 1 << 20
ALLOCATOR = PROGRAMS / "libtorch_allocator.so"
OTHER_COUNTS = PROGRAMS / "libtorch_allocator_other_counts.so"


class CachingAllocator(EndToEndTest):
    """tests/programs/frameworks: two libraries of ours with libc10's names."""

    def scene(self, name, verdict, allocator=ALLOCATOR, **env):
        """The report of a run that prints what it prints alone."""
        plain = self.plain("torch_program", allocator, name)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        report = self.trace("torch_program", allocator, name, **env)
        self.assertEqual(*(text.rpartition(" peak ")[0] for text in (self.stdout, plain.stdout)))  # threads vary it
        self.assertEqual(report["verdict"], verdict)
        self.counted = dict(zip(("allocated", "reserved", "active", "peak"), map(int, self.stdout.split()[-7::2])))
        [process] = report["processes"]
        [self.device] = process["device_memory"]
        for moment in ("at_peak", "at_reserved_peak", "at_end"):
            self.assert_adds_up(self.device[moment]["waterfall"])
        for moment in ("at_peak", "at_end"):
            parts = self.device[moment]["waterfall"]
            self.assertEqual(sum(row["bytes"] for row in self.device[f"holders_{moment}"]),
                             parts["reserved"] if parts["device_used"] is None else parts["device_used"])
        return report

    def assert_adds_up(self, parts):
        self.assertEqual(parts["reserved"], sum(parts[name] for name in
                                                ("releasable", "stuck", "pending", "kept", "allocated")))

    def assert_counts(self):
        """The log's sums at the end are the allocator's."""
        [torch] = self.device["allocators"]
        self.assertEqual(torch["name"], "PyTorch")
        for name in ("allocated", "reserved", "active"):
            self.assertEqual(torch[f"{name}_bytes"]["current"], self.counted[name], name)
        self.assertEqual(torch["active_bytes"]["peak"], self.counted["peak"])
        return torch

    def test_a_program_that_ends_with_its_cache_is_clean(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool):
                report = self.scene("cache_alone", "clean", VRAMSCOPE_POOL=pool)
                self.assert_counts()
                parts = self.device["at_end"]["waterfall"]
                self.assertEqual((parts["kept"], parts["requested"]), (self.counted["reserved"], 0))
                self.assertEqual(report["totals"]["allocations"], 5)
                self.assertEqual(report["totals"]["frees"], 5)

    def test_leaks_are_blocks_at_their_lines(self):
        for pool in ("off", "cache"):
            with self.subTest(pool):
                report = self.scene("leak", "leaks", VRAMSCOPE_POOL=pool)
                self.assert_counts()
                [leak] = report["leaks"]
                self.assertEqual((leak["memory"], leak["api"], leak["bytes"], leak["blocks"]),
                                 ("suballocated", "PyTorch", 3 * MIB, 3))
                self.assertIn(line_of("torch_program.cpp", "loss"), [frame["line"] for frame in leak["stack"]])

    def test_what_is_not_the_allocators_leaks_beside(self):
        report = self.scene("leak_beside", "leaks", VRAMSCOPE_POOL="off")
        self.assertEqual(sorted((leak["api"], leak["bytes"]) for leak in report["leaks"]),
                         [("PyTorch", 3 * MIB), ("cuMemAlloc", 5 * MIB)])
        parts = self.device["at_end"]["waterfall"]
        self.assertEqual(parts["reserved"], self.counted["reserved"] + 5 * MIB)
        self.assertEqual(parts["requested"], self.counted["allocated"] + 5 * MIB)

    def test_what_another_library_has_is_told_by_its_module(self):
        for pool in ("off", "split"):
            with self.subTest(pool):
                self.scene("leak_in_plugin", "leaks", VRAMSCOPE_POOL=pool)
                held = {(row["kind"], row["name"]): row["bytes"] for row in self.device["holders_at_end"]}
                self.assertEqual(held["blocks", "PyTorch"], self.counted["allocated"])
                self.assertEqual(held["cache", "PyTorch"], self.counted["reserved"] - self.counted["allocated"])
                self.assertEqual(held["module", "libplugin_linked.so"], 3000)

    def test_the_peak_is_that_of_the_blocks(self):
        report = self.scene("grow", "leaks", VRAMSCOPE_POOL="off")
        self.assert_counts()
        self.assertEqual(report["totals"]["peak_device_bytes"], 103 * MIB)
        self.assertEqual(self.device["peak"]["bytes"], 103 * MIB)
        self.assertEqual({row["memory"] for row in self.device["peak"]["stacks"]}, {"suballocated"})
        [growth] = report["growth"]
        self.assertIn(line_of("torch_program.cpp", "loss"), [frame["line"] for frame in growth["stack"]])

    def test_what_is_given_back_is_gone(self):
        self.scene("give_back", "clean")
        self.assert_counts()

    def test_what_another_stream_still_uses_is_active(self):
        for scene, active, verdict in (("use_elsewhere", 12 * MIB, "clean"), ("use_elsewhere_and_empty", 0, "clean"),
                                       ("use_elsewhere_for_a_while", 2 * MIB, "leaks")):
            for pool in ("off", "cache"):
                with self.subTest(scene, pool=pool):
                    self.scene(scene, verdict, VRAMSCOPE_POOL=pool)
                    self.assertEqual(self.counted["active"], active)
                    torch = self.assert_counts()
                    self.assertLessEqual(torch["allocated_bytes"]["current"], 2 * MIB)
        self.assertIn("allocated, 14 MiB active and", self.execute(VRAMSCOPE, "report", *self.logs()).stdout)

    def test_active_bytes_that_lie_elsewhere_are_not_known(self):
        report = self.scene("use_elsewhere", "clean", OTHER_COUNTS)
        self.assertEqual(self.device["allocators"][0]["active_bytes"], None)
        self.assertIn("PyTorch's active bytes are not known: its counters are not where they are looked for", report["notices"])

    @simulated_only
    def test_out_of_memory(self):
        report = self.scene("run_out", "leaks", VRAMSCOPE_POOL="off")
        [shortage] = report["out_of_memory"]
        self.assertEqual((shortage["api"], shortage["requested_bytes"], shortage["verdict"]),
                         ("PyTorch", 64 * MIB, "lacking"))
        for name in ("allocated", "reserved"):
            self.assertEqual(shortage[f"{name}_bytes"], self.counted[name])
        self.assertEqual(shortage["free_bytes"] + shortage["reserved_bytes"], 256 * MIB)
        self.assertEqual(shortage["largest_gap"], self.counted["reserved"] - self.counted["allocated"])
        self.assertIn(line_of("torch_program.cpp", "short"), [frame["line"] for frame in shortage["stack"]])
        self.assertEqual(shortage["owners"][0]["bytes"], 11 * 18 * MIB)
        self.assertIn(line_of("torch_program.cpp", "batch"),
                      [frame["line"] for frame in shortage["owners"][0]["stack"]])

    @simulated_only
    def test_a_refusal_that_was_mended_is_a_retry(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool):
                report = self.scene("retry", "leaks", VRAMSCOPE_POOL=pool)
                self.assertEqual(report["out_of_memory"], [])
                self.assertEqual(report["failed_calls"], [])
                [torch] = self.device["allocators"]
                self.assertEqual(torch["num_alloc_retries"], 1)
                [place] = torch["retried_at"]
                self.assertEqual((place["retries"], place["most_requested_bytes"]), (1, 64 * MIB))
                self.assertIn(line_of("torch_program.cpp", "retried"), [frame["line"] for frame in place["stack"]])
                self.assertIn("asked again once", self.execute(VRAMSCOPE, "report", *self.logs()).stdout)

    @simulated_only
    def test_a_refusal_of_another_librarys_stays(self):
        report = self.scene("run_out_beside", "leaks", VRAMSCOPE_POOL="off")
        [shortage] = report["out_of_memory"]
        self.assertEqual((shortage["api"], shortage["requested_bytes"]), ("cuMemAlloc", 300 * MIB))
        self.assertEqual(self.device["allocators"][0]["num_alloc_retries"], 1)

    def test_a_context_takes_its_blocks_along(self):
        report = self.trace("torch_program", ALLOCATOR, "reset", VRAMSCOPE_POOL="off")
        [leak] = report["leaks"]
        self.assertEqual((leak["kind"], leak["bytes"]), ("leaked-at-reset", MIB))
        [device] = report["processes"][0]["device_memory"]
        self.assertEqual(device["at_end"]["waterfall"]["reserved"], 0)

    def test_threads(self):
        report = self.scene("from_threads", "clean")
        self.assert_counts()
        self.assertEqual(report["totals"]["allocations"], 800)

    def test_a_worker_has_no_log_of_its_own(self):
        self.scene("worker", "clean")
        self.assertEqual(len(self.logs()), 1)

    def test_blocks_of_host_memory_are_left_alone(self):
        self.assertEqual(self.scene("on_host", "clean")["totals"]["allocations"], 5)


if __name__ == "__main__":
    unittest.main()
