# tests/e2e/real_cudart_test.py — NVIDIA's own runtime over the simulated driver, up to its refusal.
#
# It asks for every entry point it may need, finds that the driver is not NVIDIA's, and gives up.
# What it asked for, by the driver's own trace, is asked again by a program of ours, alone and
# traced. Nothing tries to make it go on.
import unittest

from e2e import CUDART, DRIVER, PRELOAD, EndToEndTest, driver_names, simulated_only


@simulated_only
class RealCudartTest(EndToEndTest):
    def refused(self, program, run, trace, **env):
        """Runs it with NVIDIA's runtime; the trace of the driver, and what the program said."""
        drivers = self.folder / "driver"
        drivers.mkdir(exist_ok=True)
        if not (drivers / DRIVER.name).exists():
            (drivers / DRIVER.name).symlink_to(DRIVER)
        done = run(program, "device", LD_LIBRARY_PATH=f"{drivers}:{CUDART}", VRAMSCOPE_SIM_TRACE=trace, **env)
        self.assertEqual(done.returncode, 3, done.stderr)
        return (self.folder / trace).read_text().splitlines(), done.stderr

    def check(self, program):
        trace, said = self.refused(program, self.plain, "plain")
        asked = [line.removeprefix("asked ") for line in trace if line.startswith("asked ")]
        self.assertGreater(len(asked), 300)  # 440 of CUDA 13.0, 384 of 11.8

        traced, said_traced = self.refused(program, self.preloaded, "traced")
        self.assertEqual(said_traced, said)
        own = "cuDriverGetVersion=0"  # after cuInit the log is opened, which notes the driver's version
        traced.reverse()
        traced.remove(own)
        traced.reverse()
        self.assertEqual(traced, trace)

        plain_answers, traced_answers = self.look_ups(asked)
        self.assert_wrapped(plain_answers, traced_answers)
        ours = {answer.partition(":")[2] for _, answer in traced_answers if answer.startswith(PRELOAD.name)}
        expected = {"cuMemAlloc_v2", "cuMemFree_v2", "cuMemAllocManaged", "cuMemHostAlloc", "cuArray3DCreate_v2",
                    "cuMemAllocAsync", "cuMemAllocAsync_ptsz", "cuDevicePrimaryCtxReset", "cuGetProcAddress_v2"}
        self.assertLessEqual(expected & driver_names(), ours)

    def test_static_runtime(self):
        self.check("runtime_nvidia")

    def test_shared_runtime(self):
        if not list(CUDART.glob("libcudart.so.*")):
            self.skipTest(f"no shared runtime in {CUDART}")
        self.check("runtime_shared")


if __name__ == "__main__":
    unittest.main()
