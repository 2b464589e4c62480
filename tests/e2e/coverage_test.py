# tests/e2e/coverage_test.py — each row of the hook table is called on the simulated GPU, and what
# it does is in the log.
#
# The scenes are those of the programs in PROGRAMS; the simulated driver writes down which of its
# functions are called. With --write, interpose/coverage.md is made from what was seen; the test
# holds that page against it.
import collections
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

from e2e import PRELOAD, PROGRAMS as BUILT, SIMGPU, SOURCE, VRAMSCOPE, driver_names, program_source

sys.path.insert(0, str(SOURCE / "tests" / "interpose" / "hooks"))
from driver_names import KNOWN_TOOLKITS, Tables  # noqa: E402

PAGE = SOURCE / "interpose" / "coverage.md"
PROGRAMS = ["memory_kinds", "owners", "objects", "imports", "contexts", "doors", "pool_entry_points"]
NOT_A_SCENE = {("doors", "dlvsym")}  # for a driver whose names have versions
# Functions whose success leaves nothing of theirs in the log, in all their forms, and what they are
# hooked for.
REASONS = {
    "opens the log": ["cuInit"],
    "a look-up": ["cuGetProcAddress"],
    "who holds the context": ["cuCtxAttach"],
    "whose context it is": ["cuDevicePrimaryCtxRetain", "cuCtxFromGreenCtx"],
    "the pool of a device": ["cuDeviceSetMemPool"],
    "the pool of a place": ["cuMemSetMemPool"],
    "where a pool is": ["cuMemGetMemPool", "cuMemGetDefaultMemPool"],
    "which addresses a graph may hold": [
        "cuGraphExecUpdate", "cuGraphExecKernelNodeSetParams", "cuGraphExecMemcpyNodeSetParams",
        "cuGraphExecMemsetNodeSetParams", "cuGraphExecChildGraphNodeSetParams", "cuGraphExecBatchMemOpNodeSetParams",
        "cuGraphExecNodeSetParams"],
    "while a stream is captured the driver answers": [
        "cuStreamBeginCapture", "cuStreamBeginCaptureToGraph"],
    "what was freed before may be used again": ["cuCtxSynchronize"],
    "what is kept is free": ["cuMemGetInfo"],
    "the limit": ["cuDeviceTotalMem"],
    "what is said of freed memory, and of parts of an allocation": [
        "cuMemGetAddressRange", "cuPointerGetAttribute", "cuPointerGetAttributes"],
    "the mark is the allocation's: it is not kept": ["cuPointerSetAttribute"],
}
REASON_OF = {base: reason for reason, bases in REASONS.items() for base in bases}
NOT_RECORDED = {row.symbol: REASON_OF[row.base] for row in Tables().rows.values() if row.base in REASON_OF}


def scenes_of(program):
    """The names of its table of scenes, or those that it compares its argument with."""
    text = program_source(f"{program}.cpp").read_text()
    names = re.findall(r'^ *\{"(\w+)", [^}]*\},$', text, re.MULTILINE) or re.findall(r'\bis\("(\w+)"\)', text)
    return [(program, name) for name in names if (program, name) not in NOT_A_SCENE]


class Scene:
    """A run that is traced, and one that is not: what only the first calls of the driver is not the program's."""

    def __init__(self, program, name, folder):
        self.title = program, name
        done, called = self.run(folder, LD_PRELOAD=str(PRELOAD))
        _, called_alone = self.run(folder)
        self.logs = {str(log) for log in folder.glob(f"{program}.{name}.*.vsl")}  # it may fork
        self.status, self.stderr = done.returncode, done.stderr
        self.called = called & called_alone

    def run(self, folder, **preload):
        program, name = self.title
        trace = folder / f"{program}.{name}.calls"
        trace.unlink(missing_ok=True)
        plain = {key: value for key, value in os.environ.items() if not key.startswith(("VRAMSCOPE", "LD_"))}
        done = subprocess.run([BUILT / program, name], capture_output=True, text=True, timeout=60, env={
            **plain, **preload, "LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": "256MiB",
            "VRAMSCOPE_LOG": f"{folder}/{program}.{name}.%p.vsl", "VRAMSCOPE_SIM_TRACE": str(trace)})
        lines = trace.read_text().splitlines() if trace.exists() else []
        return done, {line.removesuffix("=0") for line in lines if line.endswith("=0")}


