# tools/python/vramscope/_logs.py — logs as tables: lists of dicts, or DataFrames.
"""What logs say, as ``vramscope report --json`` and ``vramscope export --to blocks`` have it."""
import csv
import io
import json
import os
import sys
import tempfile
from functools import cached_property
from typing import TYPE_CHECKING, Any, Callable, Dict, Generic, Iterable, List, TypeVar

from ._command import ask
from ._pages import Page

if TYPE_CHECKING:
    import pandas

Row = Dict[str, Any]
Table = TypeVar("Table", List[Row], "pandas.DataFrame")

# The columns of each table. `process` is the number of the log in the table of processes.
_PLACE = "function file line fingerprint stack"
_COLUMNS = {
    "processes": "process pid program command log started duration_ns end rank verdict peak_device_bytes leaked_bytes leaked_blocks",
    "devices": "process device name total_bytes pooled peak_allocated_bytes peak_reserved_bytes peak_requested_bytes "
               "requested_bytes blocks allocations frees",
    "findings": "kind title sentence",
    "leaks": "process bytes blocks kind class pattern memory device api phase first_ns last_ns " + _PLACE,
    "growth": "process per bytes_per_step bytes_per_second steps confidence bytes blocks freed memory device api phase " + _PLACE,
    "peak": "process device bytes blocks memory api phase function file line stack",
    "timeline": "process device ns allocated_bytes active_bytes reserved_bytes used_bytes peak_allocated_bytes peak_reserved_bytes",
    "sites": "process allocations frees allocated_bytes temporary short_lived redundant memory device api " + _PLACE,
    "marks": "process ns name tid",
    "blocks": "process allocated_ns freed_ns end bytes address memory device tid phase api " + _PLACE,
}
# Of blocks: whole numbers, and texts that many rows share.
_NUMBERS = ("allocated_ns", "freed_ns", "bytes", "device", "tid", "line")
_SHARED = tuple(name for name in _COLUMNS["blocks"].split() if name not in ("process", "address", *_NUMBERS))


def _frame_text(frame: Row) -> str:
    function = frame["function"] or "{}+{}".format(os.path.basename(frame["module"] or "?"), frame["offset"])
    if frame["file"]:
        return "{} {}{}".format(function, frame["file"], ":{}".format(frame["line"]) if frame["line"] else "")
    return "{} [{}]".format(function, os.path.basename(frame["module"])) if frame["function"] and frame["module"] else function


def _placed(row: Row) -> Row:
    """The row with the function, file and line that a report names it by, and its stack as a text."""
    frames, first = row["stack"], row.get("own", 0)
    own = frames[first] if first < len(frames) else {"function": None, "file": None, "line": None}
    return {**row, "function": own["function"], "file": own["file"], "line": own["line"],
            "stack": "; ".join(map(_frame_text, frames))}


def _peak_rows(peak: Row) -> Iterable[Row]:
    yield from map(_placed, peak["stacks"])
    if peak["more"]["stacks"]:
        yield {**peak["more"], "stack": "({} more call stacks)".format(peak["more"]["stacks"])}


