# tools/python/vramscope/pytest_plugin.py — names tests in the log; marks judge their memory.
"""Judge the GPU memory of each test.

    vramscope run -- pytest -p vramscope.pytest_plugin --vramscope
    vramscope check vramscope.*.vsl --max-leaked 0

``--vramscope`` puts the name of each test into the log, so that ``vramscope check`` judges each by itself, and prints
which tests took the most: of PyTorch's tensors, where there are any. Two marks judge within pytest, with or without
that option:

    @pytest.mark.no_gpu_leaks           # what the test function allocates is gone when it returns
    @pytest.mark.limit_vram("2GiB")     # it never has more than that, beyond what was there before

Both look at the memory that the program has while the test function runs, fixtures left out, on all devices: PyTorch's
tensors where it allocates, in each setting of its allocator and with ``--pool off`` too, else that of vramscope's pool.
Where nothing is watched, since pytest was not started by ``vramscope run``, the summary says which marked tests were
not judged, and with ``--vramscope`` pytest ends at once.
"""
import gc
import os
import re
import sys

import pytest

import vramscope

_DEVICES = range(16)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}
_PROPERTY = "vramscope"  # a report's: it travels from the workers of pytest-xdist too


def pytest_addoption(parser):
    parser.getgroup("vramscope", "GPU memory of tests").addoption(
        "--vramscope", action="store_true", help="name each test in vramscope's log, and tell which took the most GPU memory")


def pytest_configure(config):
    config.addinivalue_line("markers", "no_gpu_leaks: the GPU memory that the test allocates is gone when it returns")
    config.addinivalue_line("markers", "limit_vram(limit): the most GPU memory that the test may add, such as \"2GiB\"")
    if config.getoption("--vramscope") and not vramscope.version():
        raise pytest.UsageError("--vramscope: {}".format(_unwatched()))
    config.pluginmanager.register(_Judge(config.getoption("--vramscope")), "vramscope-judge")


def _unwatched():
    """Why no memory is watched; None: it is."""
    return None if vramscope.version() else "nothing is watched: start it with `vramscope run -- pytest ...`"


def pytest_collection_modifyitems(items):
    for item in items:
        _limit(item)


def _limit(item):
    """Of its mark, in bytes; None: it has none."""
    mark = item.get_closest_marker("limit_vram")
    if mark is None:
        return None
    text = str(next(iter(mark.args or mark.kwargs.values()), "")).strip()
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", text)
    if not found:
        raise pytest.UsageError("{}: limit_vram({!r}): a size such as \"2GiB\" is wanted".format(item.nodeid, text))
    return int(float(found[1]) * (1 << _UNITS[found[2]]))


def _text(size):
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024 or unit == "GiB":
            return "{:.1f} {}".format(size, unit).replace(".0 ", " ")
        size /= 1024


def _torch_memory(device):
    """What PyTorch's allocator has reserved, and what of that its tensors have."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized() or device >= torch.cuda.device_count():
            return 0, 0
        return torch.cuda.memory_reserved(device), torch.cuda.memory_allocated(device)
    except Exception:  # a build of PyTorch without CUDA
        return 0, 0


class _Part:
    """What the test function does to the program's memory, on all devices."""

    def __init__(self):
        self._trackers = [vramscope.cuda_memory_tracker(device=device) for device in _DEVICES]
        self._torch = [_torch_memory(device) for device in _DEVICES]
        for tracker in self._trackers:
            tracker.__enter__()

    def end(self):
        """What its report says of it."""
        for tracker in reversed(self._trackers):
            tracker.__exit__()
        if os.environ.get("VRAMSCOPE_POOL") == "off" and not any(tracker.of_torch for tracker in self._trackers):
            return {"unwatched": "with --pool off PyTorch's tensors alone are judged"}
        known = [(tracker, *memory, *_torch_memory(tracker.device))
                 for tracker, memory in zip(self._trackers, self._torch) if tracker.after is not None]
        if any(reserved > tracker.after for tracker, _, _, reserved, _ in known if not tracker.of_torch):
            return {"unwatched": "PyTorch's expandable segments are no memory of vramscope's pool"}
        found = {"peak": max([tracker.peak - (tracker.before or 0) for tracker, *_ in known], default=0),
                 "after": sum(tracker.after - (tracker.before or 0) for tracker, *_ in known)}
        found["left"] = found["after"] + sum(self._beside(*one) for one in known)
        if any(tracker.of_torch for tracker, *_ in known):
            found["with_cache"] = self._with_cache(known)
        return found

    @staticmethod
    def _with_cache(known):
        """The pool's peak; None: PyTorch's expandable segments are no memory of the pool."""
        pools = [(tracker.pool, reserved) for tracker, _, _, reserved, _ in known]
        if any(reserved > (after or 0) for (_, after, _), reserved in pools):
            return None
        return max([peak - (before or 0) for (before, _, peak), _ in pools if peak is not None], default=0)

    @staticmethod
    def _beside(tracker, reserved_before, allocated_before, reserved, allocated):
        """What is left beside PyTorch's tensors; of a PyTorch that tells of none, less what it has cached."""
        if not tracker.of_torch:
            return (reserved_before - allocated_before) - (reserved - allocated)
        before, after, _ = tracker.pool
        if after is None or reserved > after:  # its expandable segments are not the pool's
            return 0
        return max((after - reserved) - max((before or 0) - reserved_before, 0), 0)


