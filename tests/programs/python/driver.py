# tests/programs/python/driver.py — GPU memory for Python programs without a framework:
# the driver, by ctypes.
import ctypes

_driver = ctypes.CDLL("libcuda.so.1")


def _check(result):
    assert result == 0, result


def start():
    """Makes the first device's primary context current in this thread."""
    context = ctypes.c_void_p()
    _check(_driver.cuInit(0))
    _check(_driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    _check(_driver.cuCtxSetCurrent(context))


def allocate(mib):
    address = ctypes.c_uint64()
    _check(_driver.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20)))
    return address


def free(address):
    _check(_driver.cuMemFree_v2(address))


def allocate_host(mib):
    """Pinned; nobody frees it."""
    address = ctypes.c_void_p()
    _check(_driver.cuMemHostAlloc(ctypes.byref(address), ctypes.c_size_t(mib << 20), 0))
    return address
