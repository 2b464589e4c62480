# tests/programs/python/ended_by_python.py — a list keeps a block in each step; the end of Python
# frees them, one after another, and takes its time.
#
# Usage: ended_by_python.py STEPS SECONDS, which is how long Python's end takes.
import sys
import time

import driver


class Block:
    def __init__(self, mib):
        self.address = driver.allocate(mib)

    def __del__(self, free=driver.free):
        free(self.address)


class Slow:
    def __del__(self, sleep=time.sleep, seconds=float(sys.argv[2])):
        sleep(seconds)


kept = []
slow = Slow()


def step():
    Block(4)  # which is gone at once
    kept.append(Block(1))  # MARK grows


driver.start()
for _ in range(int(sys.argv[1])):
    step()
