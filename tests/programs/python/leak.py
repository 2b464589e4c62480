# tests/programs/python/leak.py — leaks in one line, through the runtime, as ctypes calls it.
import ctypes

runtime = ctypes.CDLL("libcudart.so")


class Cache:
    def __init__(self):
        self.kept = []

    def keep(self, size):
        pointer = ctypes.c_void_p()
        runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))  # MARK leak
        self.kept.append(pointer)


def work(size):
    pointer = ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size))  # MARK work
    runtime.cudaFree(pointer)


cache = Cache()
for step in range(10):
    work(1 << 20)
    cache.keep(3 << 10)  # MARK call
