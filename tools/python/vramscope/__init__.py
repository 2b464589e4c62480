# tools/python/vramscope/__init__.py — a Python program talks to the tracer that it runs under.
"""Name the phases of a program for vramscope's reports, and ask what its GPU memory holds.

    import vramscope

    for epoch in range(10):
        with vramscope.range("epoch"):
            with vramscope.cuda_memory_tracker("validation") as used:
                validate()
            print(used)                 # validation: 12.0 MiB before, 12.0 MiB after, 76.0 MiB at its peak
        vramscope.mark("epoch done")

Under ``vramscope run python3 ...`` this module is found without being installed. Without the tracer every function
returns at once and does nothing: what cannot be known is None, or is missing in a dict, and is never a made-up zero.
Nothing here raises an error because of the tracer, or because of its absence. Any thread may call any function.

A program that must also run where this module is not (with ``python3 -I``, or without vramscope) writes:

    try:
        import vramscope
    except ImportError:
        vramscope = None

``load("run.vsl")`` reads logs, in any Python, as lists of dicts or as DataFrames of pandas, and ``%load_ext vramscope``
gives a notebook its magic.
"""
from __future__ import annotations

TYPE_CHECKING = False  # type checkers take it for true; the program does not pay for the import
if TYPE_CHECKING:
    import os
    from typing import Any, Dict, List, Literal, Optional, Union, overload

    import pandas as _pandas

    from ._logs import Log
    from ._preload import Preload
    from ._snapshots import Difference, Growing


def _find() -> Optional[Preload]:
    """The tracer. To look for its file in this process takes less long than to import ctypes."""
    try:
        with open("/proc/self/maps", "rb") as maps:
            if b"libvramscope" not in maps.read():
                return None
    except OSError:
        pass
    try:
        from ._preload import find_preload
    except ImportError:  # an interpreter without ctypes, or a subinterpreter that may not have it
        return None
    return find_preload()


_preload = _find()

__all__ = ["CommandError", "begin_test", "compare", "cuda_memory_tracker", "empty_cache", "end_test", "growing", "headroom",
           "load", "mark", "range", "reset_peak_memory_stats", "snapshot", "stats", "version"]


def version() -> Optional[str]:
    """The tracer's version, such as "0.4.0"; None where this process is not traced."""
    return _preload.version if _preload else None


def mark(tag: str) -> None:
    """Names this moment: reports list it with its time, and can tell growth from mark to mark (``--per TAG``)."""
    if _preload:
        _preload.mark(tag)


def begin_test(name: str) -> None:
    """A test of this process begins: until its end, what any thread allocates is the test's.

    ``vramscope check`` judges each test by itself, and names it. Tests run one after the other: one that begins
    before another has ended takes its place. ``pytest -p vramscope.pytest_plugin --vramscope`` calls these two.
    """
    if _preload:
        _preload.begin_test(name)


def end_test(name: str, result: str = "ended") -> None:
    """The test of that name ends: "passed", "failed", "skipped", or "ended" where nobody says how."""
    if _preload:
        _preload.end_test(name, result)


class range:
    """Names a phase: ``with vramscope.range("epoch"): ...``.

    Ranges nest, and reports show where memory was allocated as "epoch/step". They belong to their thread, as with
    NVTX: enter and leave one in the same thread, and make a new one for each ``with``. An exception ends the range
    like any other way out, and goes on.
    """

    __slots__ = ("_name", "_thread")

    def __init__(self, name: str) -> None:
        self._name = name
        self._thread = 0

    def __enter__(self) -> "range":
        if _preload:
            self._thread = _preload.push(self._name)
        return self

    def __exit__(self, *exception: Any) -> None:
        if _preload:
            _preload.pop(self._thread)


def stats(device: Optional[int] = None) -> Dict[str, int]:
    """The memory of a device, under the names of ``torch.cuda.memory_stats()``.

    "allocated_bytes.all.current", "reserved_bytes.all.peak" and so on, in bytes; ``device`` is a number or a
    ``torch.device``, and None the calling thread's current one. What is not known is not in it, so read it by ``.get``:
    without the tracer and before the device's first allocation it is empty.

    Where PyTorch allocates on the device, allocated is what its tensors have, in each setting of its allocator; the
    other numbers are then PyTorch's own. Else they are the sums of vramscope's pool. With ``--pool off`` and without
    PyTorch there are fewer of them, whose peaks are those since the start: they are read from the log by another
    process, which takes a moment.
    """
    return _preload.stats(device) if _preload else {}


def reset_peak_memory_stats(device: Optional[int] = None) -> None:
    """From now on the peaks in ``stats(device)`` are those of what comes. Trackers that are open keep theirs."""
    if _preload:
        _preload.reset_peaks(device)


def empty_cache() -> Optional[int]:
    """Gives all memory that the pool only caches back to the driver, after waiting for the devices.

    Returns the bytes. None: there is no pool, or a stream is being captured, so that nothing was done.
    """
    return _preload.empty_cache() if _preload else None


def headroom() -> Optional[int]:
    """Bytes that could still be allocated on the calling thread's current device.

    What the driver says is free, within ``--set limit``, and what the pool would give back; where PyTorch allocates on
    the device, what it has cached for its tensors too. A single allocation can fail below that where memory is in
    pieces. None where that is not known: without the tracer, before the thread's
    first CUDA call, and while a stream is being captured.
    """
    return _preload.headroom() if _preload else None


