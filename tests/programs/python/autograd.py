# tests/programs/python/autograd.py — goes forward on two threads, and backward on one
# that is not Python's.
#
# Usage: autograd.py LIBRARY EXPECTED. Each backward step allocates a size of its own. EXPECTED is
# written as JSON: for each size the functions of Python that ran, and those that made the node,
# innermost first, as [file, line, name]; of a node without number, LEAF. A child of a fork, which
# is made before CUDA is used, writes EXPECTED.child.
import ctypes
import json
import os
import sys
import threading

library = ctypes.CDLL(sys.argv[1])
library.forward.restype = ctypes.c_void_p
library.backward.restype = ctypes.c_long
library.backward_here.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t]
library.backward_here.restype = None
runtime = ctypes.CDLL("libcudart.so", mode=os.RTLD_NOW)

EXPECTED = {}
LEAF = [[None, None, "gradient of a leaf tensor"]]
nodes = []
lock = threading.Lock()


def frames_of(frame):
    stack = []
    while frame:
        code = frame.f_code
        stack.append([code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    return stack


def next_size(ran, made):
    size = 256 * (len(EXPECTED) + 1)
    EXPECTED[size] = [ran, made]
    return size


def layer(adds_up=False):
    with lock:
        next_size([], LEAF if adds_up else frames_of(sys._getframe())), nodes.append(library.forward(adds_up))


def network(depth):
    layer()
    if depth:
        network(depth - 1)


def work(layers):
    for _ in range(layers):
        layer()
        network(2)


def again(allocate):
    node, made = nodes[-1], EXPECTED[256 * len(nodes)][1]
    here = frames_of(sys._getframe())
    here[0][1] += 2
    library.backward_here(allocate, node, next_size(here, made), next_size(here, here + made))


def main():
    pointer = ctypes.c_void_p()
    layer()  # before there is a log, so that its functions are not known
    child = os.fork()
    EXPECTED[256] = [[], []]
    assert runtime.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(1 << 20)) == 0
    layer(adds_up=True)
    for layers in (3, 5):  # their threads count for themselves
        thread = threading.Thread(target=work, args=(layers,))
        thread.start()
        thread.join()
    work(2)
    next_size(*EXPECTED[256 * len(EXPECTED)])  # what the last node makes
    count = len(nodes)
    sizes = (ctypes.c_size_t * len(EXPECTED))(*EXPECTED)
    allocate = ctypes.cast(runtime.cudaMalloc, ctypes.c_void_p)
    left = library.backward(allocate, (ctypes.c_void_p * count)(*nodes), sizes, count)
    again(allocate)
    assert child == 0 or os.waitpid(child, 0)[1] == 0
    print(count, left, flush=True)
    with open(sys.argv[2] + (".child" if child == 0 else ""), "w") as out:
        json.dump({"pid": os.getpid(), "stacks": EXPECTED}, out)


main()
