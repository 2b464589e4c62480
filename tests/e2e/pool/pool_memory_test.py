# tests/e2e/pool/pool_memory_test.py — what is kept counts as free, and is given back where memory
# is short; limits of the pool.
import unittest

from pool import MODES, PoolTest

PROGRAM = "pool_memory"


class PoolMemoryTest(PoolTest):
    def test_what_is_kept_counts_as_free(self):
        reports = self.same(PROGRAM, "info")
        self.assert_clean(reports)
        self.assert_same_reports(reports)

    def test_each_function_that_takes_device_memory_gets_what_was_kept(self):
        for scene in ("device", "pitch", "managed", "async", "from_pool", "array", "array3d", "mipmap", "physical"):
            with self.subTest(scene):
                self.same(PROGRAM, scene)

    def test_a_thread_whose_first_call_it_is_gets_what_was_kept(self):
        for report in self.same(PROGRAM, "physical_of_a_thread").values():
            self.assertEqual(report["coverage"]["damaged_chunks"], 0)

    def test_what_takes_memory_in_secret_is_asked_again_too(self):
        for scene, function in (("context", "cuCtxCreate_v2"), ("module", "cuModuleLoadData"),
                                ("graph", "cuGraphInstantiateWithFlags")):
            faults = {"VRAMSCOPE_SIM_FAULTS": f"{function}@1=2"}
            with self.subTest(scene):
                self.assertIn(" 2\n", self.plain(PROGRAM, scene, **faults).stdout)
                for mode in ("cache", "split"):
                    out, _ = self.in_mode(PROGRAM, scene, mode, **faults)
                    self.assertEqual(out, self.plain(PROGRAM, scene).stdout)
                    self.assertEqual(self.called(function), 1)

    def test_of_what_takes_memory_in_secret_nobody_says_why_it_was_not_enough(self):
        for scene, function in (("context", "cuCtxCreate_v2"), ("module", "cuModuleLoadData"),
                                ("graph", "cuGraphInstantiateWithFlags")):
            for mode in MODES:
                with self.subTest(scene, mode=mode):
                    _, report = self.in_mode(PROGRAM, scene, mode, VRAMSCOPE_SIM_FAULTS=f"{function}@*=2")
                    short, = report["out_of_memory"]
                    self.assertEqual((short["verdict"], short["requested_bytes"], short["requested_at_least"]),
                                     ("unknown", 0, True))

    def test_too_much_gets_the_drivers_answer(self):
        reports = self.same(PROGRAM, "too_much")
        self.assert_same_reports(reports)
        for report in reports.values():
            self.assertIn(("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY"),
                          [(call["entry_point"], call["result_name"]) for call in report["failed_calls"]])

    def test_threads_that_fit_together_are_never_refused(self):
        for scene in ("alike", "of_kinds", "in_turn"):
            self.assert_same_reports(self.same("pool_crowd", scene))
            self.assertEqual(self.alone, "refused 0\n")

    def test_all_memory_can_be_had(self):
        self.same(PROGRAM, "all")

    def test_a_limit_is_a_smaller_device(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                out, _ = self.in_mode(PROGRAM, "all", mode, limit="64MiB")
                self.assertEqual(out, "5 blocks, then 2; free 4 and 4 of 64 MiB, the device has 64\n")
                out, _ = self.in_mode(PROGRAM, "info", mode, limit="64MiB")
                self.assertIn("free 64 of 64 MiB, the device has 64\nold form: free 64 of 64 MiB\n", out)
                self.assertIn("taken 48 MiB\n", out)

    def test_a_limit_holds_for_each_function_with_any_pool_and_none(self):
        self.assertNotIn(" 2\n", self.plain(PROGRAM, "each").stdout)
        for mode in MODES:
            with self.subTest(mode):
                out, report = self.in_mode(PROGRAM, "each", mode, limit="64MiB")
                self.assertEqual([line.split()[1] for line in out.splitlines()], ["2"] * 8, out)
                self.assertEqual(len(report["out_of_memory"]), 8)
                self.assertEqual({short["total_bytes"] for short in report["out_of_memory"]}, {64 << 20})
                self.assertEqual({short["verdict"] for short in report["out_of_memory"]}, {"lacking"})
                padded = {short["entry_point"] for short in report["out_of_memory"] if short["requested_at_least"]}
                self.assertEqual(padded, {"cuMemAllocPitch_v2", "cuArrayCreate_v2", "cuArray3DCreate_v2",
                                          "cuMipmappedArrayCreate"})
                out, _ = self.in_mode(PROGRAM, "each", mode, limit="128MiB")
                self.assertEqual(out, self.plain(PROGRAM, "each").stdout)
                out, _ = self.in_mode(PROGRAM, "async_again", mode, limit="128MiB")
                self.assertEqual(out, "cuMemAllocAsync 0\n" * 3)

    def test_a_fraction_bounds_the_pool(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                out, _ = self.in_mode(PROGRAM, "all", mode, fraction="0.5")
                self.assertTrue(out.startswith("10 blocks, then 2; "), out)

    def test_no_more_is_kept_than_was_allowed(self):
        for mode in ("cache", "split"):
            self.in_mode(PROGRAM, "churn", mode)
            self.assertEqual((self.called("cuMemAlloc_v2"), self.called("cuMemFree_v2")), (6, 0))
            self.in_mode(PROGRAM, "churn", mode, max_cached="24MiB")  # two of six
            self.assertEqual((self.called("cuMemAlloc_v2"), self.called("cuMemFree_v2")), (6 + 2 * 4, 3 * 4))
            self.in_mode(PROGRAM, "churn", mode, max_cached="0")
            self.assertEqual((self.called("cuMemAlloc_v2"), self.called("cuMemFree_v2")), (18, 18))

    def driver_calls(self, scene, mode, **knobs):
        self.in_mode(PROGRAM, scene, mode, **knobs)
        return self.called("cuMemAlloc_v2"), self.called("cuMemFree_v2")

    def test_sizes_that_are_rounded_up_fit_others(self):
        self.assertEqual(self.driver_calls("growing", "cache"), (2, 0))
        self.assertEqual(self.driver_calls("growing", "cache", roundup="2"), (1, 0))
        self.assertEqual(self.driver_calls("growing", "cache", roundup="[4:1,8:2,>:8]"), (2, 0))

    def test_large_blocks_are_not_split_where_they_must_not(self):
        self.assertEqual(self.driver_calls("shrinking", "split"), (1, 0))
        self.assertEqual(self.driver_calls("shrinking", "split", max_split="20"), (2, 0))

    def test_the_collector_gives_back_what_is_not_used(self):
        self.assertEqual(self.driver_calls("changing", "cache", fraction="0.6"), (4, 0))  # 140 of 153 MiB
        made, given_back = self.driver_calls("changing", "cache", fraction="0.6", collect="0.5")
        self.assertGreater(given_back, 0)
        self.assertGreaterEqual(made, 4)

    def test_strict_waits_at_each_free(self):
        for mode in ("cache", "split"):
            self.same(PROGRAM, "churn", modes=[mode], sync="strict")
            self.assertGreaterEqual(self.called("cuCtxSynchronize"), 18)


if __name__ == "__main__":
    unittest.main()
