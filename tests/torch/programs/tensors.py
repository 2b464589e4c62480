# tests/torch/programs/tensors.py — tensors that come and go at random, and fifty moments between.
import random

import torch
from moments import moment

seeded = random.Random(16)
kept = []
for number in range(50):
    for _ in range(seeded.randrange(1, 8)):
        if kept and seeded.random() < 0.45:
            kept.pop(seeded.randrange(len(kept)))
        else:
            kept.append(torch.empty(int(2 ** seeded.uniform(0, 25)), dtype=torch.uint8, device="cuda"))
    if seeded.random() < 0.1:
        torch.cuda.empty_cache()
    moment(f"moment {number}")
