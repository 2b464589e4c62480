# tests/programs/python/hostile_names.py — names that a page must show as text: of a function, its
# file, a test, a mark.
#
# Each is markup, quotes, a mark of direction, ten thousand characters, and a byte that is no UTF-8
# where bytes are taken.
import ctypes
import sys

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"\'&\u202e' + "x" * 10_000
BYTES = HOSTILE.encode() + b"\xff"
PASSED = 1

cuda = ctypes.CDLL("libcuda.so.1")
vramscope = ctypes.CDLL(None)


def check(result):
    if result != 0:
        sys.exit(f"CUDA error {result}")


SOURCE = """
def keep():
    address = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(1 << 20)))
"""

context = ctypes.c_void_p()
check(cuda.cuInit(0))
check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
check(cuda.cuCtxSetCurrent(context))

scope = {"check": check, "ctypes": ctypes, "cuda": cuda}
exec(compile(SOURCE, f"{HOSTILE}.py", "exec"), scope)
keep = scope["keep"]
names = {"co_name": HOSTILE, **({"co_qualname": HOSTILE} if sys.version_info >= (3, 11) else {})}
keep.__code__ = keep.__code__.replace(**names)

vramscope.vramscope_mark(BYTES)
vramscope.vramscope_begin_test(BYTES)
keep()
vramscope.vramscope_end_test(BYTES, PASSED)
