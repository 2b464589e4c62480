# tests/programs/python/formula_names.py — marks whose names a spreadsheet would calculate.
#
# Their names are its arguments; before each of them something is allocated.
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
vramscope = ctypes.CDLL(None)


def check(result):
    if result != 0:
        sys.exit(f"CUDA error {result}")


context = ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))
for name in sys.argv[1:]:
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20)))
    vramscope.vramscope_mark(name.encode())
