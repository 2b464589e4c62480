# tests/programs/process/outlives.py — forks and ends, while its child goes on and does what it is
# told on stdin, a word a line.
#
# Usage: outlives.py [FILE]: hold allocates 1000 bytes, end frees nothing and ends; each adds a line
# to FILE. With "held" as a second argument the child holds 1000 bytes before its parent ends.
import ctypes
import os
import sys


def check(result):
    if result:
        os._exit(result % 256)


def hold(driver):
    context, block = ctypes.c_void_p(), ctypes.c_uint64()
    check(driver.cuInit(0))
    check(driver.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(driver.cuCtxSetCurrent(context))
    check(driver.cuMemAlloc_v2(ctypes.byref(block), ctypes.c_size_t(1000)))


ready, told = os.pipe()
if os.fork():
    os.close(told)
    os.read(ready, 1)
    sys.exit()
library = ctypes.CDLL("libcuda.so.1")
if "held" in sys.argv:
    hold(library)
os.write(told, b"x")
os.close(told)
os.close(ready)
for line in sys.stdin:
    if line == "hold\n":
        hold(library)
    with open(sys.argv[1], "a") as done:
        print(os.getpid(), line, end="", file=done)
    if line == "end\n":
        break
