# tests/torch/programs/streams.py — memory that another stream uses, pools of the program's
# own, and CUDA graphs.
import torch
from moments import moment

side = torch.cuda.Stream()
with torch.cuda.stream(side):
    used = torch.ones(1 << 20, device="cuda")
used.record_stream(torch.cuda.current_stream())
del used
torch.cuda.synchronize()
moment("stream")

pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    kept = torch.empty(1 << 20, device="cuda")
moment("pool")

graph = torch.cuda.CUDAGraph()
given = torch.ones(1024, device="cuda")
with torch.cuda.graph(graph):
    result = (given + 1) * 2
for _ in range(3):
    graph.replay()
torch.cuda.synchronize()
moment("graph")
graph.reset()
del graph, given, result, kept, pool
torch.cuda.empty_cache()
moment("gone")
