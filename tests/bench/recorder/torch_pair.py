# tests/bench/recorder/torch_pair.py — blocks of an allocator like PyTorch's, made and given back below 20 Python functions.
#
# torch_pair.py ALLOCATOR PAIRS: ALLOCATOR is the path of libtorch_allocator.so. Each function but the
# innermost calls the next through C, as modules of PyTorch do: frames of native code lie between
# those of Python.
import ctypes
import functools
import sys

ctypes.CDLL("libcuda.so.1")
allocator = ctypes.CDLL(sys.argv[1])
allocator.allocate.restype = ctypes.c_void_p
allocator.allocate.argtypes = [ctypes.c_size_t]
allocator.release.argtypes = [ctypes.c_void_p]


def pairs(count):
    for _ in range(count):
        allocator.release(allocator.allocate(4096))


def below(functions, count):
    if functions == 0:
        return pairs(count)
    return functools.reduce(lambda _, left: below(left, count), [functions - 1], None)


below(9, int(sys.argv[2]))
