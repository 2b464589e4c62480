# tests/programs/python/growing.py — one line keeps a block in each step, another has
# one from the start.
#
# Usage: growing.py STEPS, under vramscope run.
import ctypes
import sys

import vramscope

runtime = ctypes.CDLL("libcudart.so")


class Trainer:
    def __init__(self):
        self.kept = []

    def step(self):
        pointer = ctypes.c_void_p()
        runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20))  # MARK grows
        self.kept.append(pointer)


def load():
    pointer = ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(8 << 20))  # MARK load


load()
trainer = Trainer()
for _ in range(int(sys.argv[1])):
    with vramscope.range("step"):
        trainer.step()