def snapshot() -> Optional[Dict[str, Any]]:
    """What this process holds now, by call stack: the report of ``vramscope snapshot``, as its JSON has it.

    ``snapshot()["totals"]["leaked_bytes"]`` is what is held, and ``["leaks"]`` lists it with stacks, the largest
    first; ``vramscope schema`` describes the rest. It reads the log in another process, which takes a moment. None
    where there is no log to read: without the tracer, or before the first CUDA call.
    """
    return _preload.snapshot() if _preload else None


def growing() -> Optional[List[Growing]]:
    """What grows now, by line, the fastest first: an empty list is a healthy program.

        if batch % 100 == 0:
            for row in vramscope.growing() or ():
                print(row)              # keep() train.py:12: 1.0 MiB per step, 96.0 MiB in all

    A step is a range or a mark; without either, an allocating call. ``row.file``, ``row.line`` and ``row.function`` say
    where, ``row.bytes_per_step``, ``row.per``, ``row.bytes``, ``row.blocks`` and ``row.confidence`` how much. None
    where it is not known, as for ``snapshot()``, which this is read from.
    """
    now = snapshot()
    if now is None:
        return None
    from . import _snapshots
    return _snapshots.growing(now)


def compare(before: Dict[str, Any], after: Dict[str, Any]) -> List[Difference]:
    """What changed between two snapshots, by line, the largest change first.

        before = vramscope.snapshot()
        serve(request)
        for row in vramscope.compare(before, vramscope.snapshot())[:5]:
            print(row)                  # load() serve.py:30: 96.0 MiB (+32.0 MiB), 3 blocks (+1)

    A row has ``size``, ``size_diff``, ``count`` and ``count_diff``, as those of tracemalloc have, in bytes and blocks,
    and the ``file``, ``line`` and ``function`` that hold them.
    """
    from . import _snapshots
    return _snapshots.compare(before, after)


class cuda_memory_tracker:
    """Tells what a part of a program does to its memory: ``with vramscope.cuda_memory_tracker() as used: ...``.

    Where PyTorch allocates on the device it is that of its tensors, as ``torch.cuda.memory_allocated()`` has it, in each
    setting of its allocator; else the pool's.

    Behind the ``with``, ``used.before``, ``used.after`` and ``used.peak`` are bytes allocated on the device: when the
    part began, when it ended, and at most in between, by any thread. Each is None where it is not known, as
    ``stats()`` says. With a name the part is a range of that name too. Trackers may be nested and may run in several
    threads, and the peaks of ``stats()`` stay as they are.
    """

    def __init__(self, name: Optional[str] = None, device: Optional[int] = None) -> None:
        self.name = name
        self.device = device  # from the beginning of the part on, the number of the device that was meant
        self.before: Optional[int] = None
        self.after: Optional[int] = None
        self.peak: Optional[int] = None
        # Of _preload.py: what PyTorch's tensors and the pool had.
        self.torch: List[int] = [0, 0]
        self.pool: List[Optional[int]] = [None, None, None]
        self.of_torch = False
        self._range = None if name is None else range(name)

    def __enter__(self) -> "cuda_memory_tracker":
        if self._range:
            self._range.__enter__()
        if _preload:
            _preload.begin(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        if _preload:
            _preload.end(self)
        if self._range:
            self._range.__exit__(*exception)

    def __str__(self) -> str:
        def text(amount: Optional[int]) -> str:
            return "unknown" if amount is None else "{:.1f} MiB".format(amount / (1 << 20))

        return "{}: {} before, {} after, {} at its peak".format(
            self.name or "CUDA memory", text(self.before), text(self.after), text(self.peak))


class CommandError(RuntimeError):
    """The ``vramscope`` command could not do what it was asked for: the text is its own line, ``status`` how it ended."""

    def __init__(self, text: str, status: int) -> None:
        super().__init__(text)
        self.status = status  # 120: no readable log; 125: wrong usage; 127: there is no such command


if TYPE_CHECKING:
    _Path = Union[str, "os.PathLike[str]"]

    @overload
    def load(*logs: _Path, pandas: Literal[False] = False) -> Log[List[Dict[str, Any]]]: ...
    @overload
    def load(*logs: _Path, pandas: Literal[True]) -> Log[_pandas.DataFrame]: ...


def load(*logs: Any, pandas: bool = False) -> Any:
    """What logs say, as tables: one log, several as one, or a folder of them.

        run = vramscope.load("run.vsl")
        print(run)                                   # the verdict, and a sentence for each kind of what was found
        for row in run.leaks:
            print(row["bytes"], row["function"], row["line"])
        run = vramscope.load("run.vsl", pandas=True)
        run.blocks.groupby("function", observed=True)["bytes"].sum()

    ``verdict`` (an inconclusive one is told like the others, with its ``verdict_reasons``), ``totals`` and ``json``, which
    is the whole report as ``vramscope schema`` describes it; and the tables ``findings``, ``leaks``, ``growth``, ``peak``,
    ``timeline``, ``sites``, ``marks``, ``devices``, ``processes`` and ``blocks``: lists of dicts, or with ``pandas=True``
    DataFrames. ``page()`` is the report for a browser, which a notebook shows. CommandError: it cannot be read.
    """
    from . import _logs
    return _logs.load(logs, pandas)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext vramscope``: the magics ``%%vramscope``, around a cell, and ``%vramscope``, the page of what is held now."""
    from . import _notebook
    _notebook.add_magic(shell)
