# tests/programs/python/greenlets.py — allocates in greenlets, which put other frames
# on the thread's stack.
#
# Usage: greenlets.py EXPECTED. It writes what expected.py says.
import sys
import threading

from greenlet import getcurrent, greenlet

from expected import allocate, write


def down(depth, other):
    allocate()
    if depth:
        down(depth - 1, other)
    other.switch()
    allocate()


def through_c(depth, other):
    if depth:
        return sorted([depth - 1], key=lambda left: through_c(left, other) or 0)
    allocate()
    other.switch()
    allocate()


def numbers(other):
    for number in range(3):
        other.switch()
        allocate()
        yield number


def consume(other):
    return [number for number in numbers(other)]


def work():
    here = getcurrent()
    running = [greenlet(down), greenlet(through_c), greenlet(consume), greenlet(down)]
    for number, one in enumerate(running):
        one.switch(*([here] if one is running[2] else [number + 1, here]))
        allocate()
    while any(running):
        for one in [one for one in running if one]:
            one.switch()
            allocate()


work()
thread = threading.Thread(target=work)
thread.start()
thread.join()
kept = greenlet(down)
kept.switch(2, getcurrent())
for _ in range(50):  # each has the place of the one before
    greenlet(lambda: allocate()).switch()
write(sys.argv[1])
