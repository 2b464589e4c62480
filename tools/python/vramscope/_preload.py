# tools/python/vramscope/_preload.py — the functions of interpose/vramscope.h, called by ctypes.
"""The tracer in this process, which is there when this module is imported."""
import ctypes
import os
import sys
import threading
from typing import Any, Dict, List, Optional, Tuple

_STATS = ("allocated_bytes", "requested_bytes", "active_bytes", "reserved_bytes", "inactive_split_bytes", "allocation",
          "active", "segment", "inactive_split")
_NUMBERS = ("num_alloc_retries", "num_ooms", "num_device_alloc", "num_device_free")
_RESULTS = ("ended", "passed", "failed", "skipped")  # enum vramscope_test_result
_COLUMNS = ("current", "peak", "allocated", "freed")
# struct vramscope_memory_stats, whose members are all uint64_t.
_KEYS = tuple(stat + ".all." + column for stat in _STATS for column in _COLUMNS) + _NUMBERS
_CURRENT = _KEYS.index("allocated_bytes.all.current")
_PEAK = _KEYS.index("allocated_bytes.all.peak")
_PEAKS = tuple(i for i in range(len(_KEYS)) if _KEYS[i].endswith(".peak"))


def _bytes(text: Any) -> bytes:
    """What a C function takes for `text`: all of it, with what is no UTF-8 and no C string written out."""
    try:
        return str(text).encode("utf-8", "backslashreplace").replace(b"\0", b"\\0")
    except Exception:  # raised by a __str__ that is not ours
        return type(text).__name__.encode("utf-8", "backslashreplace")


def _torch_stats(device: int) -> Dict[str, int]:
    """What PyTorch itself says; empty: it has done nothing yet, or was built without CUDA."""
    torch = sys.modules.get("torch")
    try:
        if torch is None or not torch.cuda.is_initialized() or not 0 <= device < torch.cuda.device_count():
            return {}
        return dict(torch.cuda.memory_stats(device))
    except Exception:  # whatever it is, the program goes on
        return {}


