# tests/e2e/kinds_test.py — every kind of memory of the hook table, allocated twice and freed once
# by a linked program.
import unittest

from e2e import REAL, EndToEndTest

BYTES = 3000
PHYSICAL = 2 << 20
# KIND of memory_kinds: (entry point, memory, bytes of a block); None: rows of the pitch that the
# program prints.
KINDS = {
    "device_v1": ("cuMemAlloc", "device", BYTES),
    "device_v2": ("cuMemAlloc_v2", "device", BYTES),
    "pitch_v1": ("cuMemAllocPitch", "pitched", None),
    "pitch_v2": ("cuMemAllocPitch_v2", "pitched", None),
    "managed": ("cuMemAllocManaged", "managed", BYTES),
    "host_alloc": ("cuMemHostAlloc", "pinned", BYTES),
    "host_v1": ("cuMemAllocHost", "pinned", BYTES),
    "host_v2": ("cuMemAllocHost_v2", "pinned", BYTES),
    "register_v1": ("cuMemHostRegister", "registered", 4096),
    "register_v2": ("cuMemHostRegister_v2", "registered", 4096),
    "array_v1": ("cuArrayCreate", "array", 64 * 16 * 2 * 4),
    "array_v2": ("cuArrayCreate_v2", "array", 64 * 16 * 2 * 4),
    "array3d_v1": ("cuArray3DCreate", "array", 64 * 16 * 4),
    "array3d_v2": ("cuArray3DCreate_v2", "array", 64 * 16 * 4),
    "mipmap": ("cuMipmappedArrayCreate", "mipmap", (64 * 64 + 32 * 32 + 16 * 16) * 2),
    "async": ("cuMemAllocAsync", "async", BYTES),
    "async_ptsz": ("cuMemAllocAsync_ptsz", "async", BYTES),
    "pool": ("cuMemAllocFromPoolAsync", "async", BYTES),
    "pool_ptsz": ("cuMemAllocFromPoolAsync_ptsz", "async", BYTES),
}
ROWS = 7
OLD_FORMS = ("device_v1", "pitch_v1", "host_v1", "array_v1", "array3d_v1")  # a driver of today has no context for them


class KindsTest(EndToEndTest):
    def test_the_block_that_is_left_is_reported_with_its_api_bytes_and_line(self):
        for kind, (entry_point, memory, size) in KINDS.items():
            if REAL and kind in OLD_FORMS:
                continue
            with self.subTest(kind):
                report = self.trace("memory_kinds", kind)
                self.assert_seen(report, allocations=2, frees=1)
                self.assertEqual(report["verdict"], "leaks")
                self.assertEqual(len(report["leaks"]), 1)
                size = int(self.stdout) * ROWS if size is None else size
                api = entry_point.removesuffix("_ptsz").removesuffix("_v2")
                self.assert_leak(report["leaks"][0], "memory_kinds.cpp", kind, function=f"{kind}()", blocks=1, bytes=size,
                                 api=api, entry_point=entry_point, memory=memory, kind="leaked-at-exit", device=0)

    def test_physical_memory_is_back_only_when_released_and_unmapped(self):
        for scene, leaked in {"physical_all_given_back": False, "physical_still_mapped": True,
                              "physical_not_released": True, "physical_retained_once_more": True}.items():
            with self.subTest(scene):
                report = self.trace("memory_kinds", scene)
                self.assertEqual(report["coverage"]["lost_events"], 0)
                self.assertEqual(report["verdict"], "leaks" if leaked else "clean")
                self.assertEqual(len(report["leaks"]), 1 if leaked else 0)
                if leaked:
                    self.assert_leak(report["leaks"][0], "memory_kinds.cpp", "create", blocks=1, bytes=PHYSICAL,
                                     api="cuMemCreate", memory="physical", device=0)

    def test_reserved_addresses_are_told_apart_from_memory(self):
        report = self.trace("memory_kinds", "physical_still_mapped")
        self.assertEqual(report["totals"]["address_reservations"], 1)
        self.assertEqual(report["totals"]["reserved_address_bytes"], PHYSICAL)
        self.assertEqual(report["totals"]["leaked_bytes"], PHYSICAL)

    def test_memory_of_a_captured_graph_is_not_a_leak(self):
        report = self.trace("memory_kinds", "captured")
        self.assertEqual(report["coverage"]["graph_allocations"], 2)
        self.assertEqual((report["coverage"]["frees"], report["coverage"]["unmatched_frees"]), (0, 0))
        self.assertEqual(report["totals"]["leaked_blocks"], 1)
        self.assert_leak(report["leaks"][0], "memory_kinds.cpp", "before_capture", bytes=BYTES, memory="async")


if __name__ == "__main__":
    unittest.main()
