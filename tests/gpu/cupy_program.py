# tests/gpu/cupy_program.py — CuPy's memory pool, and one block that by-passes it
# and is never freed.
import cupy

pooled = cupy.ones((1024, 1024), dtype=cupy.float32)
total = float((pooled @ pooled).sum())
leaked = cupy.cuda.runtime.malloc(64 << 20)
print("at least 1", 64 << 20, total == 1024.0**3)
