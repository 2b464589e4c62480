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

# stats() has PyTorch's numbers under PyTorch's names, its peaks are begun anew apart from PyTorch's, and what PyTorch
# has cached can still be allocated.
vramscope.reset_peak_memory_stats()
torch.cuda.reset_peak_memory_stats()
gone = torch.empty(8 << 20, device="cuda")
free = vramscope.headroom()
del gone
ours, said = vramscope.stats(), torch.cuda.memory_stats()
for name in ("allocated_bytes.all.current", "allocated_bytes.all.peak", "reserved_bytes.all.current",
             "active_bytes.all.current", "num_alloc_retries"):
    assert ours[name] == said[name], (name, ours[name], said[name])
assert vramscope.headroom() - free == 32 << 20, (free, vramscope.headroom())
vramscope.reset_peak_memory_stats()
assert vramscope.stats()["allocated_bytes.all.peak"] == torch.cuda.memory_allocated()
assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] == said["allocated_bytes.all.peak"]
