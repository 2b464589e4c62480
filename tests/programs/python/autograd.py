# tests/programs/python/autograd.py — goes forward on two threads, and backward on one that is not Python's.
#
# Usage: autograd.py LIBRARY EXPECTED. Each backward step allocates a size of its own. EXPECTED is written as JSON: for each
# size the functions of Python that made the node, innermost first, as [file, line, name]; none for a node without number.
import ctypes
import json
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.forward.restype = ctypes.c_void_p
library.backward.restype = ctypes.c_long
runtime = ctypes.CDLL("libcudart.so", mode=os.RTLD_NOW)

EXPECTED = {}
nodes = []
lock = threading.Lock()


def note(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    EXPECTED[256 * (len(EXPECTED) + 1)] = stack


def layer(adds_up=False):
    with lock:
        note(None if adds_up else sys._getframe()), nodes.append(library.forward(adds_up))


def network(depth):
    layer()
    if depth:
        network(depth - 1)


def work(layers):
    for _ in range(layers):
        layer()
        network(2)


def main():
    pointer = ctypes.c_void_p()
    layer()  # before there is a log, so that its functions are not known
    EXPECTED[256] = []
    assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) == 0
    layer(adds_up=True)
    for layers in (3, 5):  # their threads count for themselves
        thread = threading.Thread(target=work, args=(layers,))
        thread.start()
        thread.join()
    work(2)
    EXPECTED[256 * (len(EXPECTED) + 1)] = EXPECTED[256 * len(EXPECTED)]  # what the last node makes
    count = len(nodes)
    sizes = (ctypes.c_size_t * len(EXPECTED))(*EXPECTED)
    left = library.backward(ctypes.cast(runtime.cudaMalloc, ctypes.c_void_p), (ctypes.c_void_p * count)(*nodes), sizes, count)
    print(count, left)
    with open(sys.argv[2], "w") as out:
        json.dump(EXPECTED, out)


main()
