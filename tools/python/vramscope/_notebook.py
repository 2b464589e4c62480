# tools/python/vramscope/_notebook.py — the magics of notebooks.
"""``%%vramscope`` around a cell: what it did to the GPU's memory. ``%vramscope``: the page of what is held now."""
import ast
import linecache
import os
from typing import Any, Dict, List, Optional

import vramscope

from ._pages import Page
from ._snapshots import Difference, compare, size_text

MOST_ROWS = 10
NOT_TRACED = ("vramscope: this kernel does not run under vramscope, so nothing was measured: run `vramscope kernel install` "
              "once in a terminal, and choose the kernel \"Python 3 (vramscope)\"")


class _Cell:
    """The code of a cell below the magic, as the notebook itself runs it: its last expression is shown."""

    def __init__(self, shell: Any, text: str) -> None:
        self._shell = shell
        self._text = "\n" + shell.transform_cell(text)  # the magic was the first line
        self.file = shell.compile.cache(self._text, shell.execution_count)

    def run(self) -> None:
        __tracebackhide__ = True
        shell = self._shell
        tree = shell.transform_ast(shell.compile.ast_parse(self._text, filename=self.file))
        last = [tree.body.pop()] if tree.body and isinstance(tree.body[-1], ast.Expr) else []
        exec(shell.compile(tree, self.file, "exec"), shell.user_global_ns, shell.user_ns)
        if last:
            exec(shell.compile(ast.Interactive(last), self.file, "single"), shell.user_global_ns, shell.user_ns)

    def where(self, row: Difference) -> str:
        """As in: line 3: step(), in step, In[2] line 6: losses.append(allocate(1))"""
        if row.file == self.file:
            return self._line(row.file, row.line)
        of_cell = self._line(self.file, row.cell_line) + ", in " if row.cell_line else ""
        number = getattr(self._shell.compile, "_filename_map", {}).get(row.file)
        file = os.path.basename(row.file or "?") if number is None else "In[{}]".format(number)
        return "{}{}, {} {}".format(of_cell, row.function or "?", file, self._line(row.file, row.line))

    @staticmethod
    def _line(file: Optional[str], line: Optional[int]) -> str:
        source = linecache.getline(file or "", line or 0).strip()
        return "line {}{}".format(line or "?", ": " + source if source else "")


def _blocks(count: int) -> str:
    return "{} block{}".format(count, "" if count == 1 else "s")


def _left_alive(cell: _Cell, before: Optional[Dict[str, Any]], after: Optional[Dict[str, Any]]) -> List[str]:
    """By line, the largest first."""
    none: Dict[str, Any] = {"leaks": []}  # before its first CUDA call the kernel has no log
    rows = [row for row in compare(before or none, after or none, cell.file) if row.size_diff > 0]
    if not rows:
        return ["left alive: nothing"]
    lines = ["left alive: {} in {}".format(size_text(sum(row.size_diff for row in rows)),
                                          _blocks(sum(row.count_diff for row in rows)))]
    for row in rows[:MOST_ROWS]:
        lines.append("  {:>10} in {:<12} {}".format(size_text(row.size_diff), _blocks(row.count_diff), cell.where(row)))
    if len(rows) > MOST_ROWS:
        lines.append("  ... and {} more lines".format(len(rows) - MOST_ROWS))
    return lines


def _measure(name: str, cell: _Cell) -> None:
    __tracebackhide__ = True
    if not vramscope.version():
        print(NOT_TRACED)
        return cell.run()
    before = vramscope.snapshot()
    vramscope.mark(name)
    used = vramscope.cuda_memory_tracker(name)
    try:
        with used:
            cell.run()
    finally:
        print("\n".join([str(used), *_left_alive(cell, before, vramscope.snapshot())]))


def add_magic(shell: Any) -> None:
    def magic(line: str, cell: Optional[str] = None) -> Any:
        """%%vramscope [NAME]: runs the cell as a range NAME, and tells what it did to the GPU's memory.

        %vramscope: the page of what this kernel holds now, and since when.
        """
        __tracebackhide__ = True
        if cell is not None:
            return _measure(line.strip() or "In[{}]".format(shell.execution_count), _Cell(shell, cell))
        why_none = NOT_TRACED
        if vramscope.version():
            try:
                return Page(["snapshot", str(os.getpid())])
            except vramscope.CommandError as error:  # before the first CUDA call, say
                why_none = "vramscope: {}".format(error)
        print(why_none)
        return None

    shell.register_magic_function(magic, "line_cell", "vramscope")
