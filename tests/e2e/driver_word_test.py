# tests/e2e/driver_word_test.py — what the driver itself says: how much memory is free, how
# long its calls take.
import unittest

from e2e import EndToEndTest, simulated_only

ALLOC_US = 300


class DriverWordTest(EndToEndTest):
    def process(self, program="training_demo", **env):
        return self.trace(program, **env)["processes"][0]

    def driver_calls(self, process):
        return {row["entry_point"]: row for row in process["churn"]["driver"]}

    def samples(self, process):
        return [point["used_bytes"] for device in process["device_memory"] for point in device["timeline"] if point["used_bytes"] is not None]

    @simulated_only
    def test_calls_are_counted_and_timed(self):
        process = self.process(VRAMSCOPE_POOL="off", VRAMSCOPE_SIM_ALLOC_US=str(ALLOC_US))
        calls = self.driver_calls(process)["cuMemAlloc_v2"]
        # The first one opens the log, and is not timed.
        device = sum(bin["blocks"] for bin in process["churn"]["sizes"])
        self.assertGreater(calls["calls"], 100)
        self.assertLess(calls["calls"], device)
        self.assertGreater(calls["total_ns"], calls["calls"] * ALLOC_US * 990)
        self.assertGreater(calls["longest_ns"], ALLOC_US * 990)
        self.assertIn("cuMemFree_v2", self.driver_calls(process))
        self.assertEqual(process["churn"]["driver_calls"], sum(row["calls"] for row in process["churn"]["driver"]))

    def test_what_the_pool_answers_is_no_call_of_the_driver(self):
        process = self.process(VRAMSCOPE_POOL="cache")
        pooled = process["pool"]["devices"][0]["memory_stats"]
        calls = self.driver_calls(process)["cuMemAlloc_v2"]["calls"]
        self.assertEqual(calls, pooled["num_device_alloc"])
        self.assertLess(calls, pooled["allocation.all.allocated"])

    def test_free_memory_is_sampled_with_and_without_a_pool(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool):
                process = self.process(VRAMSCOPE_POOL=pool, VRAMSCOPE_DEVICE_MEMORY="0")
                used = self.samples(process)
                self.assertTrue(used)
                self.assertGreaterEqual(max(used), process["totals"]["peak_device_bytes"] // 2)

    def test_unless_it_is_turned_off(self):
        self.assertEqual(self.samples(self.process(VRAMSCOPE_DEVICE_MEMORY="off")), [])


if __name__ == "__main__":
    unittest.main()
