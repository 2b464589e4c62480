# tests/programs/python/points_inside.py — garbage, into which a word of an object points that is alive.
#
# So do bytes that are left over: where an object has padding, where a flag took one byte of a pointer.
import ctypes
import gc
import sys

ctypes.CDLL("libcuda.so.1")
from driver_blocks import allocate, wipe  # noqa: E402


class Cycle:
    def __init__(self):
        self.me = self
        self.impl = ctypes.c_void_p(allocate("garbage"))


first = ctypes.c_void_p(allocate("first"))  # the simulated device's memory begins there, so the driver has this address too
gc.disable()


def point_inside():
    return ctypes.c_void_p(id(Cycle()) + 8)


inside = point_inside()
wipe(60)
print("ready", flush=True)
sys.stdin.read()
