# tests/oracle/oracle.py — traced programs, and what the report says of them, for tests that ask other programs about it.
import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
from e2e import GPU, PROGRAMS, SOURCE, VRAMSCOPE, EndToEndTest  # noqa: E402

DEVICE_MEMORY = {"device", "pitched", "managed", "async", "array", "mipmap", "physical"}
HOST_MEMORY = {"pinned", "registered"}

# Programs, and what each is here for.
TRACED = {
    "a loop with leaks and a cache": ["training_demo"],
    "a leak of each kind": ["memory_kinds", "managed"],
    "physical memory that is still mapped": ["memory_kinds", "physical_still_mapped"],
    "stream-ordered memory": ["memory_kinds", "async"],
    "pinned memory": ["memory_kinds", "host_v2"],
    "arrays": ["memory_kinds", "array_v2"],
    "ranges": ["phases", "nvtx"],
    "a context that takes its memory along": ["contexts", "destroy"],
}


class OracleTest(EndToEndTest):
    def trace_log(self, program, *arguments, status=0):
        """The log of a run that ends so, and the report."""
        report = self.trace(program, *arguments, status=status)
        (log,) = self.logs()
        return log, report

    def export(self, log, form, *options):
        out = self.folder / f"{log.stem}.{form}"
        done = self.execute(VRAMSCOPE, "export", "--to", form, "-o", out, *options, log)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return out

    def events(self, log):
        return [json.loads(line) for line in self.export(log, "jsonl").read_text().splitlines()]

    def ask(self, *command):
        """What another program says. It must be there."""
        done = self.execute(*command)
        self.assertEqual(done.returncode, 0, f"{command}: {done.stdout}{done.stderr}")
        return done.stdout


def leaked_by_function(report, memory, but=()):
    """Bytes by the innermost function that the report shows."""
    sums = collections.Counter()
    for leak in report["leaks"]:
        if leak["memory"] in memory and leak["kind"] not in but:
            sums[name_of(leak)] += leak["bytes"]
    return sums


def name_of(leak):
    if not leak["stack"]:
        return leak["api"]
    top = leak["stack"][0]
    return top["function"].replace("(anonymous namespace)::", "") if top["function"] else \
        f"{pathlib.Path(top['module']).name}+{top['offset']}"
