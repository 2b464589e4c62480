# tests/programs/python/driver_blocks.py — device blocks as PyTorch holds them: the driver's address lies in a piece of C's
# heap, and Python has the address of that.
import ctypes
import sys

cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
cuda.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
next_bytes = 4096


def check(result):
    if result != 0:
        sys.exit("the driver says %d" % result)


def make_current():
    """No variable keeps the handle, as the runtime's callers have none: it leads to all that the driver has."""
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    context.value = None


def allocate(name):
    """The address of a piece of 72 bytes that has a block's address: Python itself never has it."""
    global next_bytes
    next_bytes += 16
    piece = libc.calloc(1, 72)
    check(cuda.cuMemAlloc_v2(piece + 16, next_bytes))
    print(next_bytes, name)
    return piece


def address_of(name):
    """The address of a block itself, as an int: so ctypes gives it."""
    global next_bytes
    next_bytes += 16
    block = ctypes.c_uint64()
    check(cuda.cuMemAlloc_v2(ctypes.byref(block), next_bytes))
    print(next_bytes, name)
    return block.value


def wipe(depth):
    """No word of what was may stay behind on the stack of C."""
    return depth and max([depth], key=lambda _: wipe(depth - 1))


check(cuda.cuInit(0))
make_current()
