# tests/programs/python/epochs.py — a training loop that keeps each epoch's loss;
# the README shows it.
import vramscope
from driver import allocate, free, start

losses = []


def step():
    activations = allocate(24)
    losses.append(allocate(1))
    free(activations)


start()
weights = allocate(64)
for epoch in range(3):
    with vramscope.range("epoch"), vramscope.cuda_memory_tracker("step") as used:
        step()
    print(used)
    vramscope.mark("epoch done")
print("allocated:", vramscope.stats().get("allocated_bytes.all.current"))
print("reserved:", vramscope.stats().get("reserved_bytes.all.current"))
print("given back: {}, can be allocated: {}".format(vramscope.empty_cache(), vramscope.headroom()))
