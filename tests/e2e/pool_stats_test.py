# tests/e2e/pool_stats_test.py — the pool's numbers as a C program gets them through vramscope.h.
import unittest

from e2e import EndToEndTest

MIB = 1 << 20
NOTHING = "allocated 0/0 requested 0 reserved 0/0 segments 0 blocks 0/0 device calls 0+0"


class PoolStatsTest(EndToEndTest):
    def assert_nothing(self, text):
        lines = text.splitlines()
        for line in lines[:6] + lines[9:10]:
            self.assertEqual(line.split(": ")[1], f"-1 {NOTHING}", line)
        self.assertEqual(lines[6:9] + lines[10:], ["newer: allocated 0 later 0", "older: allocated 0 untouched 1", "given back -1",
                                                   "given back -1"])

    def test_without_vramscope_there_is_nothing(self):
        self.assert_nothing(self.plain("pool_stats").stdout)

    def test_without_a_pool_there_is_nothing(self):
        report = self.trace("pool_stats", VRAMSCOPE_POOL="off")
        self.assert_nothing(self.stdout)
        self.assert_seen(report, allocations=3, frees=3)


if __name__ == "__main__":
    unittest.main()
