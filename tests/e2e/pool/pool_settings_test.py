# tests/e2e/pool/pool_settings_test.py — wrong and vain settings are told in a line and change
# nothing; what the pool did is in the log.
import unittest

from pool import KNOBS, PoolTest

MIB = 1 << 20
PROGRAM = "pool_memory"


class PoolSettingsTest(PoolTest):
    def told(self, **env):
        """What a preloaded program says more than alone, which prints the same."""
        done = self.preloaded(PROGRAM, "churn", VRAMSCOPE_LOG="%p.vsl", **env)
        self.assertEqual((done.returncode, done.stdout), (0, "done\n"), done.stderr)
        return done.stderr

    def test_a_wrong_value_is_told_with_the_valid_ones(self):
        for name, value, valid in (("POOL", "cached", "cache, split or off"), ("POOL_SYNC", "never", "lazy or strict"),
                                   ("MAX_SPLIT_SIZE_MB", "8", "a number of at least 20"),
                                   ("ROUNDUP_POWER2_DIVISIONS", "3", "a power of 2 up to 128"),
                                   ("GARBAGE_COLLECTION_THRESHOLD", "2", "a number between 0 and 1"),
                                   ("PER_PROCESS_MEMORY_FRACTION", "all", "a number above 0 and up to 1"),
                                   ("LIMIT", "8", "a size of at least 1MiB"), ("MAX_CACHED", "-1", "a size such as"),
                                   ("POISON", "on", "a byte from 0x00 to 0xff"), ("GUARD", "yes", "on or off")):
            with self.subTest(name):
                line = self.told(VRAMSCOPE_POOL="split") if name == "POOL" else ""
                self.assertEqual(line, "")
                line = self.told(**{"VRAMSCOPE_POOL": "split", f"VRAMSCOPE_{name}": value})
                self.assertTrue(line.startswith(f"vramscope: VRAMSCOPE_{name}={value} is not valid: use {valid}"), line)
                self.assertEqual(line.count("\n"), 1, line)

    def test_what_is_set_in_vain_is_told(self):
        self.assertEqual(self.told(VRAMSCOPE_POOL="cache", VRAMSCOPE_GUARD="on", VRAMSCOPE_MAX_SPLIT_SIZE_MB="20"),
                         "vramscope: VRAMSCOPE_MAX_SPLIT_SIZE_MB, VRAMSCOPE_GUARD: no effect with VRAMSCOPE_POOL=cache\n")
        self.assertEqual(self.told(VRAMSCOPE_POOL="off", VRAMSCOPE_POISON="0xA5"),
                         "vramscope: VRAMSCOPE_POISON: no effect with VRAMSCOPE_POOL=off\n")

    def test_the_log_says_how_the_pool_was_set(self):
        _, report = self.in_mode(PROGRAM, "churn", "split", max_cached="64MiB", sync="strict", limit="200MiB")
        pool = report["processes"][0]["pool"]
        self.assertEqual((pool["mode"], pool["settings"]), ("split", {"sync": "strict", "wait_from": "0", "limit": "200MiB",
                                                                     "max_cached": "64MiB"}))
        _, report = self.in_mode(PROGRAM, "churn", "off")
        self.assertEqual((report["processes"][0]["pool"]["mode"], report["processes"][0]["pool"]["known"]), ("off", False))

    def stats(self, scene, mode, **knobs):
        _, report = self.in_mode(PROGRAM, scene, mode, **knobs)
        device, = report["processes"][0]["pool"]["devices"]
        return report, device["memory_stats"]

    def test_segments_and_blocks_are_in_the_log(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                report, stats = self.stats("churn", mode)
                self.assertEqual((stats["allocation.all.allocated"], stats["segment.all.allocated"], stats["num_device_alloc"]), (18, 6, 6))
                self.assertEqual((stats["reserved_bytes.all.current"], stats["allocated_bytes.all.peak"]), (72 * MIB, 72 * MIB))
                self.assertEqual((stats["allocated_bytes.all.current"], stats["num_device_free"], report["leaks"]), (0, 0, []))
                _, stats = self.stats("churn", mode, max_cached="24MiB")
                self.assertEqual((stats["num_device_alloc"], stats["num_device_free"]), (14, 12))
                self.assertEqual((stats["reserved_bytes.all.current"], stats["reserved_bytes.all.peak"]), (24 * MIB, 72 * MIB))

    def test_the_device_is_waited_for_when_enough_is_pending(self):
        for wait_from, waits, taken in (("72MiB", 2, 6), ("off", 0, 18)):
            with self.subTest(wait_from):
                _, stats = self.stats("churn", "cache", wait_from=wait_from)
                self.assertEqual((stats["num_sync_all_streams"], stats["num_device_alloc"]), (waits, taken))

    def test_memory_that_was_short_is_in_the_log(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                report, stats = self.stats("too_much", mode)
                short, = report["out_of_memory"]
                self.assertEqual((short["requested_bytes"], short["total_bytes"], short["device"], short["verdict"]),
                                 (300 * MIB, 256 * MIB, 0, "lacking"))
                self.assertEqual((short["allocated_bytes"], short["reserved_bytes"], short["largest_gap"]), (12 * MIB, 12 * MIB, 0))
                self.assertEqual([(owner["bytes"], owner["blocks"]) for owner in short["owners"]], [(12 * MIB, 1)])
                self.assertGreaterEqual(stats["num_alloc_retries"], 1)
                self.assertEqual(stats["num_ooms"], 1)

    def test_what_was_given_back_to_others_is_in_the_log(self):
        report, stats = self.stats("physical", "cache")
        self.assertEqual(report["out_of_memory"], [])
        self.assertEqual((stats["num_alloc_retries"], stats["num_device_free"], stats["num_ooms"]), (1, 21, 0))

    def test_each_knob_of_these_tests_is_a_setting(self):
        self.assertEqual(self.told(VRAMSCOPE_POOL="split", **{name: "off" for name in KNOBS.values() if name != KNOBS["sync"]}), "")


if __name__ == "__main__":
    unittest.main()
