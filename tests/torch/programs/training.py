# tests/torch/programs/training.py — a small network with Adam, and a
# transformer's layer under autocast.
import torch
from moments import moment

torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.ReLU(), torch.nn.Linear(1024, 10)).cuda()
optimizer = torch.optim.Adam(model.parameters())
moment("model")
for step in range(3):
    loss = model(torch.randn(64, 512, device="cuda")).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    moment(f"step {step}")
del model, optimizer, loss

layer = torch.nn.TransformerEncoderLayer(64, 4, batch_first=True).cuda()
with torch.autocast("cuda"):
    loss = layer(torch.randn(2, 16, 64, device="cuda")).sum()
loss.backward()
moment("transformer")
convolution = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), torch.nn.BatchNorm2d(16), torch.nn.ReLU()).cuda()
convolution(torch.randn(4, 3, 32, 32, device="cuda")).mean().backward()
moment("convolution")
print(torch.randn(1000, device="cuda").sort()[0].shape, torch.ones(4, device="cuda").sum().item() is not None)
torch.cuda.empty_cache()
moment("empty cache")
