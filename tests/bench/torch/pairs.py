# tests/bench/torch/pairs.py — ns of a tensor that is made and dropped below 20 Python functions; an
# argument is what PyTorch's own history keeps: nothing, python or all.
import sys
import time

import torch

COUNT = 20_000


def pairs():
    for _ in range(200):
        torch.empty(1024, device="cuda")
    start = time.thread_time_ns()
    for _ in range(COUNT):
        torch.empty(1024, device="cuda")
    return (time.thread_time_ns() - start) / COUNT


def below(functions):
    return below(functions - 1) if functions else pairs()


if sys.argv[1] != "nothing":
    torch.cuda.memory._record_memory_history(enabled="all", context="alloc", stacks=sys.argv[1], max_entries=100_000)
print(below(20))
