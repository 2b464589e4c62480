# tests/torch/programs/devices.py — two GPUs: autocast, checkpointing, a block that another stream
# uses, workers of both kinds.
import torch
from moments import moment
from torch.utils.checkpoint import checkpoint


def train(device):
    layers = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).to(device)
    optimizer = torch.optim.Adam(layers.parameters())
    for step in range(2):
        with torch.autocast("cuda"):
            loss = checkpoint(layers, torch.randn(32, 256, device=device), use_reentrant=False).sum()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        moment(f"{device}, step {step}")
    return layers


def main():
    kept = [train("cuda:0"), train("cuda:1")]
    with torch.cuda.device(1):
        side = torch.cuda.Stream()
        used = torch.ones(3 << 20, device="cuda:1")
        used.record_stream(side)
        del used
        moment("used by another stream")
    data = torch.utils.data.TensorDataset(torch.arange(64 * 8, dtype=torch.float32).reshape(64, 8))
    for number, method in enumerate(("fork", "spawn")):
        loader = torch.utils.data.DataLoader(data, batch_size=16, num_workers=1, multiprocessing_context=method)
        kept.append([batch.to(f"cuda:{number}") for (batch,) in loader])
        moment(method)
    del kept[:2]
    torch.cuda.empty_cache()
    moment("given back")


if __name__ == "__main__":
    main()
