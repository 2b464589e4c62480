# tests/e2e/phases_test.py — phases named by NVTX and by vramscope.h, and the names of threads.
import unittest

from e2e import EndToEndTest, line_of


class PhasesTest(EndToEndTest):
    def phases(self, how):
        report = self.trace("phases", how)
        by_line = {}
        for leak in report["leaks"]:
            by_line[leak["stack"][1]["line"]] = leak
        return by_line

    def phase_at(self, leaks, mark):
        return leaks[line_of("phases.cpp", mark)]["phase"]

    def test_nvtx(self):
        leaks = self.phases("nvtx")
        self.assertEqual(self.phase_at(leaks, "nvtx_first"), "before CUDA")
        self.assertEqual(self.phase_at(leaks, "nvtx_nested"), "before CUDA/wide")
        self.assertEqual(self.phase_at(leaks, "nvtx_thread"), "load")
        self.assertEqual(self.phase_at(leaks, "nvtx_domain"), "registered")
        self.assertEqual(self.phase_at(leaks, "nvtx_after"), None)
        self.assertEqual(self.phase_at(leaks, "nvtx_cccl"), "own")
        self.assertEqual(self.phase_at(leaks, "nvtx_after_cccl"), "own")
        thread = leaks[line_of("phases.cpp", "nvtx_thread")]["threads"]
        self.assertEqual([each["name"] for each in thread], ["loader"])

    def test_header(self):
        leaks = self.phases("header")
        self.assertEqual(self.phase_at(leaks, "header_nested"), "epoch/step")
        self.assertEqual(self.phase_at(leaks, "header_outer"), "epoch")
        self.assertEqual(self.phase_at(leaks, "header_after"), None)

    def test_the_header_needs_no_tracer(self):
        self.assertEqual(self.plain("phases", "header").returncode, 0)
        self.assertEqual(self.plain("phases", "nvtx").returncode, 0)


if __name__ == "__main__":
    unittest.main()
