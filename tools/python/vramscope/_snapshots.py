# tools/python/vramscope/_snapshots.py — what rows of snapshots say, by line.
"""Rows of what grows, and of the difference between two snapshots."""
import os
from typing import Any, Dict, List, Optional, Set, Tuple

# Function, file and line; and the line of a notebook's cell that led there.
Place = Tuple[Optional[str], Optional[str], Optional[int], Optional[int]]


def _function(frame: Dict[str, Any]) -> Tuple[Any, Any]:
    return frame["function"], frame["file"] or frame["module"]


def _folded(*snapshots: Dict[str, Any]) -> Set[Tuple[Any, Any]]:
    """The functions that allocate for others, as any of the snapshots tells them."""
    return {_function(frame) for snapshot in snapshots for row in snapshot["leaks"]
            for frame in row["stack"][:row.get("own", 0)]}


def _place(row: Dict[str, Any], folded: Set[Tuple[Any, Any]], cell: Optional[str] = None) -> Place:
    """That of the frame that a report names the row by. `cell` is the file that a cell's code is of."""
    stack = row["stack"]
    frames = [frame for frame in stack if _function(frame) not in folded] or stack
    if not frames:
        return None, None, None, None
    of_cell = next((frame["line"] for frame in stack if cell and frame["file"] == cell), None)
    return frames[0]["function"], frames[0]["file"], frames[0]["line"], of_cell


def _text(place: Place) -> str:
    function, file, line, _ = place
    return "{}{}".format(function or "?", "" if file is None else " {}:{}".format(os.path.basename(file), line or "?"))


def size_text(amount: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if abs(amount) < 1024:
            return "{:.0f} {}".format(amount, unit) if unit == "B" else "{:.1f} {}".format(amount, unit)
        amount /= 1024
    return "{:.1f} GiB".format(amount)


class Growing:
    """A place whose memory grows up to now. ``row`` is that of the snapshot, with its whole call stack."""

    def __init__(self, row: Dict[str, Any], place: Place) -> None:
        self.row = row
        self.function, self.file, self.line, _ = self._at = place
        rate = row["rate"]
        self.per: str = rate["per"]  # a range or a mark; "call" where there are none
        self.bytes_per_step: float = rate["bytes_per_step"]
        self.bytes: int = row["bytes"]
        self.blocks: int = row["blocks"]
        self.confidence: float = rate["confidence"]

    def __repr__(self) -> str:
        return "<Growing {}>".format(self)

    def __str__(self) -> str:
        return "{}: {} per {}, {} in all".format(_text(self._at), size_text(self.bytes_per_step), self.per, size_text(self.bytes))


class Difference:
    """What one line holds in a snapshot, beside what it held in an earlier one."""

    def __init__(self, place: Place, now: List[int], before: List[int]) -> None:
        self.function, self.file, self.line, self.cell_line = self._at = place
        self.size, self.count = now
        self.size_diff, self.count_diff = now[0] - before[0], now[1] - before[1]

    def __repr__(self) -> str:
        return "<Difference {}>".format(self)

    def __str__(self) -> str:
        sign = "-" if self.size_diff < 0 else "+"
        return "{}: {} ({}{}), {} blocks ({:+d})".format(
            _text(self._at), size_text(self.size), sign, size_text(abs(self.size_diff)), self.count, self.count_diff)


def growing(snapshot: Dict[str, Any]) -> List[Growing]:
    folded = _folded(snapshot)
    return [Growing(row, _place(row, folded)) for row in snapshot["growth"]]


def _held(snapshot: Dict[str, Any], folded: Set[Tuple[Any, Any]], cell: Optional[str]) -> Dict[Place, List[int]]:
    held: Dict[Place, List[int]] = {}
    for row in snapshot["leaks"]:
        sums = held.setdefault(_place(row, folded, cell), [0, 0])
        sums[0] += row["bytes"]
        sums[1] += row["blocks"]
    return held


def compare(before: Dict[str, Any], after: Dict[str, Any], cell: Optional[str] = None) -> List[Difference]:
    folded = _folded(before, after)
    had, has = _held(before, folded, cell), _held(after, folded, cell)
    rows = [Difference(place, has.get(place, [0, 0]), had.get(place, [0, 0])) for place in {**had, **has}]
    changed = [row for row in rows if row.size_diff or row.count_diff]
    return sorted(changed, key=lambda row: (-abs(row.size_diff), -abs(row.count_diff), _text(row._at)))
