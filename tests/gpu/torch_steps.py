# tests/gpu/torch_steps.py — steps of a small training loop in PyTorch, by the clock.
#
# Usage: torch_steps.py COUNT. Prints "step" and microseconds. PYTORCH_NO_CUDA_MEMORY_CACHING and
# PYTORCH_CUDA_ALLOC_CONF say who allocates.
import sys
import time

import torch

torch.manual_seed(0)
model = torch.nn.Sequential(*[layer for _ in range(12) for layer in (torch.nn.Linear(1024, 1024), torch.nn.GELU())]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
data = torch.randn(512, 1024, device="cuda")


def step():
    optimizer.zero_grad(set_to_none=True)
    model(data).square().mean().backward()
    optimizer.step()


count = int(sys.argv[1])
for _ in range(3):
    step()
torch.cuda.synchronize()
begin = time.perf_counter()
for _ in range(count):
    step()
torch.cuda.synchronize()
print(f"step {(time.perf_counter() - begin) / count * 1e6:.3f}")
