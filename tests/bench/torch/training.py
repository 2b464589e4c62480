# tests/bench/torch/training.py — steps per second of a small network's training, all of it
# in this thread's calls.
import time

import torch

STEPS = 60
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())


def steps(count):
    for _ in range(count):
        loss = model(torch.randn(64, 512, device="cuda")).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.cuda.synchronize()


steps(10)
start = time.perf_counter()
steps(STEPS)
print(STEPS / (time.perf_counter() - start))
