# tests/torch/programs/tracker.py — parts of a program, by cuda_memory_tracker and by PyTorch's word.
import torch
import vramscope

kept = torch.empty(1 << 18, device="cuda")


def told(used):
    return [used.before, used.after, used.peak]


for leaves in (False, True):
    torch.cuda.reset_peak_memory_stats()
    before = torch.cuda.memory_allocated()
    with vramscope.cuda_memory_tracker("part") as used:
        with vramscope.cuda_memory_tracker() as inner:
            gone = torch.empty(16 << 20, device="cuda")
        del gone
        if leaves:
            kept = torch.cat([kept, torch.empty(1 << 20, device="cuda")])
    said = [before, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated()]
    assert told(used) == said, (told(used), said)
    assert told(inner) == [before, before + (64 << 20), before + (64 << 20)], told(inner)
