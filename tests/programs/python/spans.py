# tests/programs/python/spans.py — blocks that come and go at times that are apart, for questions about a range of time.
#
# A mark stands before each of the times.
import ctypes
import time

import driver

tracer = ctypes.CDLL(None)


def early():
    return driver.allocate(2)


def passing():
    for _ in range(2):
        driver.free(driver.allocate(4))


def lasting():
    return driver.allocate(16)


def staging():
    return driver.allocate_host(5)


def late():
    return driver.allocate(3)


driver.start()
driver.allocate_host(1)
early()
time.sleep(0.3)
tracer.vramscope_mark(b"middle")
passing()
staging()
lasted = lasting()
early()
time.sleep(0.3)
tracer.vramscope_mark(b"late")
driver.free(lasted)
late()
