# tests/gpu/jax_program.py — a matrix product by JAX, whose allocator takes most of the GPU at once
# unless it is told not to.
import os

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

kept = jnp.zeros((64 << 20,), dtype=jnp.uint8)
product = jax.jit(lambda a: a @ a)(jnp.ones((1024, 1024)))
print("at least 1", kept.nbytes, float(product[0, 0]) == 1024.0, jax.devices()[0].platform == "gpu")
