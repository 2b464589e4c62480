# tests/torch/programs/loader.py — batches by way of pinned memory, from this process
# and from two workers.
import torch
from moments import moment

data = torch.utils.data.TensorDataset(torch.arange(64 * 8, dtype=torch.float32).reshape(64, 8))
for workers in (0, 2):
    batches = [batch.cuda(non_blocking=True)
               for (batch,) in torch.utils.data.DataLoader(data, batch_size=16, pin_memory=True, num_workers=workers)]
    torch.cuda.synchronize()
    print(len(batches), all(torch.equal(batch.cpu(), data[16 * at:16 * at + 16][0]) for at, batch in enumerate(batches)))
    moment(f"{workers} workers")
