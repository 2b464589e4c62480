# tests/programs/python/holders.py — device blocks held in each of the ways that programs of Python do by mistake.
#
# A block is held as PyTorch holds one: the driver's address lies in a piece of C's heap, and an object of Python has the
# address of that. Prints "BYTES NAME" for each block and "ready", and waits for its stdin to end. What is true of each
# name is in tests/e2e/live/reach_python_test.py.
import ctypes
import gc
import sys
import threading

cuda = ctypes.CDLL("libcuda.so.1")
libc = ctypes.CDLL(None)
libc.calloc.restype = ctypes.c_void_p
libc.calloc.argtypes = [ctypes.c_size_t, ctypes.c_size_t]
cuda.cuMemAlloc_v2.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
next_bytes = 4096


def check(result):
    if result != 0:
        sys.exit("the driver says %d" % result)


def make_current():
    """No variable keeps the handle, as the runtime's callers have none: it leads to all that the driver has."""
    context = ctypes.c_void_p()
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))
    context.value = None


check(cuda.cuInit(0))
make_current()


def allocate(name):
    """The address of a piece of 72 bytes that has a block's address: Python itself never has it."""
    global next_bytes
    next_bytes += 16
    piece = libc.calloc(1, 72)
    check(cuda.cuMemAlloc_v2(piece + 16, next_bytes))
    print(next_bytes, name)
    return piece


class Tensor:
    def __init__(self, name):
        self.impl = ctypes.c_void_p(allocate(name))


class Slotted:
    __slots__ = ("impl",)

    def __init__(self, name):
        self.impl = ctypes.c_void_p(allocate(name))


first = Tensor("first")  # the simulated device's memory begins there, so the driver has this address too
a_global = Tensor("a_global")
losses = []
for _ in range(3):
    losses.append(Tensor("losses"))
cache = {}
for shape in ((1, 2), (3, 4)):
    cache[shape] = Tensor("cache")
nested = {"model": [{"layer": (None, Tensor("nested"))}]}
slotted = Slotted("slotted")


class Registered:
    registry = [Tensor("registry")]


class Module:
    """Its attributes are in a dict, as those of torch.nn.Module are."""

    def __init__(self):
        self.__dict__["weight"] = Tensor("attribute")


module = Module()
hooks = []


class Hooked:
    def __init__(self):
        self.seen = Tensor("bound_method")
        hooks.append(self.look)

    def look(self):
        return self.seen


Hooked()


def make_closure():
    kept = Tensor("closure")
    return lambda: kept


callback = make_closure()


def with_default(value=Tensor("default_argument")):
    return value


caught = []


def fails():
    batch = Tensor("exception")
    raise RuntimeError("out of memory")


try:
    fails()
except RuntimeError as error:
    caught.append(error)


def generator():
    state = Tensor("generator")
    while True:
        yield state


running = generator()
next(running)


def waits():
    make_current()
    waiting = Tensor("local_of_a_thread")
    ready.set()
    threading.Event().wait()
    return waiting


ready = threading.Event()
threading.Thread(target=waits, daemon=True).start()
ready.wait()
Tensor("dropped")  # the object is gone, its piece is not


class Cycle:
    def __init__(self, name):
        self.me = self
        self.tensor = Tensor(name)


gc.disable()
Cycle("garbage")


def wipe(depth):
    """No word of what was may stay behind on the stack of C."""
    return depth and max([depth], key=lambda _: wipe(depth - 1))


wipe(60)


def main():
    print("ready", flush=True)
    sys.stdin.read()


main()
