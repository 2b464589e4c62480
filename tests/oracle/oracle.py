# tests/oracle/oracle.py — traced programs, and what the report says of them, for tests that ask other programs about it.
import collections
import contextlib
import functools
import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "e2e"))
from e2e import BUILD, GPU, PROGRAMS, SOURCE, VRAMSCOPE, EndToEndTest  # noqa: E402, F401

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "vramscope"
NPM = pathlib.Path(os.environ.get("VRAMSCOPE_NPM_ORACLES") or CACHE / "oracles") / "node_modules"
BROWSER = pathlib.Path(os.environ.get("VRAMSCOPE_BROWSER") or CACHE / "browser")  # what drives Chromium
# Programs that scripts/setup put there since their packages would start a server.
for variable, folder in (("VRAMSCOPE_PROMTOOL", "promtool"), ("VRAMSCOPE_NODE_EXPORTER", "node-exporter"),
                         ("VRAMSCOPE_PROMETHEUS", "prometheus")):
    os.environ["PATH"] += os.pathsep + str(os.environ.get(variable) or CACHE / folder)
NOT_HERE = 77  # ctest takes a test that ends so for skipped
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


# Two runs: what leaks more, what leaks less, what is new and what is gone.
CHANGES = {
    "more steps": (["training_demo", "30"], ["training_demo", "50"]),
    "fewer steps": (["training_demo", "50"], ["training_demo", "30"]),
    "another program": (["training_demo"], ["memory_kinds", "managed"]),
    "the same": (["training_demo"], ["training_demo"]),
}


def why_not(oracle):
    """Why this program cannot be asked, as scripts/test shows it; None if it can."""
    return None if shutil.which(oracle) else f"there is no {oracle} here (./scripts/setup --tests)"


def why_not_npm(package, modules=NPM):
    """The same of what npm installs."""
    return None if (modules / package).is_dir() else f"there is no {package} of npm here (./scripts/setup --tests)"


@functools.cache
def why_no_browser():
    """The same of Chromium as playwright drives it, which tells itself if node is too old for it."""
    modules = BROWSER / "node_modules"
    if why := why_not("chromium") or why_not("node") or why_not_npm("playwright-core", modules):
        return why
    done = subprocess.run(["node", "-e", "require('playwright-core')"], cwd=BROWSER, capture_output=True, text=True)
    return None if done.returncode == 0 else f"playwright does not start: {' '.join(done.stderr.split())[:200]}"


def needs(oracle):
    """Ends all of a test, skipped, where this program is missing."""
    if why_not(oracle):
        print(f"SKIPPED: {why_not(oracle)}")
        sys.exit(NOT_HERE)


class OracleTest(EndToEndTest):
    def skip(self, why):
        """Skips this one test; scripts/test shows why."""
        print(f"SKIPPED: {why}")
        self.skipTest(why)

    def trace_log(self, program, *arguments, status=0):
        """The log of a run that ends so, and the report."""
        report = self.trace(program, *arguments, status=status)
        (log,) = self.logs()
        return log, report

    @contextlib.contextmanager
    def traced(self, what, program, *arguments):
        """The same as one of a test's parts, in a folder of its own: a failure ends this part alone."""
        with self.subTest(what):
            self.doCleanups()
            self.setUp()
            yield self.trace_log(program, *arguments)

    def export(self, log, form, *options):
        out = self.folder / f"{log.stem}.{form}"
        done = self.execute(VRAMSCOPE, "export", "--to", form, "-o", out, *options, log)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return out

    def assert_follows(self, schema, file):
        """By python3-jsonschema, of the draft that the schema names."""
        code = "import json, jsonschema, sys; jsonschema.validate(*(json.load(open(name)) for name in sys.argv[1:]))"
        done = self.execute("/usr/bin/python3", "-c", code, file, schema)
        self.assertEqual(done.returncode, 0, done.stderr)

    def events(self, log):
        return [json.loads(line) for line in self.export(log, "jsonl").read_text().splitlines()]

    def changes(self, base, now):
        """By function: what `vramscope diff` says that it leaks more or less."""
        written = self.folder / "diff.json"
        done = self.execute(VRAMSCOPE, "diff", "--json", written, base, now)
        self.assertEqual(done.returncode, 0, done.stderr)
        sums = collections.Counter()
        for place in json.loads(written.read_text())["leaks"]:
            sums[name_of(place)] += place["new"]["bytes"] - place["base"]["bytes"]
        return sums

    def two_logs(self, base, now):
        """Of two runs of other programs, or with other arguments."""
        names = []
        for name, command in (("base.vsl", base), ("now.vsl", now)):
            done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", name, "--", PROGRAMS / command[0], *command[1:])
            self.assertEqual(done.returncode, 0, done.stderr)
            names.append(self.folder / name)
        return names

    def ask(self, *command):
        """What another program says."""
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
