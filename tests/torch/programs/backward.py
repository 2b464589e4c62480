# tests/torch/programs/backward.py — networks on two threads, whose nodes know the lines that made
# them (anomaly mode).
#
# Usage: backward.py EXPECTED. The gradients of each step have a size of their own. EXPECTED is
# written as JSON: for each size the traceback of anomaly mode, innermost first, as [file, line].
import json
import re
import sys
import threading

import torch

torch.autograd.set_detect_anomaly(True, check_nan=False)
EXPECTED = {}
losses = []


class Step(torch.nn.Module):
    def __init__(self, operation):
        super().__init__()
        self.operation = operation

    def forward(self, values):
        return self.operation(values)


def note(size, result):
    traceback = "".join(result.grad_fn.metadata["traceback_"])
    frames = re.findall(r'File "(.*)", line (\d+), in', traceback)
    EXPECTED[4 * size] = [[file, int(line)] for file, line in reversed(frames)]


def network(first, operations):
    for number, operation in enumerate(operations):
        size = 1024 * (first + number)
        values = torch.ones(size, device="cuda", requires_grad=True)
        result = Step(operation)(values)
        note(size, result)
        losses.append(result.sum())


def halfway(values):
    halved = torch.sigmoid(values)
    return halved


def second_derivative(size):
    values = torch.ones(1024 * size, device="cuda", requires_grad=True)
    result = values.exp()
    note(1024 * size, result)
    slope, = torch.autograd.grad(result.sum(), values, create_graph=True)
    losses.append(slope.sum())  # whose nodes the backward pass makes


def work(first):
    network(first, [torch.exp, torch.sin,
                    torch.tanh, lambda values: values.sigmoid(), halfway])


torch.zeros(1, device="cuda")
for first in (10, 20):
    thread = threading.Thread(target=work, args=(first,))
    thread.start()
    thread.join()
work(30)
second_derivative(40)
for loss in losses:
    loss.backward()
with open(sys.argv[1], "w") as out:
    json.dump(EXPECTED, out)
print(len(EXPECTED), torch.cuda.is_initialized())
