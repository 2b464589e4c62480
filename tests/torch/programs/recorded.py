# tests/torch/programs/recorded.py — 50 moments of tensors that other streams use (record_stream)
# when they are dropped.
import random

import torch
from moments import moment

random.seed(2)
streams = [torch.cuda.Stream() for _ in range(3)]
kept = []
for step in range(50):
    for _ in range(20):
        if kept and random.random() < 0.5:
            kept.pop(random.randrange(len(kept)))
        else:
            tensor = torch.empty(random.choice((100, 5000, 300000, 3 << 20)), device="cuda")
            for stream in random.sample(streams, random.choice((0, 0, 1, 2))):
                tensor.record_stream(stream)
            kept.append(tensor)
    if step % 7 == 3:
        torch.cuda.synchronize()
    if step % 10 == 9:
        del kept[::2]
        torch.cuda.empty_cache()  # waits for the streams, and tells nobody of the blocks
    moment(f"step {step}")