class Preload:
    """The tracer. Locks are held over no call of the program's, and are new in the child of a fork."""

    def __init__(self) -> None:
        # CDLL gives the GIL away for the call: those that may wait for the driver must not keep it.
        waiting, quick = ctypes.CDLL(None), ctypes.PyDLL(None)
        self._row = ctypes.c_uint64 * len(_KEYS)
        self._size = ctypes.c_size_t(ctypes.sizeof(self._row))
        self._push, self._pop, self._mark = quick.vramscope_push, quick.vramscope_pop, waiting.vramscope_mark
        self._begin_test, self._end_test = waiting.vramscope_begin_test, waiting.vramscope_end_test
        for function in (self._push, self._pop, self._mark, self._begin_test, self._end_test):
            function.restype = None
        for function in (self._push, self._mark, self._begin_test, self._end_test):
            function.argtypes = [ctypes.c_char_p]
        self._end_test.argtypes = [ctypes.c_char_p, ctypes.c_int]
        self._stats, self._take_peak = waiting.vramscope_pool_stats, waiting.vramscope_pool_take_peak
        self._empty_cache, self._headroom = waiting.vramscope_pool_empty_cache, waiting.vramscope_device_headroom
        self._empty_cache.restype = self._headroom.restype = ctypes.c_int64
        self._device = waiting.vramscope_current_device
        self._take_torch = quick.vramscope_torch_take_peak
        text = waiting.vramscope_preload_version
        text.restype = ctypes.c_char_p
        self.version = text().decode()
        self._forget()
        os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        self._lock = threading.RLock()  # a signal's handler may come in between
        self._open: List[Any] = []  # trackers whose part has not ended
        self._taken: Dict[int, List[int]] = {}  # by device: rows whose peaks a tracker took from stats()
        self._torch_peaks: Dict[int, int] = {}  # by device: of PyTorch's tensors, since the peaks were reset

    def mark(self, tag: Any) -> None:
        self._mark(_bytes(tag))

    def begin_test(self, name: Any) -> None:
        self._begin_test(_bytes(name))

    def end_test(self, name: Any, result: str) -> None:
        self._end_test(_bytes(name), _RESULTS.index(result) if result in _RESULTS else 0)

    def push(self, name: Any) -> int:
        """Returns the thread, which alone may end the range."""
        self._push(_bytes(name))
        return threading.get_ident()

    def pop(self, thread: int) -> None:
        if thread == threading.get_ident():
            self._pop()

    def device(self, wanted: Any) -> int:
        """The device's number; -1: `wanted` names none."""
        if wanted is not None and not isinstance(wanted, int):
            wanted = getattr(wanted, "index", -1)  # a torch.device's; None: the current device
        if wanted is None:  # a thread without a context is given device 0 by its first call of the CUDA runtime
            return max(self._device(), 0)
        return wanted if isinstance(wanted, int) else -1

    def _ask(self, function: Any, device: int) -> Optional[List[int]]:
        if device < 0:  # to the tracer it would mean all devices
            return None
        row = self._row()
        return list(row) if function(device, row, self._size) == 0 else None

    def stats(self, wanted: Any) -> Dict[str, int]:
        device = self.device(wanted)
        with self._lock:
            row = self._ask(self._stats, device)
            taken = self._taken.get(device)
            told = self.take_torch(device)
            peak = self._torch_peaks.get(device, 0)
        if told:
            return {**_torch_stats(device), "allocated_bytes.all.current": told[0], "allocated_bytes.all.peak": peak}
        if row is None:
            return self._stats_of_log(device)
        if taken:
            for i in _PEAKS:
                row[i] = max(row[i], taken[i])
        return dict(zip(_KEYS, row))

    def _stats_of_log(self, device: int) -> Dict[str, int]:
        """Without a pool nothing in this process adds up its memory: the log tells what the driver's calls did."""
        snapshot = (self.snapshot() if device >= 0 else None) or {"processes": []}
        for row in (row for process in snapshot["processes"] for row in process["device_memory"]):
            if row["device"] == device and not row["pooled"]:
                sums = {"allocated_bytes": row["requested_bytes"], "requested_bytes": row["requested_bytes"],
                        "allocation": row["blocks"],
                        "reserved_bytes": {"current": row["at_end"]["waterfall"]["reserved"],
                                           "peak": row["at_reserved_peak"]["waterfall"]["reserved"]}}
                return {"{}.all.{}".format(name, column): amount
                        for name, amounts in sums.items() for column, amount in amounts.items()}
        return {}

    def _take(self, device: int) -> Optional[List[int]]:
        """From now on peaks are those of what comes: trackers that are open are told what they were."""
        row = self._ask(self._take_peak, device)
        if row is not None:
            for tracker in self._open:
                if tracker.device == device:
                    tracker.peak = max(tracker.peak or 0, row[_PEAK])
        return row

    def reset_peaks(self, wanted: Any) -> None:
        device = self.device(wanted)
        with self._lock:
            self._take(device)
            self._taken.pop(device, None)
            told = self.take_torch(device)
            if told:
                self._torch_peaks[device] = told[0]

    def begin(self, tracker: Any) -> None:
        tracker.device = device = self.device(tracker.device)
        with self._lock:
            row = self._take(device)
            if row is not None:
                taken = self._taken.get(device, row)
                self._taken[device] = [max(pair) for pair in zip(row, taken)]
            tracker.before = tracker.peak = None if row is None else row[_CURRENT]
            told = self.take_torch(device)
            tracker.torch = [told[0] if told else 0] * 2  # what its blocks had before, and at most
            tracker.pool = [tracker.before, None, None]  # what the pool had before and behind it, and at most
            self._open.append(tracker)

    def end(self, tracker: Any) -> None:
        with self._lock:
            row = self._ask(self._stats, tracker.device)
            tracker.after = None if row is None else row[_CURRENT]
            tracker.peak = None if row is None else max(tracker.peak or 0, row[_PEAK])
            told = self.take_torch(tracker.device)
            tracker.pool[1:], tracker.of_torch = [tracker.after, tracker.peak], told is not None
            if told:  # PyTorch's tensors are what the program has; its segments are the pool's
                (tracker.before, tracker.peak), tracker.after = tracker.torch, told[0]
            self._open = [other for other in self._open if other is not tracker]

    def take_torch(self, device: int) -> Optional[Tuple[int, int]]:
        """What PyTorch's blocks have there, and at most since this was asked last; None: it told of none."""
        now, peak = ctypes.c_uint64(), ctypes.c_uint64()
        with self._lock:
            if self._take_torch(device, ctypes.byref(now), ctypes.byref(peak)) != 0:
                return None
            self._torch_peaks[device] = max(self._torch_peaks.get(device, 0), peak.value)
            for tracker in self._open:
                if tracker.device == device:
                    tracker.torch[1] = max(tracker.torch[1], peak.value)
        return now.value, peak.value

    def empty_cache(self) -> Optional[int]:
        given_back = self._empty_cache()
        return None if given_back < 0 else given_back

    def headroom(self) -> Optional[int]:
        free = self._headroom()
        if free < 0:
            return None
        torch = _torch_stats(self.device(None))
        return free + torch.get("reserved_bytes.all.current", 0) - torch.get("active_bytes.all.current", 0)

    def snapshot(self) -> Optional[Dict[str, Any]]:
        import json
        try:
            from ._command import CommandError, ask
        except ImportError:  # an interpreter that starts no processes
            return None
        try:
            return json.loads(ask(["snapshot", str(os.getpid()), "--json", "-"]).decode("utf-8"))
        except (CommandError, OSError, ValueError):
            return None


def find_preload() -> Optional[Preload]:
    try:
        return Preload()
    except (AttributeError, OSError):  # the tracer is of an older version, or only its auditing library is here
        return None