class _Judge:
    """Each test's name goes to the log; its peak and what it leaves go with its report."""

    def __init__(self, all_tests):
        self._all_tests = all_tests
        self._results = {}

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if not self._all_tests:
            yield
            return
        vramscope.begin_test(item.nodeid)
        yield
        vramscope.end_test(item.nodeid, self._results.pop(item.nodeid, "ended"))

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        leaks, limit = item.get_closest_marker("no_gpu_leaks"), _limit(item)
        if not (self._all_tests or leaks or limit is not None):
            yield
            return
        if _unwatched():
            if leaks or limit is not None:
                item.user_properties.append((_PROPERTY, {"unwatched": _unwatched()}))
            yield
            return
        if leaks:
            gc.collect()
        part = _Part()
        outcome = yield
        returned = outcome.excinfo is None  # else its frames still hold what it had
        if leaks and returned:
            gc.collect()
        found = part.end()
        if returned and leaks and found.get("left", 0) > 0:
            found["failure"] = "no_gpu_leaks: {} that the test allocated was still there when it returned".format(
                _text(found["left"]))
        elif returned and limit is not None and found.get("peak", 0) > limit:
            found["failure"] = "limit_vram: the test took {} at its peak, at most {} is allowed".format(
                _text(found["peak"]), _text(limit))
        if leaks or limit is not None or "unwatched" not in found:
            item.user_properties.append((_PROPERTY, found))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        report = (yield).get_result()
        for name, found in item.user_properties:
            if name == _PROPERTY and call.when == "call" and report.passed and "failure" in found:
                report.outcome, report.longrepr = "failed", found["failure"]
        if report.failed or report.skipped or item.nodeid not in self._results:
            if self._results.get(item.nodeid) != "failed":
                self._results[item.nodeid] = report.outcome

    @pytest.hookimpl(trylast=True)
    def pytest_terminal_summary(self, terminalreporter):
        tests = {}
        for reports in terminalreporter.stats.values():
            for report in reports:
                tests.update((report.nodeid, found) for name, found in getattr(report, "user_properties", ())
                             if name == _PROPERTY)
        unwatched = [name for name, found in tests.items() if "unwatched" in found]
        if unwatched:
            terminalreporter.section("vramscope", yellow=True)
            terminalreporter.line("GPU memory of {} marked test{} was not judged ({}{}): {}".format(
                len(unwatched), "" if len(unwatched) == 1 else "s", ", ".join(unwatched[:3]),
                ", ..." if len(unwatched) > 3 else "", tests[unwatched[0]]["unwatched"]), yellow=True)
        if self._all_tests:
            _print_largest(terminalreporter, tests)


def _print_largest(terminalreporter, tests, most=10):
    of_torch = any("with_cache" in found for found in tests.values())
    rows = []
    for name, found in tests.items():
        if "peak" in found:
            rows.append((found["peak"], found["after"], found.get("with_cache", found["peak"]), name))
    if not rows:
        return
    rows.sort(key=lambda row: (row[0], row[1], row[2] or 0, row[3]), reverse=True)
    terminalreporter.section("vramscope: the most GPU memory beyond what was there before")
    column = "{:>12}  ".format("with cache") if of_torch else ""
    terminalreporter.line("{:>12}  {:>12}  {}test".format("peak", "after it", column))
    for peak, after, pooled, name in rows[:most]:
        cache = "{:>12}  ".format("unknown" if pooled is None else _text(pooled)) if of_torch else ""
        terminalreporter.line("{:>12}  {:>12}  {}{}".format(_text(peak), _text(after), cache, name))
    if len(rows) > most:
        terminalreporter.line("... and {} more".format(len(rows) - most))
    if of_torch:
        terminalreporter.line("of PyTorch's tensors; with cache: all that the program took, and what PyTorch keeps; "
                              "next: vramscope check LOG")
    else:
        terminalreporter.line("of allocated_bytes.all, as torch.cuda.memory_stats() names it; next: vramscope check LOG")
