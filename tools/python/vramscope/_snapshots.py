# tools/python/vramscope/_snapshots.py — what rows of snapshots say, by line.
"""Rows of what grows, and of the difference between two snapshots."""
import os
from typing import Any, Dict, List, Optional, Tuple

Place = Tuple[Optional[str], Optional[str], Optional[int]]


def _place(row: Dict[str, Any]) -> Place:
    """Function, file and line of the frame that a report names the row by."""
    stack = row["stack"]
    frame = stack[min(row.get("own", 0), len(stack) - 1)] if stack else {}
    return frame.get("function"), frame.get("file"), frame.get("line")


def _text(place: Place) -> str:
    function, file, line = place
    return "{}{}".format(function or "?", "" if file is None else " {}:{}".format(os.path.basename(file), line or "?"))


def _size(amount: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if abs(amount) < 1024:
            return "{:.0f} {}".format(amount, unit) if unit == "B" else "{:.1f} {}".format(amount, unit)
        amount /= 1024
    return "{:.1f} GiB".format(amount)


class Growing:
    """A place whose memory grows up to now. ``row`` is that of the snapshot, with its whole call stack."""

    def __init__(self, row: Dict[str, Any]) -> None:
        self.row = row
        self.function, self.file, self.line = self._at = _place(row)
        rate = row["rate"]
        self.per: str = rate["per"]  # a range or a mark; "call" where there are none
        self.bytes_per_step: float = rate["bytes_per_step"]
        self.bytes: int = row["bytes"]
        self.blocks: int = row["blocks"]
        self.confidence: float = rate["confidence"]

    def __repr__(self) -> str:
        return "<Growing {}>".format(self)

    def __str__(self) -> str:
        return "{}: {} per {}, {} in all".format(_text(self._at), _size(self.bytes_per_step), self.per, _size(self.bytes))


class Difference:
    """What one line holds in a snapshot, beside what it held in an earlier one."""

    def __init__(self, place: Place, now: List[int], before: List[int]) -> None:
        self.function, self.file, self.line = self._at = place
        self.size, self.count = now
        self.size_diff, self.count_diff = now[0] - before[0], now[1] - before[1]

    def __repr__(self) -> str:
        return "<Difference {}>".format(self)

    def __str__(self) -> str:
        sign = "-" if self.size_diff < 0 else "+"
        return "{}: {} ({}{}), {} blocks ({:+d})".format(
            _text(self._at), _size(self.size), sign, _size(abs(self.size_diff)), self.count, self.count_diff)


def growing(snapshot: Dict[str, Any]) -> List[Growing]:
    return [Growing(row) for row in snapshot["growth"]]


def _held(snapshot: Dict[str, Any]) -> Dict[Place, List[int]]:
    held: Dict[Place, List[int]] = {}
    for row in snapshot["leaks"]:
        sums = held.setdefault(_place(row), [0, 0])
        sums[0] += row["bytes"]
        sums[1] += row["blocks"]
    return held


def compare(before: Dict[str, Any], after: Dict[str, Any]) -> List[Difference]:
    had, has = _held(before), _held(after)
    rows = [Difference(place, has.get(place, [0, 0]), had.get(place, [0, 0])) for place in {**had, **has}]
    changed = [row for row in rows if row.size_diff or row.count_diff]
    return sorted(changed, key=lambda row: (-abs(row.size_diff), -abs(row.count_diff), _text(row._at)))
