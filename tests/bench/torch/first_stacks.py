# tests/bench/torch/first_stacks.py — ns for each call stack that is new: what 1,000 functions take when each is called first.
#
# Each makes a tensor and drops it, which is two stacks.
import time

import torch

FUNCTIONS = 1000
WAYS = ("torch.empty(8, device='cuda')", "x + x", "x.exp()", "x.sum()", "x.clone()", "torch.cat([x, x])", "x.flip(0)", "torch.cumsum(x, 0)",
        "torch.zeros_like(x)", "torch.softmax(x, 0)")
x = torch.ones(8, device="cuda")
for way in WAYS:
    eval(way)
source = "\n".join(f"def f{at}():\n    return {WAYS[at % len(WAYS)]}\n" for at in range(FUNCTIONS))
made = {"torch": torch, "x": x}
exec(compile(source, "made.py", "exec"), made)
functions = [made[f"f{at}"] for at in range(FUNCTIONS)]
begin = time.thread_time_ns()
for function in functions:
    function()
print((time.thread_time_ns() - begin) / (2 * FUNCTIONS))
