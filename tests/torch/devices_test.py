# tests/torch/devices_test.py — real PyTorch on two GPUs: the sums are those of each,
# and workers leave nothing.
import json
import unittest

from segments_test import EXPANDABLE, STREAM_ORDERED, UNCACHED
from torch_root import REAL, VRAMSCOPE, TorchTest, main


@unittest.skipIf(REAL, "needs two GPUs")
class Devices(TorchTest):
    def assert_sums(self, traced):
        """At each mark, of each device."""
        self.assertEqual(len(traced.moments), 8)
        devices = {device["device"]: device for device in traced.report["processes"][0]["device_memory"]}
        for moment in traced.moments:
            for number, stats in enumerate(moment["devices"]):
                [parts] = [mark["waterfall"] for mark in devices[number]["at_marks"]
                           if mark["mark"] == moment["name"]] or [{"requested": 0, "reserved": 0}]
                with self.subTest(moment["name"], device=number):
                    self.assertEqual((parts["requested"], parts["reserved"], parts["requested"] + moment.pending(number)),
                                     tuple(stats.get(f"{kind}_bytes.all.current", 0)
                                           for kind in ("allocated", "reserved", "active")))
        for number, stats in enumerate(traced.moments[-1]["devices"]):
            [torch] = devices[number]["allocators"]
            self.assertEqual(torch["active_bytes"]["peak"], stats["active_bytes.all.peak"])

    def assert_workers_are_clean(self):
        for log in set(self.folder.glob("run.vsl*")) - {self.folder / "run.vsl"}:
            self.execute(VRAMSCOPE, "report", log, "--json", "worker.json", "--force")
            worker = json.loads((self.folder / "worker.json").read_text())
            self.assertEqual((worker["leaks"], worker["coverage"]["lost_events"]), ([], 0), log)

    def test_sums_of_two_are_those_of_each(self):
        for mode in ({}, EXPANDABLE):
            with self.subTest(mode):
                traced = self.run_both("devices.py", VRAMSCOPE_POOL="off", VRAMSCOPE_SIMULATE="2x4GiB", **mode)
                self.assert_sums(traced)
                elsewhere = next(moment for moment in traced.moments if moment["name"] == "used by another stream")
                self.assertEqual(elsewhere.pending(1), 12 << 20)
                self.assert_workers_are_clean()

    def test_without_pytorchs_cache_each_tensor_is_of_its_device(self):
        traced = self.run_both("devices.py", VRAMSCOPE_SIMULATE="2x4GiB", **STREAM_ORDERED)
        for moment in traced.moments:
            for number, stats in enumerate(moment["devices"]):
                ours = sum(-(-event["bytes"] // 512) * 512 for event in moment.live
                           if event["memory"] == "async" and event["device"] == number)
                self.assertEqual(ours, stats.get("allocated_bytes.all.current", 0), moment["name"])
        self.run_both("devices.py", VRAMSCOPE_SIMULATE="2x4GiB", **UNCACHED)
        self.assert_workers_are_clean()


if __name__ == "__main__":
    main()
