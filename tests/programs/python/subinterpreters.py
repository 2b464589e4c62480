# tests/programs/python/subinterpreters.py — allocates in interpreters beside the main one, one
# after the other.
#
# Usage: subinterpreters.py EXPECTED. It writes what expected.py says. Before Python 3.12 nothing
# tells which interpreter a thread is in: then it is the main one's functions, which called it.
import json
import os
import sys
import threading

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

import expected

FOLDER = os.path.dirname(os.path.abspath(__file__))
SOURCE = """
import sys
sys.dont_write_bytecode = True
sys.path.insert(0, {folder!r})
try:
    import expected
except ImportError:  # in 3.12: one with a GIL of its own may not have ctypes
    raise SystemExit
expected.first_size = {first}
def work(depth):
    return work(depth - 1) if depth else expected.allocate()
work(2), expected.allocate(expected.holding)
expected.write({path!r})
"""
every = {}


def create(kind):
    if sys.version_info >= (3, 13):
        return interpreters.create(kind)
    return interpreters.create(isolated=kind == "isolated") if sys.version_info >= (3, 9) else interpreters.create()


def run(kind, number):
    path = "%s.inner.%d" % (sys.argv[1], number)
    inner = create(kind)
    # The same code at other lines: its objects often lie where the last interpreter's did.
    source = "\n" * number + SOURCE.format(folder=FOLDER, first=(number + 1) << 16, path=path)
    here = expected.stack_of(sys._getframe())
    here[0][1] += 3
    try:
        interpreters.run_string(inner, source)
    except Exception as error:
        if "SystemExit" not in str(error):
            raise
    interpreters.destroy(inner)
    if os.path.exists(path):
        with open(path) as said:
            stacks = json.load(said)["stacks"]
        every.update(stacks if sys.version_info >= (3, 12) else dict.fromkeys(stacks, here))
    expected.allocate()


for number in range(24):
    run("isolated" if number % 2 else "legacy", number)
thread = threading.Thread(target=run, args=("legacy", 24))
thread.start()
thread.join()
expected.EXPECTED.update(every)
expected.write(sys.argv[1])
