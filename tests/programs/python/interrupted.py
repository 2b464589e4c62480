"""Makes and unmakes frames of every kind while signals come: interrupted.py LIBRARY (steps N EACH | timer MICROSECONDS ROUNDS)."""
import ctypes
import sys

lib = ctypes.CDLL(sys.argv[1])


class Thing:
    def __init__(self, value, *rest, key=None):
        self.value = value

    def __del__(self):
        self.value = None


def numbers(most):
    yield from range(most)


def deep(most):
    return deep(most - 1) + 1 if most else 0


def fails():
    try:
        raise KeyError("a")
    except KeyError:
        return Thing(2, 3, key=4)


def frames():
    things = [Thing(at) for at in range(5)]
    return sorted(things, key=lambda thing: -thing.value), list(numbers(3)), deep(6), fails()


if sys.argv[2] == "steps":
    lib.at_each_instruction(int(sys.argv[3]), int(sys.argv[4]))
    while lib.left() > 0:
        frames()
else:
    lib.every_microseconds(int(sys.argv[3]))
    for _ in range(int(sys.argv[4])):
        frames()
