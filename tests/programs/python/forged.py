# tests/programs/python/forged.py — what CPython says of itself since 3.13 (_Py_DebugOffsets) is
# changed before CUDA is used.
#
# Usage: forged.py SAID. One child of a fork for each word of that table adds to it and allocates.
# SAID becomes {pid of the child: which word}.
import ctypes
import json
import os
import sys

VERSION, FREE_THREADED, WORDS = 1, 2, 64  # after the cookie; then offsets


def allocate():
    runtime = ctypes.CDLL("libcudart.so", mode=os.RTLD_NOW)
    pointer = ctypes.c_void_p()
    return runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(256))  # MARK allocate


def forged(word):
    child = os.fork()
    if child == 0:
        table = (ctypes.c_uint64 * (WORDS + 1)).in_dll(ctypes.pythonapi, "_PyRuntime")
        table[word] += {VERSION: 1 << 16, FREE_THREADED: 1}.get(word, 8)
        os._exit(allocate())  # MARK forged
    assert os.waitpid(child, 0)[1] == 0, word
    return child


with open(sys.argv[1], "w") as out:
    json.dump({forged(word): word for word in range(VERSION, WORDS + 1)}, out)  # MARK module
