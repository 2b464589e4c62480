# tests/gpu/torch_program.py — one training step's worth of PyTorch; its caching
# allocator keeps its segments.
import torch

torch.manual_seed(0)
layer = torch.nn.Linear(1024, 1024).cuda()
loss = layer(torch.ones(256, 1024, device="cuda")).square().mean()
loss.backward()
torch.cuda.synchronize()
kept = torch.zeros(64 << 20, dtype=torch.uint8, device="cuda")
print("at least 1", kept.numel())
