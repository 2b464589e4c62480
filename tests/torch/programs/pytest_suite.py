# tests/torch/programs/pytest_suite.py — tests for workers of pytest-xdist: each takes a size of its
# own; one keeps it, one fails.
import pytest
import torch

kept = []


def megabytes(count):  # even, or PyTorch rounds it up where it finds no more room
    return torch.empty(count << 20, dtype=torch.uint8, device="cuda")


@pytest.mark.parametrize("count", range(2, 26, 2))
def test_takes(count):
    assert megabytes(count).numel() == count << 20


def test_keeps():
    kept.append(megabytes(26))


def test_fails():
    megabytes(28)
    pytest.fail("its own word")


@pytest.mark.no_gpu_leaks
def test_gives_back():
    megabytes(30)
