# tests/programs/python/holders.py — device blocks held in each of the ways that programs of Python do by mistake.
#
# Prints "BYTES NAME" for each block and "ready", and waits for its stdin to end. What is true of each
# name is in tests/e2e/live/reach_python_test.py.
import collections
import ctypes
import gc
import multiprocessing  # noqa: F401 — calls this module `__mp_main__` too, as in each program with PyTorch
import sys
import threading

ctypes.CDLL("libcuda.so.1")  # first: with it comes room that nobody writes to, and that has the words that were there
from driver_blocks import address_of, allocate, make_current, wipe  # noqa: E402


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
a_set = {Tensor("a_set"), *range(9)}  # too many for the room inside
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


# What id() says is a number, though its hash, and its digits, are the object's address.
seen_in_dict, seen_in_set, seen_in_large_set = {}, set(), set(range(20))


class Cycle:
    def __init__(self, name):
        self.me = self
        self.tensor = Tensor(name)
        seen_in_dict[id(self)] = True
        seen_in_set.add(id(self))
        seen_in_large_set.add(id(self))


gc.disable()
Cycle("garbage")


class Window(collections.deque):
    """Of what is made from the interpreter's own types the parts are known, too."""


class Pointer(int):
    """An address with methods, as wrappers of CUDA have them."""


window = Window([Tensor("window")])
pointer = Pointer(address_of("pointer_address"))
addresses = [address_of("address")]
handles = {"model": allocate("handle")}
wipe(60)


def main():
    address = address_of("local_address")
    print("ready", flush=True)
    sys.stdin.read()
    return address


main()
