# tests/torch/programs/shortage.py — runs out of memory, makes room, and goes on.
import torch
from moments import moment

free, total = torch.cuda.mem_get_info()
kept = [torch.empty(total // 16, dtype=torch.uint8, device="cuda") for _ in range(4)]  # MARK kept
moment("kept")
try:
    torch.empty(total + (1 << 30), dtype=torch.uint8, device="cuda")  # MARK short
except torch.OutOfMemoryError as error:
    print(type(error).__name__, "Tried to allocate" in str(error))
print("free", torch.cuda.mem_get_info()[0])
moment("short")
del kept
smaller = torch.empty(free - total // 8, dtype=torch.uint8, device="cuda")  # fits when the cache was given back
moment("smaller")
