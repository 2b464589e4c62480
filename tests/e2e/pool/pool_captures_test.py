# tests/e2e/pool/pool_captures_test.py — with a pool, captures end as without one, and graphs keep
# the addresses that they hold.
import unittest

from pool import PoolTest

PROGRAM = "pool_captures"


class PoolCapturesTest(PoolTest):
    def test_while_a_stream_is_captured_the_driver_answers(self):
        for scene in ("free_inside", "allocate_inside", "other_thread", "free_async_inside", "stream_destroyed", "graph_holds"):
            with self.subTest(scene):
                self.assert_same_reports(self.same(PROGRAM, scene))

    def test_a_block_that_a_graph_may_hold_is_freed_for_good(self):
        self.in_mode(PROGRAM, "graph_holds", "cache")
        self.assertEqual(self.called("cuMemFree_v2"), 1)  # the block that was live when the graph was made

    def test_after_a_capture_blocks_are_kept_again(self):
        self.in_mode(PROGRAM, "stream_destroyed", "cache")
        self.assertEqual(self.called("cuMemFree_v2"), 0)

    def test_split_holds_a_part_until_no_graph_can_be_launched(self):
        out, report = self.in_mode(PROGRAM, "graph_writes", "split")
        self.assertEqual(out, "free 0\napart 1\ndestroy 0\napart when it is gone 0\n")
        self.assert_clean({"split": report})

    def test_a_broken_context_is_told_at_the_first_call_that_waits(self):
        late = {"VRAMSCOPE_SIM_DELAY_US": "3600000000"}  # what is queued runs when a call waits for it
        waits = self.plain(PROGRAM, "broken", **late).stdout
        self.assertEqual(waits, "free 0\nfree 700\nalloc 700\nalloc 700\nnull 1\nsynchronise 700\nfree 700\n")
        self.assertEqual(self.in_mode(PROGRAM, "broken", "off", **late)[0], waits)
        for mode in ("cache", "split"):
            with self.subTest(mode):
                lazy = waits.replace("free 700", "free 0", 1)  # this free waits for nothing
                self.assertEqual(self.in_mode(PROGRAM, "broken", mode, **late)[0], lazy)
                strict = waits.replace("free 0", "free 700", 1)  # and here each free waits, and one before may be used again
                strict = strict.replace("alloc 700", "alloc 0", 1)
                self.assertEqual(self.in_mode(PROGRAM, "broken", mode, sync="strict", **late)[0], strict)


if __name__ == "__main__":
    unittest.main()
