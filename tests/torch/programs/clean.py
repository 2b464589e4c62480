# tests/torch/programs/clean.py — trains, and gives back all that it had; cuBLAS's workspace and
# PyTorch's cache stay.
import torch

model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.randn(64, 512, device="cuda")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
del model, optimizer, loss
torch.cuda.synchronize()
print(torch.cuda.memory_allocated())
