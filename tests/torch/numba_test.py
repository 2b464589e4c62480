# tests/torch/numba_test.py — Numba under vramscope: it knows the driver alone, by dlsym and ctypes.
import unittest

from torch_root import REAL, TorchTest, main

MIB = 1 << 20


@unittest.skipIf(REAL, "needs the simulated GPU")
class Numba(TorchTest):
    def test_its_arrays_are_the_drivers_blocks(self):
        # It calls the newest name of a function that it finds as CUDA 12 declares it.
        traced = self.run_both("numba_arrays.py", VRAMSCOPE_SIM_CUDA="12.4")
        self.assertIn("(12, 4) b'Simulated GPU' 0.0", traced.done.stdout)
        leaked = {}
        for leak in traced.report["leaks"]:
            blocks, size = leaked.get(leak["api"], (0, 0))
            leaked[leak["api"]] = (blocks + leak["blocks"], size + leak["bytes"])
        self.assertEqual(leaked, {"cuMemAlloc": (5, 20 * MIB), "cuMemHostAlloc": (1, 8000), "cuMemAllocManaged": (1, 4096)})
        self.assertEqual(traced.report["totals"]["allocations"], 8)

    # NVIDIA/numba-cuda#173: what it does on a driver of CUDA 13, a simulated one too.
    def test_a_driver_of_cuda_13_is_too_new_for_it(self):
        done = self.run_program("numba_arrays.py")
        self.assertIn("Call to cuCtxGetDevice results in CUDA_ERROR_INVALID_CONTEXT", done.stderr)


if __name__ == "__main__":
    main()
