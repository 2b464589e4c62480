# tests/torch/programs/leaks.py — tensors that are kept by mistake, each kind at a line of its own.
import os

import torch

weights = torch.ones(256, 256, device="cuda")
losses, caught, cache, hooks = [], [], {}, []


def train():
    for step in range(30):
        loss = weights * step  # MARK loss
        losses.append(loss)  # the number would do


def fails():
    batch = torch.empty(1 << 20, device="cuda")  # MARK exception
    raise RuntimeError(batch.shape)


def looks_up(key):
    if key not in cache:
        cache[key] = torch.empty(1000, 100 + key, device="cuda")  # MARK cache
    return cache[key]


class Hooked:
    def __init__(self):
        self.seen = torch.empty(123456, device="cuda")  # MARK hook
        hooks.append(self.look)  # keeps all of it

    def look(self):
        return self.seen


train()
try:
    fails()
except RuntimeError as error:
    caught.append(error)  # holds the frames of its traceback
for key in range(20):
    looks_up(key)
for _ in range(10):
    Hooked()
del weights
torch.cuda.synchronize()
print(len(losses), len(caught), len(cache), len(hooks), flush=True)
os._exit(0)  # as it is: Python would take much of it down
