# tests/e2e/contexts_test.py — what becomes of memory when its context ends, in each way
# that a context can.
import unittest

from e2e import EndToEndTest

ENDS = ["destroy", "destroy_v1", "detach", "primary_reset", "primary_reset_v2", "primary_release", "primary_release_v2"]
STAYS = ["attach_and_detach", "primary_release_of_two"]


class ContextsTest(EndToEndTest):
    def kinds(self, way, blocks):
        report = self.trace("contexts", way)
        self.assert_seen(report, allocations=blocks, frees=0)
        return {mark: self.leak_at(report, "contexts.cpp", mark) for mark in ("device", "async", "physical")}, report

    def test_device_memory_goes_with_its_context_but_async_and_physical_memory_stay(self):
        for way in ENDS:
            with self.subTest(way):
                leaks, _ = self.kinds(way, 3)
                self.assertEqual({mark: leak["kind"] for mark, leak in leaks.items()},
                                 {"device": "leaked-at-reset", "async": "leaked-at-exit", "physical": "leaked-at-exit"})

    def test_memory_is_leaked_at_exit_while_someone_holds_the_context(self):
        for way in STAYS:
            with self.subTest(way):
                leaks, _ = self.kinds(way, 3)
                self.assertEqual({leak["kind"] for leak in leaks.values()}, {"leaked-at-exit"})

    def test_another_context_keeps_its_memory(self):
        leaks, report = self.kinds("destroy_one_of_two", 4)
        self.assertEqual(leaks["device"]["kind"], "leaked-at-reset")
        self.assertEqual(self.leak_at(report, "contexts.cpp", "other_context")["kind"], "leaked-at-exit")

    def test_one_that_was_made_at_the_second_try_is_one(self):
        report = self.trace("contexts", "second_of_a_full_device", gpu="4GiB", VRAMSCOPE_POOL="cache",
                            VRAMSCOPE_SIM_TAKES="context=1GiB")
        self.assertEqual([row["opening"] for row in report["contexts"]], ["created", "created"])
        retries = [device["memory_stats"]["num_alloc_retries"] for process in report["processes"]
                   for device in process["pool"]["devices"]]
        self.assertEqual(retries, [1], "else it tries nothing")


if __name__ == "__main__":
    unittest.main()
