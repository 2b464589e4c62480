# tests/e2e/frameworks/nvtx_memory_test.py — heaps and regions that a program's own allocators tell
# of by NVTX.
import unittest

from framework import PROGRAMS, VRAMSCOPE, EndToEndTest, line_of

MIB = 1 << 20
SOURCE = "nvtx_heaps.cu"


@unittest.skipUnless((PROGRAMS / "nvtx_heaps").exists(), "NVTX's memory extension comes with CUDA 13")
class NvtxMemoryTest(EndToEndTest):
    def check(self, report):
        found = {(leak["api"], leak["bytes"], leak["blocks"], leak["memory"]) for leak in report["leaks"]}
        self.assertEqual(found, {("activations", 3 * MIB, 1, "suballocated"), ("activations", 2 * MIB, 1, "suballocated")})
        lines = {frame["line"] for leak in report["leaks"] for frame in leak["stack"]}
        self.assertLessEqual({line_of(SOURCE, "lost"), line_of(SOURCE, "grown")}, lines)
        self.assertEqual({leak["bytes"]: leak.get("names") for leak in report["leaks"]},
                         {3 * MIB: ["keys and values"], 2 * MIB: ["growing"]})
        self.assertEqual({leak["device"] for leak in report["leaks"]}, {0})
        self.assertEqual(report["coverage"]["lost_events"], 0)
        self.assertEqual(report["coverage"]["unmatched_frees"], 0)

    def test_regions_that_end_nowhere_are_the_leaks(self):
        self.check(self.trace("nvtx_heaps"))

    def test_a_name_is_in_the_text(self):
        self.trace("nvtx_heaps")
        text = self.execute(VRAMSCOPE, "leaks", *self.logs()).stdout
        self.assertIn('named "keys and values"', " ".join(text.split()))

    def test_those_of_a_heap_end_with_it(self):
        for how in ("unregister", "reset"):
            with self.subTest(how):
                self.check(self.trace("nvtx_heaps", how))
                for log in self.logs():
                    log.unlink()

    def test_each_heap_is_an_allocator_by_its_name(self):
        memory = self.trace("nvtx_heaps")["processes"][0]["device_memory"][0]
        peaks = {row["name"]: row["allocated_bytes"]["peak"] for row in memory["allocators"]}
        self.assertEqual(peaks, {"activations": 6 * MIB, "scratch": 2 * MIB, "kept": 2 * MIB})

    def test_doctor_says_how_often_each_was_heard(self):
        self.trace("nvtx_heaps")
        lines = self.execute(VRAMSCOPE, "doctor", *self.logs()).stdout.splitlines()
        self.assertIn("ok    scratch: its allocator is heard, of blocks handed out 2 times, taken back 0 times", lines)

    def test_the_program_runs_without_us(self):
        self.assertEqual(self.plain("nvtx_heaps").returncode, 0)


if __name__ == "__main__":
    unittest.main()
