# tests/torch/programs/shortage.py — runs out of memory, makes room, and goes on.
import torch
from moments import moment

kept = [torch.empty(256 << 20, dtype=torch.uint8, device="cuda") for _ in range(4)]
moment("kept")
try:
    torch.empty(8 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print(type(error).__name__, "Tried to allocate 8.00 GiB" in str(error))
moment("short")
del kept
smaller = torch.empty(3 << 30, dtype=torch.uint8, device="cuda")  # fits when the cache was given back
moment("smaller")
