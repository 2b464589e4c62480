# tests/programs/python/points_inside.py — garbage, into which a word of an object points that is alive.
#
# So do bytes that are left over: where an object has padding, where a flag took one byte of a pointer. And behind the
# names that a class keeps of its instances' attributes there may be words of what was there before.
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


def word_at(address):
    return ctypes.c_size_t.from_address(address)


def behind_the_names_of(kind):
    """Of PyHeapTypeObject's ht_cached_keys: the entry behind those that are in use."""
    minor = sys.version_info[1]
    keys = word_at(id(kind) + {8: 872, 9: 864, 10: 872, 11: 872, 12: 880, 13: 880, 14: 880, 15: 888}[minor]).value
    if minor <= 10:
        indices, used, head, entry = word_at(keys + 8).value, word_at(keys + 32).value, 40, 24
        usable = indices * 2 // 3
    else:
        packed = word_at(keys + 8).value  # the logarithms of how many indices, and of their bytes; the kind
        indices, usable = 1 << (packed >> 8 & 255), (1 << (packed & 255)) * 2 // 3
        used, head, entry = word_at(keys + 24).value, 32, 16 if packed >> 16 & 255 else 24
    assert 0 < used < usable
    return keys + head + indices + used * entry


def point_inside():
    cycle = Cycle()
    ctypes.memmove(behind_the_names_of(Cycle), ctypes.addressof(cycle.impl), 8)
    return ctypes.c_void_p(id(cycle) + 8)


inside = point_inside()
wipe(60)
print("ready", flush=True)
sys.stdin.read()
