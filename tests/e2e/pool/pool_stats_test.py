# tests/e2e/pool/pool_stats_test.py — the pool's numbers as a C program
# gets them through vramscope.h.
import unittest

from pool import PoolTest, VRAMSCOPE

MIB = 1 << 20
NOTHING = "allocated 0/0 requested 0 reserved 0/0 segments 0 blocks 0/0 device calls 0+0"


class PoolStatsTest(PoolTest):
    def assert_nothing(self, text, version, surroundings):
        lines = text.splitlines()
        of_pools = [line for line in lines if " requested " in line]
        self.assertEqual(len(of_pools), 7, text)
        for line in of_pools:
            self.assertEqual(line.split(": ")[1], f"-1 {NOTHING}", line)
        self.assertEqual([line for line in lines if line not in of_pools],
                         [f"version {version}", "nothing: device -1 headroom unknown", f"surroundings: {surroundings}",
                          "newer: allocated 0 later 0", "older: allocated 0 untouched 1", "given back -1",
                          "given back -1", "taken: -1 allocated 0/0", "taken again: -1 allocated 0/0"])

    def test_without_vramscope_there_is_nothing(self):
        self.assert_nothing(self.plain("pool_stats").stdout, "none", "device -1 headroom unknown")

    def test_without_a_pool_there_is_the_driver(self):
        report = self.trace("pool_stats", VRAMSCOPE_POOL="off")
        self.assert_nothing(self.stdout, self.version(), "device 0 headroom as cuMemGetInfo")
        self.assert_seen(report, allocations=3, frees=3)

    def test_headroom_counts_what_is_cached_within_the_limit(self):
        for mode in ("cache", "split", "off"):
            self.trace("pool_stats", VRAMSCOPE_POOL=mode, VRAMSCOPE_LIMIT="64MiB")
            self.assertIn("\nsurroundings: device 0 headroom as cuMemGetInfo\n", self.stdout)

    def version(self):
        return self.execute(VRAMSCOPE, "--version").stdout.split()[-1]

    def numbers(self, mode):
        """{moment: the line}, and the lines that are none of a moment."""
        out, self.report = self.in_mode("pool_stats", "", mode)
        pairs = [line.partition(": ")[::2] for line in out.splitlines()]
        return dict(pairs), self.report

    def assert_replayed(self, report, **wanted):
        """What the report makes of the log is what the program was told."""
        stats = report["processes"][0]["pool"]["devices"][0]["memory_stats"]
        keys = {"allocated": "allocated_bytes.all.peak", "reserved": "reserved_bytes.all.peak", "blocks": "allocation.all.allocated",
                "segments": "segment.all.peak", "calls": "num_device_alloc", "frees": "num_device_free"}
        self.assertEqual({name: stats[keys[name]] for name in wanted}, wanted)
        self.assertEqual(stats["allocated_bytes.all.current"], 0)

    def test_cache(self):
        shown, report = self.numbers("cache")
        self.assertEqual(shown[f"version {self.version()}"], "")
        self.assertEqual(shown["before CUDA"], f"-1 {NOTHING}")
        self.assertEqual(shown["no such device"], f"-1 {NOTHING}")
        twelve, eight, four = 12 * MIB, 8 * MIB, 4 * MIB
        self.assertEqual(shown["three"], f"0 allocated {twelve}/{twelve} requested {twelve} reserved {twelve}/{twelve} segments 3 "
                         "blocks 3/3 device calls 3+0")
        self.assertEqual(shown["two freed"], f"0 allocated {four}/{twelve} requested {four} reserved {twelve}/{twelve} segments 3 "
                         "blocks 1/3 device calls 3+0")
        self.assertEqual(shown["all devices"], shown["two freed"])
        self.assertEqual(shown["peak reset"], f"0 allocated {four}/{four} requested {four} reserved {twelve}/{twelve} segments 3 "
                         "blocks 1/1 device calls 3+0")
        self.assertEqual((shown["newer"], shown["older"]), (f"allocated {four} later 0", f"allocated {four} untouched 1"))
        self.assertIn(f"given back {eight}", shown)
        self.assertEqual(shown["emptied"], f"0 allocated {four}/{four} requested {four} reserved {four}/{twelve} segments 1 "
                         "blocks 1/1 device calls 3+2")
        self.assertEqual((shown["taken"], shown["taken again"]), (f"0 allocated {four}/{four}", f"0 allocated 0/{four}"))
        self.assertEqual(self.called("cuMemFree_v2"), 2)
        self.assert_clean({"cache": report}, allocations=3)
        self.assert_replayed(report, allocated=twelve, reserved=twelve, blocks=3, segments=3, calls=3, frees=2)

    def test_split(self):
        shown, report = self.numbers("split")
        twelve, twenty, four = 12 * MIB, 20 * MIB, 4 * MIB
        self.assertEqual(shown["three"], f"0 allocated {twelve}/{twelve} requested {twelve} reserved {twenty}/{twenty} segments 1 "
                         "blocks 3/3 device calls 1+0")
        self.assertIn("given back 0", shown)  # a part of the segment is live
        self.assertEqual(shown["emptied"], f"0 allocated {four}/{four} requested {four} reserved {twenty}/{twenty} segments 1 "
                         "blocks 1/1 device calls 1+0")
        self.assert_clean({"split": report}, allocations=3)
        self.assert_replayed(report, allocated=twelve, reserved=twenty, blocks=3, segments=1, calls=1, frees=0)


if __name__ == "__main__":
    unittest.main()
