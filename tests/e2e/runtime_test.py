# tests/e2e/runtime_test.py — programs of the CUDA runtime: shared, static, and with a default
# stream for each thread.
import unittest

from e2e import REAL, EndToEndTest

BYTES, ROWS = 3000, 7
STATIC = "runtime_nvidia" if REAL else "runtime_static"  # each with the runtime that its driver accepts
PROGRAMS = ["runtime_shared", STATIC, "runtime_per_thread"]
# KIND of runtime_kinds: (API, entry point of the driver, memory, bytes); None: rows of the pitch
# that it prints.
KINDS = {
    "device": ("cudaMalloc", "cuMemAlloc_v2", "device", BYTES),
    "pitch": ("cudaMallocPitch", "cuMemAllocPitch_v2", "pitched", None),
    "malloc_3d": ("cudaMalloc3D", "cuMemAllocPitch_v2", "pitched", None),
    "managed": ("cudaMallocManaged", "cuMemAllocManaged", "managed", BYTES),
    "host_alloc": ("cudaHostAlloc", "cuMemHostAlloc", "pinned", BYTES),
    "malloc_host": ("cudaMallocHost", "cuMemHostAlloc", "pinned", BYTES),
    "host_register": ("cudaHostRegister", "cuMemHostRegister_v2", "registered", 4096),
    "array": ("cudaMallocArray", "cuArray3DCreate_v2", "array", 64 * 16 * 2 * 4),
    "array_3d": ("cudaMalloc3DArray", "cuArray3DCreate_v2", "array", 64 * 16 * 4),
    "mipmap": ("cudaMallocMipmappedArray", "cuMipmappedArrayCreate", "mipmap", (64 * 64 + 32 * 32 + 16 * 16) * 2),
    "async": ("cudaMallocAsync", "cuMemAllocAsync", "async", BYTES),
    "pool": ("cudaMallocFromPoolAsync", "cuMemAllocFromPoolAsync", "async", BYTES),
    "reset": ("cudaMalloc", "cuMemAlloc_v2", "device", BYTES),
}


class RuntimeTest(EndToEndTest):
    def check(self, program):
        for kind, (api, entry_point, memory, size) in KINDS.items():
            with self.subTest(kind):
                report = self.trace(program, kind)
                self.assert_seen(report, allocations=2, frees=1)
                self.assertEqual(len(report["leaks"]), 1)
                size = int(self.stdout) * ROWS if size is None else size
                if program == "runtime_per_thread" and memory == "async":
                    entry_point += "_ptsz"
                self.assert_leak(report["leaks"][0], "runtime_kinds.cu", kind, blocks=1, bytes=size, api=api,
                                 entry_point=entry_point, memory=memory, device=0,
                                 kind="leaked-at-reset" if kind == "reset" else "leaked-at-exit")

    def test_shared_runtime(self):
        self.check("runtime_shared")

    def test_static_runtime(self):
        self.check(STATIC)

    def test_default_stream_per_thread(self):
        self.check("runtime_per_thread")

    def test_the_preload_alone(self):
        for program in PROGRAMS:
            with self.subTest(program):
                done = self.preloaded(program, "device", VRAMSCOPE_LOG=f"{program}.vsl")
                self.assertEqual(done.returncode, 0, done.stderr)
                report = self.report_of(f"{program}.vsl")
                self.assert_seen(report, 2, 1)
                self.assert_leak(report["leaks"][0], "runtime_kinds.cu", "device", bytes=BYTES, api="cudaMalloc")


if __name__ == "__main__":
    unittest.main()
