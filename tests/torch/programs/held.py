# tests/torch/programs/held.py — what programs leave of PyTorch by mistake: lists, caches, hooks, exceptions, graphs, the
# states of optimizers. Each tensor has a size of its own; prints "BYTES NAME" for each, then "ready", and waits.
import sys

import torch

KIB = 1024
sizes = {}


def rows(name):
    """Of 1 KiB each, more for each name: from 20 MiB on, so that each has a segment of its own."""
    sizes[name] = (20 + 2 * len(sizes)) * KIB
    return sizes[name]


def tensor(name, **options):
    return torch.empty(rows(name), KIB // 4, device="cuda", **options)


losses = [None, tensor("list")]
cache = {("batch", 3): tensor("dict")}
base_of_view = tensor("base_of_a_view")[3:5]
caught, hooks = [], []


class Hooked:
    def __init__(self):
        self.seen = tensor("bound_method")
        hooks.append(self.look)

    def look(self):
        return self.seen


def fails():
    batch = tensor("exception")
    raise RuntimeError(batch.shape)


def forward_hook(seen):
    return lambda module, inputs, output: seen


def generator():
    batch = tensor("generator")
    yield batch.shape


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(context, given):
        kept = tensor("saved_by_a_function")
        context.save_for_backward(kept)
        return given * 2

    @staticmethod
    def backward(context, gradient):
        return gradient * 2


Hooked()
try:
    fails()
except RuntimeError as error:
    caught.append(error)
model = torch.nn.Sequential(torch.nn.Module())
model[0].register_parameter("weight", torch.nn.Parameter(tensor("parameter")))
model[0].register_buffer("mean", tensor("buffer"))
model[0].register_forward_hook(forward_hook(tensor("hook_of_a_module")))
optimizer = torch.optim.SGD(model.parameters(), momentum=0.9)
model[0].weight.grad = torch.empty_like(model[0].weight)
optimizer.step()  # parameter, gradient and momentum have the same size
running = generator()
next(running)
given = torch.ones(4, device="cuda", requires_grad=True)
of_function = Doubled.apply(given)
factor = tensor("saved_by_the_graph", requires_grad=True)
loss = (factor * given[0]).sum()
del factor
for name, count in sizes.items():
    print(count * KIB, name)
print("ready", flush=True)
sys.stdin.read()