class Log(Generic[Table]):
    """What one log says, or several as one. Every table is made when it is asked for."""

    def __init__(self, logs: List[str], in_pandas: bool) -> None:
        self._folder = os.getcwd()  # the program may change it before it asks for blocks
        self._logs, self._in_pandas = logs, in_pandas
        self.json: Dict[str, Any] = json.loads(ask(["report", "--json", "-", "--", *logs]).decode("utf-8"))  # the whole report
        self.verdict: str = self.json["verdict"]  # "clean", "leaks" or "inconclusive"
        self.verdict_reasons: List[str] = self.json["verdict_reasons"]
        self.totals: Dict[str, Any] = self.json["totals"]

    def __repr__(self) -> str:
        head = "{}: {}".format(", ".join(self._logs), "; ".join([self.verdict, *self.verdict_reasons]))
        return "\n".join([head, *(row["sentence"] for row in self.json["findings"])])

    def page(self) -> Page:
        """The report for a browser: a notebook shows it in its place."""
        return Page(["report", *(os.path.join(self._folder, log) for log in self._logs)])

    def _table(self, name: str, rows: Iterable[Row]) -> Table:
        columns = _COLUMNS[name].split()
        table: Any = [{column: row.get(column) for column in columns} for row in rows]
        if self._in_pandas:
            import pandas
            # Whole numbers stay whole where one is not known.
            table = pandas.DataFrame(table, columns=columns).convert_dtypes(
                convert_string=False, convert_boolean=False, convert_floating=False)
        return table

    def _of_processes(self, name: str, rows_of: Callable[[Row], Iterable[Row]]) -> Table:
        return self._table(name, ({"process": number, **row} for number, process in enumerate(self.json["processes"])
                                  for row in rows_of(process)))

    def _of_devices(self, name: str, rows_of: Callable[[Row], Iterable[Row]]) -> Table:
        return self._of_processes(name, lambda process: ({"device": device["device"], **row}
                                                         for device in process["device_memory"] for row in rows_of(device)))

    @cached_property
    def processes(self) -> Table:
        """One row a log: the program, how it ended, and of several what each leaked and had at its peak."""
        ranks = {row["process"]: row for row in self.json["ranks"]["rows"]}
        return self._table("processes", ({**ranks.get(number, {}), **process, "process": number, "end": process["end"]["text"]}
                                         for number, process in enumerate(self.json["processes"])))

    @cached_property
    def devices(self) -> Table:
        """One row a device: its memory, and the most of it that was allocated, reserved and requested."""
        def rows_of(process: Row) -> Iterable[Row]:
            names = {device["ordinal"]: device["name"] for device in process["devices"]}
            for row in process["device_memory"]:
                requested, blocks = row["requested_bytes"], row["blocks"]
                yield {**row, "name": names.get(row["device"]),
                       "peak_allocated_bytes": row["at_peak"]["waterfall"]["allocated"],
                       "peak_reserved_bytes": row["at_reserved_peak"]["waterfall"]["reserved"],
                       "peak_requested_bytes": requested["peak"], "requested_bytes": requested["current"],
                       "blocks": blocks["current"], "allocations": blocks["allocated"], "frees": blocks["freed"]}

        return self._of_processes("devices", rows_of)

    @cached_property
    def findings(self) -> Table:
        """A sentence for each kind of what was found, what hurts most first."""
        return self._table("findings", self.json["findings"])

    @cached_property
    def leaks(self) -> Table:
        """What was never freed, by call stack, the largest first."""
        return self._table("leaks", map(_placed, self.json["leaks"]))

    @cached_property
    def growth(self) -> Table:
        """What grows up to the end, by call stack, with its rate for each step."""
        return self._table("growth", ({**_placed(row), **row["rate"]} for row in self.json["growth"]))

    @cached_property
    def peak(self) -> Table:
        """What the peak of each device was made of, by call stack."""
        return self._of_devices("peak", lambda device: _peak_rows(device["peak"]))

    @cached_property
    def timeline(self) -> Table:
        """Each device over time, in at most 256 spans, each with its last values and its peaks."""
        return self._of_devices("timeline", lambda device: device["timeline"])

    @cached_property
    def sites(self) -> Table:
        """The call stacks that allocate most often, and how."""
        return self._of_processes("sites", lambda process: map(_placed, process["churn"]["sites"]))

    @cached_property
    def marks(self) -> Table:
        return self._of_processes("marks", lambda process: process["marks"])

    @cached_property
    def blocks(self) -> Table:
        """One row an allocation, by its time: from when to when, its bytes, and what allocated it.

        ``end`` says how it ended: freed; gone, without a free that was seen; context, it died with its context; alive.
        The last two were never freed. The log is read again for it.
        """
        tables = []
        for number, process in enumerate(self.json["processes"]):
            with tempfile.TemporaryFile() as printed:  # in memory once, and not twice
                ask(["export", "--to", "blocks", "--", process["log"]], self._folder, printed)
                printed.seek(0)
                tables.append(_frame_of(printed, number) if self._in_pandas else _rows_of(printed, number))
        if self._in_pandas:
            return _joined(tables)
        return [row for table in tables for row in table]  # type: ignore[return-value]


def _rows_of(printed: Any, process: int) -> List[Row]:
    reader = csv.reader(io.TextIOWrapper(printed, "utf-8", newline=""))
    names = next(reader)
    kinds = [int if name in _NUMBERS else sys.intern for name in names]  # most texts are in many rows
    columns = ["process", *names]
    rows = [dict(zip(columns, [process, *(kind(text) if text else None for kind, text in zip(kinds, line))]))  # type: ignore[operator]
            for line in reader]
    return sorted(rows, key=lambda row: row["allocated_ns"])


def _frame_of(printed: Any, process: int) -> Any:
    import pandas
    frame = pandas.read_csv(printed, keep_default_na=False, na_values=[""],
                            dtype={**{name: "category" for name in _SHARED}, **{name: "Int64" for name in _NUMBERS}})
    frame.insert(0, "process", process)
    return frame.sort_values("allocated_ns", kind="stable", ignore_index=True)


def _joined(frames: List[Any]) -> Any:
    """With the same categories in all, by name, so that groups come in that order in each version of pandas."""
    import pandas
    for name in _SHARED:
        categories = sorted(set().union(*(frame[name].cat.categories for frame in frames)))
        for frame in frames:
            frame[name] = frame[name].cat.set_categories(categories)
    return pandas.concat(frames, ignore_index=True)


def load(logs: Iterable[Any], in_pandas: bool) -> "Log[Any]":
    return Log([os.fspath(log) for log in logs], in_pandas)
