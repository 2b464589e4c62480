# tests/torch/programs/recomputed.py — backward passes that call Python: checkpoints, and functions
# with a backward of their own.
#
# Usage: recomputed.py EXPECTED. The gradients of each part have a size of their own. EXPECTED is
# written as JSON: for each size the origins of its allocations in the backward pass, as anomaly
# mode keeps them for nodes and for their parents, and the functions of Python that ran; innermost
# first, each as [file, line].
import json
import re
import sys
import threading

import torch
from torch.utils.checkpoint import checkpoint

torch.autograd.set_detect_anomaly(True, check_nan=False)
ORIGINS, RAN = {}, {}


def traceback_of(node):
    frames = []
    while node is not None:
        found = re.findall(r'File "(.*)", line (\d+), in', "".join(node.metadata["traceback_"]))
        frames += [[file, int(line)] for file, line in reversed(found)]
        node = node.metadata.get("parent_")
    return frames


def note_node(size, result):
    ORIGINS.setdefault(4 * size, []).append(traceback_of(result.grad_fn))


def note_frames(size, frame):
    ran = [[frame.f_code.co_filename, frame.f_lineno + 1]]  # the line after the caller's
    while frame := frame.f_back:
        ran.append([frame.f_code.co_filename, frame.f_lineno])
    RAN.setdefault(4 * size, []).append(ran)


def block(size):
    def forward(values):
        note_frames(size, sys._getframe())
        raised = torch.exp(values)
        result = torch.sin(raised)
        if result.grad_fn and threading.current_thread() in makers:  # these nodes will run
            note_node(size, raised), note_node(size, result)
        return result
    return forward


class Doubled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, values):
        return values * 2

    @staticmethod
    def backward(ctx, gradient):
        note_frames(gradient.numel(), sys._getframe())
        return gradient * 2


class Everyone:
    def __contains__(self, thread):
        return True


def leaf(size):
    return torch.ones(size, device="cuda", requires_grad=True)


# The nodes of a reentrant checkpoint are made when it goes forward again, in the backward pass.
makers = Everyone()
values = leaf(51200)
result = checkpoint(block(51200), values, use_reentrant=True)
note_node(51200, result)
result.sum().backward()
makers = [threading.main_thread()]
values = leaf(61440)
checkpoint(block(61440), values, use_reentrant=False).sum().backward()
values = leaf(71680)
result = Doubled.apply(values)
note_node(71680, result)
result.sum().backward()
leaf(81920).sum().backward()  # the gradient is made by the node that adds it to the leaf's
with open(sys.argv[1], "w") as out:
    json.dump({"origins": ORIGINS, "ran": RAN}, out)
