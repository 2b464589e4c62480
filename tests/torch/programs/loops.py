# tests/torch/programs/loops.py — loops of training as people write them, which end as programs of
# Python end.
#
# Usage: loops.py KIND STEPS SECONDS, of a step.
import sys
import time

import torch

kind, steps, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
weights = torch.ones(256, 256, device="cuda", requires_grad=True)
kept = []


def step():
    loss = (weights * 2).sum()
    loss.backward()
    if kind == "keeps":
        kept.append(torch.empty(1 << 18, device="cuda"))
    elif kind == "item":
        kept.append(loss.item())
    elif kind == "pinned":
        torch.empty(1 << 16).pin_memory().to("cuda", non_blocking=True)
    elif kind == "window":
        kept.append(torch.empty(1 << 18, device="cuda"))
        del kept[:-10]


for _ in range(steps):
    step()
    time.sleep(seconds)
