# tests/programs/doors/no_device.py — what NVIDIA's libraries answer where there is no GPU: a line
# for each call.
#
# Usage: no_device.py SCENE LIBRARY...: the libraries in the order in which they are opened.
import ctypes
import os
import sys

import _ctypes  # what closes a library

COUNT, POINTER, VERSION = ctypes.c_int(-7), ctypes.c_void_p(7), ctypes.c_int(-7)
CALLS = {
    "libcuda.so.1": {"cuDriverGetVersion": [ctypes.byref(VERSION)], "cuMemAlloc_v2": [ctypes.byref(POINTER), ctypes.c_size_t(512)],
                     "cuMemFree_v2": [ctypes.c_void_p(0)], "cuInit": [0], "cuDeviceGetCount": [ctypes.byref(COUNT)],
                     "cuMemGetInfo_v2": [ctypes.byref(POINTER), ctypes.byref(POINTER)], "cuCtxSynchronize": [],
                     "cuMemHostAlloc": [ctypes.byref(POINTER), ctypes.c_size_t(512), 0]},
    "libcudart": {"cudaRuntimeGetVersion": [ctypes.byref(VERSION)], "cudaDriverGetVersion": [ctypes.byref(VERSION)],
                  "cudaGetDeviceCount": [ctypes.byref(COUNT)], "cudaMalloc": [ctypes.byref(POINTER), ctypes.c_size_t(512)],
                  "cudaGetLastError": [], "cudaFree": [ctypes.c_void_p(0)], "cudaMallocManaged": [ctypes.byref(POINTER), ctypes.c_size_t(512), 1],
                  "cudaMallocAsync": [ctypes.byref(POINTER), ctypes.c_size_t(512), ctypes.c_void_p(0)],
                  "cudaMemGetInfo": [ctypes.byref(POINTER), ctypes.byref(POINTER)], "cudaDeviceSynchronize": [], "cudaPeekAtLastError": []},
    "libnvidia-ml.so.1": {"nvmlInit_v2": [], "nvmlDeviceGetCount_v2": [ctypes.byref(COUNT)], "nvmlShutdown": []},
}


def ask(path, library):
    """Calls what is known of a library, and prints each answer and what it left in its places."""
    name = os.path.basename(path)
    for function, arguments in next(calls for prefix, calls in CALLS.items() if name.startswith(prefix)).items():
        COUNT.value, POINTER.value, VERSION.value = -7, 7, -7
        result = getattr(library, function)(*arguments)
        print(name, function, result, COUNT.value, POINTER.value, VERSION.value)


def in_turn(paths, mode=ctypes.DEFAULT_MODE):
    for path in paths:
        ask(path, ctypes.CDLL(path, mode))


def all_open(paths):
    for path, library in [(path, ctypes.CDLL(path, ctypes.RTLD_GLOBAL)) for path in paths]:
        ask(path, library)


def deep_bound(paths):
    in_turn(paths, os.RTLD_NOW | os.RTLD_DEEPBIND)


def closed_and_opened_again(paths):
    for _ in range(3):
        for path in paths:
            library = ctypes.CDLL(path)
            ask(path, library)
            _ctypes.dlclose(library._handle)


def found_by_version(paths):
    """dlvsym of what has no version, and dlsym of what is not there."""
    libc = ctypes.CDLL(None)
    libc.dlsym.restype = libc.dlvsym.restype = ctypes.c_void_p
    for path in paths:
        handle = ctypes.c_void_p(ctypes.CDLL(path)._handle)
        for name in (b"cuMemAlloc_v2", b"cuInit", b"cudaMalloc", b"nvmlInit_v2", b"cuNoSuchThing"):
            print(os.path.basename(path), name, libc.dlvsym(handle, name, b"CUDA_1") is None, libc.dlsym(handle, name) is None)


SCENES = {scene.__name__: scene for scene in (in_turn, all_open, deep_bound, closed_and_opened_again, found_by_version)}
SCENES[sys.argv[1]](sys.argv[2:])
