# tests/programs/python/expected.py — allocates, and keeps which functions of Python did: imported
# by programs beside it.
#
# Each allocation has a size of its own. write() makes a file of JSON: for each size the functions
# of Python that were running, innermost first, as [file, line, name].
import ctypes
import json
import os
import sys
import threading

runtime = ctypes.CDLL("libcudart.so", mode=os.RTLD_NOW)  # its calls release the GIL
holding = ctypes.PyDLL("libcudart.so", mode=os.RTLD_NOW)  # its calls hold it
for library in (runtime, holding):
    library.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
    library.cudaFree.argtypes = [ctypes.c_void_p]

EXPECTED = {}
MOST = 256  # frames that the recorder keeps
first_size = 256  # each interpreter of a process has its own
lock = threading.Lock()


def stack_of(frame):
    stack = []
    while frame and len(stack) < MOST:
        code = frame.f_code
        stack.append([code.co_filename, frame.f_lineno, getattr(code, "co_qualname", code.co_name)])
        frame = frame.f_back
    return stack


def next_size(frame):
    stack = stack_of(frame)
    with lock:
        size = first_size + 256 * len(EXPECTED)
        EXPECTED[size] = stack
    return size


def allocate(library=runtime):
    pointer = ctypes.c_void_p()
    assert library.cudaMalloc(ctypes.byref(pointer), next_size(sys._getframe())) == 0
    return pointer.value


def free(pointer):
    runtime.cudaFree(pointer)


def write(path):
    with open(path, "w") as out:
        json.dump({"pid": os.getpid(), "stacks": EXPECTED}, out)
