# tests/torch/segments_test.py — real PyTorch under vramscope: nothing changes for it, and every
# segment is in the log.
from torch_root import REAL, TorchTest, main

EXPANDABLE = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True"}
UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
STREAM_ORDERED = {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"}


class Segments(TorchTest):
    """PyTorch's own allocator: what it has reserved is what the driver has given it."""

    def assert_segments(self, traced, count):
        self.assertEqual(len(traced.moments), count)
        for moment in traced.moments:
            with self.subTest(moment["name"]):
                theirs = {segment["address"]: segment["bytes"] for segment in moment["segments"]}
                self.assertEqual(sum(theirs.values()), moment["reserved"])
                ours = moment.blocks("device")
                if REAL:  # cuBLAS and others have memory of their own
                    ours = {address: size for address, size in ours.items() if address in theirs}
                self.assertEqual(ours, theirs)

    def test_tensors_that_come_and_go(self):
        for pool in ("cache", "split", "off"):
            with self.subTest(pool=pool):
                self.assert_segments(self.run_both("tensors.py", VRAMSCOPE_POOL=pool), 50)

    def test_training(self):
        traced = self.run_both("training.py")
        self.assert_segments(traced, 7)
        peak = traced.moments[-1]["stats"]["allocated_bytes.all.peak"]
        (self.assertGreaterEqual if REAL else self.assertEqual)(traced.report["totals"]["peak_device_bytes"], peak)

    def test_workers_that_pin_memory(self):
        traced = self.run_both("loader.py")
        self.assert_segments(traced, 2)
        self.assertGreater(traced.moments[0].live_bytes("pinned"), 0)

    def test_streams_pools_and_graphs(self):
        self.assert_segments(self.run_both("streams.py"), 4)

    def test_out_of_memory(self):
        traced = self.run_both("shortage.py")
        self.assert_segments(traced, 3)
        short = {event["requested"] - event["total"] for event in traced.events if event["type"] == "out_of_memory"}
        self.assertIn(1 << 30, short)


class OtherAllocators(TorchTest):
    def test_expandable_segments_are_physical_memory(self):
        traced = self.run_both("tensors.py", **EXPANDABLE)
        self.assertEqual(len(traced.moments), 50)
        for moment in traced.moments:
            self.assertEqual(moment.live_bytes("physical"), moment["reserved"], moment["name"])

    def test_without_its_cache_each_tensor_is_the_drivers(self):
        traced = self.run_both("training.py", **UNCACHED)
        self.assertGreater(traced.report["totals"]["allocations"], 50)

    def test_stream_ordered_memory(self):
        traced = self.run_both("tensors.py", **STREAM_ORDERED)
        self.assertEqual(len(traced.moments), 50)
        for moment in traced.moments:  # the driver rounds each of them up, which newer versions of PyTorch do not count
            sizes = moment.blocks("async").values()
            self.assertIn(moment["allocated"], (sum(-(-size // 512) * 512 for size in sizes), sum(sizes)), moment["name"])


if __name__ == "__main__":
    main()
