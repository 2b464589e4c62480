# tests/e2e/pool/pool_sharing_test.py — memory with a name or a mark of its own is not kept;
# pointers are described as ever.
import unittest

from pool import PoolTest

PROGRAM = "pool_sharing"
NOT_SUPPORTED = 801


class PoolSharingTest(PoolTest):
    def test_a_block_that_is_a_whole_allocation_is_shared_and_its_handle_never_returns(self):
        for scene in ("ipc", "dma_buf", "sync_memops"):
            with self.subTest(scene):
                self.assert_same_reports(self.same(PROGRAM, scene))

    def test_what_was_shared_goes_back_to_the_driver_at_its_free(self):
        for mode in ("cache", "split"):
            for scene, blocks in (("ipc", 2), ("sync_memops", 2), ("dma_buf", 1)):
                with self.subTest(f"{scene} {mode}"):
                    self.in_mode(PROGRAM, scene, mode)
                    self.assertEqual(self.called("cuMemFree_v2"), blocks)

    def test_pointers_are_described_as_ever_live_or_freed(self):
        self.assert_same_reports(self.same(PROGRAM, "ranges"))
        self.assert_same_reports(self.same(PROGRAM, "ranges_part"))

    def test_a_part_says_that_it_cannot_be_shared(self):
        self.same(PROGRAM, "capable", modes=["off", "cache"])
        self.assertEqual(self.alone, "can be shared 1 1\ncan be shared 1 1\n")
        self.assertEqual(self.in_mode(PROGRAM, "capable", "split")[0], "can be shared 1 1\ncan be shared 0 0\n")

    def test_small_blocks_are_shared_like_large_ones_where_none_is_split(self):
        for scene in ("ipc_part", "dma_buf_part", "sync_memops_part", "tokens"):
            with self.subTest(scene):
                self.assert_same_reports(self.same(PROGRAM, scene, modes=["off", "cache"]))

    def assert_refused(self, scene, function, printed):
        out, report = self.in_mode(PROGRAM, scene, "split")
        self.assertEqual(out, printed)
        self.assertEqual(self.told.count("\n"), 1, self.told)
        self.assertIn(f"vramscope: {function}: ", self.told)
        self.assertIn("VRAMSCOPE_POOL=cache", self.told)
        self.assertEqual(self.called(function), 0)
        self.assert_clean({"split": report})

    def test_split_refuses_what_a_part_of_an_allocation_cannot_truthfully_do(self):
        self.assert_refused("ipc_part", "cuIpcGetMemHandle", f"handle {NOT_SUPPORTED}\nagain {NOT_SUPPORTED}\nfree 0\n")
        self.assert_refused("dma_buf_part", "cuMemGetHandleForAddressRange",
                            f"descriptor {NOT_SUPPORTED}\nfree 0\nof freed memory 1\nfree 0\n")
        self.assert_refused("sync_memops_part", "cuPointerSetAttribute",
                            f"new 0\nset {NOT_SUPPORTED}\nset 0\nfree 0\nset on freed memory 1\n" * 2)
        self.assert_refused("tokens", "cuPointerGetAttribute", f"tokens {NOT_SUPPORTED}\nfree 0\n")


if __name__ == "__main__":
    unittest.main()
