# tests/torch/programs/retries.py — the driver refuses, PyTorch gives its cache back and asks again:
# with success, and in vain.
import threading

import torch
from moments import moment

total = torch.cuda.mem_get_info()[1]


def take(tenths):
    return torch.empty(total // 10 * tenths, dtype=torch.uint8, device="cuda")  # MARK taken


def mended():
    for tenths in (6, 7, 5):  # none fits beside the cache of the one before, which is another stream's
        with torch.cuda.stream(torch.cuda.Stream()):
            take(tenths)


def in_vain():
    kept = take(6)
    try:
        take(5)
    except torch.OutOfMemoryError:
        print("short of", kept.nbytes)


mended()
moment("mended")
in_vain()
moment("in vain")
torch.cuda.empty_cache()
take(8)
moment("no retry")
thread = threading.Thread(target=mended)
thread.start()
thread.join()
moment("thread")
