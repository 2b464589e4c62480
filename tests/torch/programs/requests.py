# tests/torch/programs/requests.py — random requests of PyTorch's allocator, and what it did at
# each, as JSON.
#
# requests.py SEED STEPS MOST_BYTES [FRACTION]: recording.json has what PyTorch's own history says,
# and after each request (made, freed, cache emptied) what was allocated and reserved.
import json
import random
import sys

import torch

seeded = random.Random(int(sys.argv[1]))
steps, most = int(sys.argv[2]), int(sys.argv[3])
torch.cuda.init()
if len(sys.argv) > 4:
    torch.cuda.set_per_process_memory_fraction(float(sys.argv[4]))
free, total = torch.cuda.mem_get_info()
streams = [torch.cuda.default_stream(), torch.cuda.Stream(), torch.cuda.Stream()]
pool = torch.cuda.MemPool()
torch.cuda.memory._record_memory_history(context=None)
kept, said, emptied, pooled = [], [], [], []


def sizes():
    """Small ones, those of a layer that come again and again, and large ones."""
    kind = seeded.random()
    if kind < 0.4:
        return int(2 ** seeded.uniform(0, 20))
    if kind < 0.7:
        return seeded.choice([3 << 20, 5 << 20, 9 << 20, 10 << 20, 21 << 20, 1 << 20, (1 << 20) + 1])
    return int(2 ** seeded.uniform(20, most.bit_length() - 1))


def make():
    with torch.cuda.stream(seeded.choice(streams)):
        return torch.empty(sizes(), dtype=torch.uint8, device="cuda")


def make_in_pool():
    with torch.cuda.use_mem_pool(pool):
        return torch.empty(sizes() // 4 + 1, dtype=torch.uint8, device="cuda")


for _ in range(steps):
    kind = seeded.random()
    try:
        if kept and kind < 0.45:
            tensor = kept.pop(seeded.randrange(len(kept)))
            if seeded.random() < 0.1:
                tensor.record_stream(seeded.choice(streams))
            del tensor
            torch.cuda.synchronize()  # so that what another stream used is ready at the next request
        elif kind < 0.46:
            emptied.append(len(said))
            torch.cuda.empty_cache()
        elif kind < 0.50:
            pooled.append(len(said))
            kept.append(make_in_pool())
        else:
            kept.append(make())
    except torch.OutOfMemoryError:
        pass
    stats = torch.cuda.memory_stats()
    said.append([stats["allocated_bytes.all.current"], stats["reserved_bytes.all.current"], stats["num_alloc_retries"]])

history = torch.cuda.memory._snapshot()
with open("recording.json", "w") as file:
    json.dump({"events": history["device_traces"][0], "segments": history["segments"], "said": said, "emptied": emptied,
               "pooled": pooled, "free": free, "total": total}, file)