@functools.cache
def played():
    """The scenes that failed; for each function those that called it with success, and those whose log has an event of it."""
    with tempfile.TemporaryDirectory() as folder:
        scenes = [Scene(*scene, pathlib.Path(folder)) for program in PROGRAMS for scene in scenes_of(program)]
        logs = [log for scene in scenes for log in scene.logs]
        report = pathlib.Path(folder) / "report.json"
        subprocess.run([VRAMSCOPE, "leaks", "--no-cache", "--json", report, *logs], check=True, capture_output=True)
        processes = json.loads(report.read_text())["processes"]
    called, recorded = collections.defaultdict(list), collections.defaultdict(list)
    for scene in scenes:
        for name in scene.called:
            called[name].append(scene.title)
        for process in processes:
            if process["log"] in scene.logs:
                for name in process["coverage"]["entry_points_seen"]:
                    recorded[name].append(scene.title)
    return [scene for scene in scenes if scene.status != 0], called, recorded


def effect_of(row):
    if row.symbol in NOT_RECORDED:
        return f"not recorded: {NOT_RECORDED[row.symbol]}"
    return "ends a context" if row.memory == "none" else row.memory if row.effect == "none" else f"{row.effect}, {row.memory}"


def hooked_line(rows):
    """A line of the page: all forms of one function."""
    _, called, recorded = played()
    found = [recorded.get(row.symbol) or called.get(row.symbol) for row in rows]
    scenes = [" ".join(scenes[0]) if scenes else "-" for scenes in found]
    versions = [f"{row.since // 1000}.{row.since % 1000 // 10}" for row in rows]
    effects = [effect_of(row) for row in rows]
    columns = [[row.symbol for row in rows], versions, effects, scenes]
    return "| " + " | ".join("<br>".join(column) if len(set(column)) > 1 else column[0] for column in columns) + " |"


def page():
    """interpose/coverage.md."""
    tables = Tables()
    lines = ["# What is traced", "", "Made by `tests/e2e/coverage_test.py --write`, and held against the build by ctest.", "",
             "## trace: hooked", "", "Each is called on the simulated GPU by the scene of `tests/programs` in the last column, and "
             "what it does is in that run's log, unless it says: not recorded.", "", "| entry points | since CUDA | effect, on what | scene |", "|---|---|---|---|"]
    by_base = collections.defaultdict(list)
    for row in tables.rows.values():
        by_base[row.base].append(row)
    lines += [hooked_line(rows) for rows in by_base.values()]
    lines += ["", "## pass, not memory: not hooked", "", "Names without version and stream form.", "",
              "| class | why | entry points |", "|---|---|---|"]
    for kind, reason, names in tables.groups:
        lines.append(f"| {kind.replace('_', ' ')} | {reason} | {', '.join(names)} |")
    return "\n".join(lines) + "\n"


class CoverageTest(unittest.TestCase):
    maxDiff = None

    def rows(self):
        """Those that the simulated driver has: it is as old as the toolkit."""
        return [symbol for symbol in Tables().rows if symbol in driver_names()]

    def needs_all_rows(self):
        if len(self.rows()) < len(Tables().rows):
            self.skipTest(f"the simulated GPU is older than CUDA {max(KNOWN_TOOLKITS)}")

    def test_every_scene_ends_well(self):
        self.needs_all_rows()
        failed, _, _ = played()
        self.assertEqual([(scene.title, scene.status, scene.stderr[-200:]) for scene in failed], [])

    def test_every_hooked_function_is_called_with_success(self):
        _, called, _ = played()
        self.assertGreater(len(self.rows()), 40)
        self.assertEqual([symbol for symbol in self.rows() if symbol not in called], [], "write a scene in tests/programs")

    def test_every_hooked_function_is_recorded_unless_it_says_nothing_of_memory(self):
        _, _, recorded = played()
        missing = [symbol for symbol in self.rows() if symbol not in recorded]
        self.assertEqual(sorted(missing), sorted(set(NOT_RECORDED) & set(self.rows())))

    def test_the_page_is_up_to_date(self):
        self.needs_all_rows()
        self.assertEqual(PAGE.read_text(), page(), "run tests/e2e/coverage_test.py --write")


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(page())
    else:
        unittest.main()
