# tests/bench/torch/calls.py — ns of a call in Python, without CUDA.
import time


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


start = time.thread_time_ns()
fibonacci(27)
print((time.thread_time_ns() - start) / 832_040)
