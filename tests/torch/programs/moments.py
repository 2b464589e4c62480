# tests/torch/programs/moments.py — what PyTorch says of its memory, beside a mark of the same name
# in vramscope's log.
#
# MOMENTS names the file for it: a JSON line for each moment. Without it a moment is only printed.
import ctypes
import json
import os

import torch

torch.backends.cudnn.enabled = False  # its stand-in computes nothing, not even a plan
process = ctypes.CDLL(None)
mark = getattr(process, "vramscope_mark", None)


def moment(name):
    """Prints what a run with vramscope must print too, and keeps the addresses, which may differ."""
    stats = torch.cuda.memory_stats()
    allocated, reserved = (stats.get(f"{kind}_bytes.all.current", 0) for kind in ("allocated", "reserved"))
    print(name, allocated, reserved, flush=True)
    if mark:
        mark(name.encode())
    if "MOMENTS" in os.environ:
        said = {"name": name, "allocated": allocated, "reserved": reserved, "stats": stats, "segments": segments(),
                "devices": [torch.cuda.memory_stats(device) for device in range(torch.cuda.device_count())]}
        with open(os.environ["MOMENTS"], "a") as file:
            file.write(json.dumps(said) + "\n")


def segments():
    """PyTorch's own list: {address, bytes, blocks: [{address, bytes, state}]}."""
    try:
        found = torch.cuda.memory._snapshot()["segments"]
    except RuntimeError:  # the allocator has none
        return []
    return [{"address": segment["address"], "bytes": segment["total_size"],
             "blocks": [{"address": block["address"], "bytes": block["size"], "state": block["state"]}
                        for block in segment["blocks"]]} for segment in found]
