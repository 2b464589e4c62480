# tests/programs/doors/ctypes_client.py — Python that calls the driver through ctypes: allocates
# twice, frees once.
#
# Usage: ctypes_client.py cdll|symbol|get_proc: attributes of a CDLL, a function made from dlsym's
# address, or cuGetProcAddress.
import ctypes
import sys

driver = ctypes.CDLL("libcuda.so.1")
SIGNATURES = {
    "cuInit": [ctypes.c_uint],
    "cuDevicePrimaryCtxRetain": [ctypes.POINTER(ctypes.c_void_p), ctypes.c_int],
    "cuCtxSetCurrent": [ctypes.c_void_p],
    "cuMemAlloc_v2": [ctypes.POINTER(ctypes.c_uint64), ctypes.c_size_t],
    "cuMemFree_v2": [ctypes.c_uint64],
}


def function(name, version):
    address = None
    if sys.argv[1] == "symbol":
        dlsym = ctypes.CDLL(None).dlsym
        dlsym.restype, dlsym.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p]
        address = dlsym(driver._handle, name.encode())
    elif sys.argv[1] == "get_proc":
        pointer = ctypes.c_void_p()
        plain = name.removesuffix("_v2").encode()
        check(driver.cuGetProcAddress_v2(plain, ctypes.byref(pointer), version, ctypes.c_uint64(0), None))
        address = pointer.value
    if address is None:
        found = getattr(driver, name)
        found.argtypes = SIGNATURES[name]
        return found
    return ctypes.CFUNCTYPE(ctypes.c_int, *SIGNATURES[name])(address)


def check(result):
    if result:
        sys.exit(f"the driver answered {result}")


check(function("cuInit", 2000)(0))
context = ctypes.c_void_p()
check(function("cuDevicePrimaryCtxRetain", 7000)(ctypes.byref(context), 0))
check(function("cuCtxSetCurrent", 4000)(context))
blocks = [ctypes.c_uint64(), ctypes.c_uint64()]
for block in blocks:
    check(function("cuMemAlloc_v2", 3020)(ctypes.byref(block), 3000))
check(function("cuMemFree_v2", 3020)(blocks[0]))
