# tests/programs/python/torch_train.py — a training loop in Python over a caching
# allocator with PyTorch's manners.
#
# torch_train.py ALLOCATOR STEPS: ALLOCATOR is the path of libtorch_allocator.so. Each step takes a
# batch and activations, gives both back, and keeps a loss that nobody frees.
import ctypes
import sys

KIB = 1 << 10
MIB = 1 << 20


def check(result):
    if result != 0:
        sys.exit(f"CUDA error {result}")


def start():
    cuda = ctypes.CDLL("libcuda.so.1")
    context = ctypes.c_void_p()
    check(cuda.cuInit(0))
    check(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0))
    check(cuda.cuCtxSetCurrent(context))


start()
allocator = ctypes.CDLL(sys.argv[1])
allocator.allocate.restype = ctypes.c_void_p
allocator.allocate.argtypes = [ctypes.c_size_t]
allocator.release.argtypes = [ctypes.c_void_p]


def load_weights():
    return [allocator.allocate(size * MIB) for size in (6, 12, 3)]


def load_batch():
    return allocator.allocate(4 * MIB)


def forward():
    return [allocator.allocate(size) for size in (2 * MIB, 700 * KIB, 5 * MIB)]


def keep_loss(losses):
    losses.append(allocator.allocate(300 * KIB))


def train(steps):
    losses = []
    for _ in range(steps):
        batch = load_batch()
        activations = forward()
        keep_loss(losses)
        for block in [batch, *activations]:
            allocator.release(block)


weights = load_weights()
train(int(sys.argv[2]))
for block in weights:
    allocator.release(block)
