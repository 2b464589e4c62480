# tests/differential/sequences.py — play sequences twice, with vramscope and without,
# and say what differs.
#
# A batch is a range of sequences in one process of each kind: their hashes must agree, and the
# report of the traced one must say what its own model counted. What differs is played again in
# text, alone if it also differs then, and made shorter.
import argparse
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

LENGTH = 30
BATCH = 2000
GPU = "2x64GiB"
LIMIT = "48GiB"  # where there is one, the program alone has devices of that size
# VRAMSCOPE_POOL of the traced run, and what it does besides: "split+guard".
CAREFUL = {"guard": {"VRAMSCOPE_GUARD": "on"}, "strict": {"VRAMSCOPE_POOL_SYNC": "strict"}, "limit": {"VRAMSCOPE_LIMIT": LIMIT}}
POOLS = ("off", "cache", "split", "split+guard", "split+strict", "split+limit", "cache+strict", "cache+limit")
NEVER = "3600000000"  # queued work runs when somebody waits for it, and not before: that is what a seed decides


@dataclasses.dataclass(frozen=True)
class Batch:
    seed: int
    first: int
    count: int
    length: int = LENGTH
    runtime: bool = False
    question_faults: bool = False
    pool: str = "off"  # one of POOLS
    keep: tuple | None = None  # steps; None: all

    def options(self):
        words = ["--seed", str(self.seed), "--first", str(self.first), "--count", str(self.count), "--length", str(self.length)]
        words += ["--runtime"] if self.runtime else []
        words += ["--question-faults"] if self.question_faults else []
        words += ["--pool", self.pool] if self.pool != "off" else []
        words += ["--keep", ",".join(map(str, self.keep))] if self.keep is not None else []
        return words

    @property
    def mode(self):
        return self.pool.partition("+")[0]

    def of_player(self):
        """The player plays alike whatever the pool does besides."""
        return dataclasses.replace(self, pool=self.mode).options()

    def environment(self):
        mode, *careful = self.pool.split("+")
        settings = {"VRAMSCOPE_POOL": mode}
        for word in careful:
            settings |= CAREFUL[word]
        if mode != "off":
            settings["VRAMSCOPE_WAIT_FROM"] = "0"  # as much reuse as can be
        return settings

    def devices(self, traced):
        return GPU if traced or "+limit" not in self.pool else f"2x{LIMIT}"

    def one(self, index):
        return dataclasses.replace(self, first=index, count=1)

    def __str__(self):
        return " ".join(self.options())


# In turn: the driver alone more often than with the runtime, and now and then what vramscope asks
# for fails.
PROFILES = ({}, {"runtime": True}, {}, {"question_faults": True}, {}, {"runtime": True, "question_faults": True})


def batches(sequences, seed, size=BATCH, length=LENGTH, pool="off"):
    for turn, first in enumerate(range(0, sequences, size)):
        yield Batch(seed, first, min(size, sequences - first), length, pool=pool, **PROFILES[turn % len(PROFILES)])


def parse_batch(text):
    """What `str` of a batch wrote."""
    parser = argparse.ArgumentParser()
    for name in ("seed", "first", "count", "length"):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--runtime", action="store_true")
    parser.add_argument("--question-faults", action="store_true")
    parser.add_argument("--pool", default="off")
    parser.add_argument("--keep", type=lambda steps: tuple(int(step) for step in steps.split(",") if step))
    return Batch(**vars(parser.parse_args(text.split())))


def uncalled(rows):
    """Rows of the hook table that were not reached by some door: no sequence tests them."""
    doors = ("the linked symbol", "dlsym", "cuGetProcAddress")
    return [f"{name} by {door}" for name, counts in rows.items() for door, calls in zip(doors, counts) if calls == 0]


@dataclasses.dataclass
class Played:
    lines: list  # a hash for each sequence, or with text their transcripts
    summary: dict | None
    status: int
    errors: str


@dataclasses.dataclass
class Failure:
    batch: Batch  # as small as it was made
    what: str
    text: str = ""


class Player:
    """Runs the player; `preloads` stand between it and vramscope."""

    def __init__(self, build, preloads=(), environment=None):
        self.build = pathlib.Path(build)
        self.program = self.build / "bin" / "tests" / "differential_player"
        self.simgpu = self.build / "lib" / "vramscope" / "simgpu"
        self.vramscope = self.build / "bin" / "vramscope"
        self.preloads = [*map(str, preloads), str(self.build / "lib" / "libvramscope.so")]
        self.environment = environment or {}

    def play(self, batch, log=None, text=False):
        env = {name: value for name, value in os.environ.items() if not name.startswith(("VRAMSCOPE", "LD_"))}
        env |= {"LD_LIBRARY_PATH": str(self.simgpu), "VRAMSCOPE_SIMULATE": batch.devices(traced=log is not None),
                "VRAMSCOPE_SIM_DELAY_US": NEVER}
        if log is not None:
            env |= {"LD_PRELOAD": ":".join(self.preloads), "VRAMSCOPE_LOG": str(log), **batch.environment()}
            env |= self.environment
        done = subprocess.run([self.program, *batch.of_player(), *(["--text"] if text else [])], env=env, text=True,
                              capture_output=True, timeout=1800)
        lines = done.stdout.splitlines()
        summary = json.loads(lines.pop()) if done.returncode == 0 else None
        return Played(lines, summary, done.returncode, done.stderr)

    def report(self, log, target):
        done = subprocess.run([self.vramscope, "leaks", "--no-cache", "--json", target, log], text=True, capture_output=True, timeout=600)
        if done.returncode != 0:
            raise RuntimeError(f"vramscope leaks ended {done.returncode}: {done.stderr}")
        return json.loads(pathlib.Path(target).read_text())


OWN_MEMORY = {"device", "pitched", "managed", "async", "pinned", "registered", "array", "mipmap", "physical", "graph_launch"}


def by_memory(report, kind):
    sums = {}
    for leak in report["leaks"]:
        if leak["kind"] == kind and leak["memory"] in OWN_MEMORY:
            held = sums.setdefault(leak["memory"], {"bytes": 0, "blocks": 0})
            held["bytes"] += leak["bytes"]
            held["blocks"] += leak["blocks"]
    return sums


def plus(one, other, memory):
    """Takes the sums of a kind of memory out of both, and adds them up."""
    taken = [sums.pop(memory, {"bytes": 0, "blocks": 0}) for sums in (one, other)]
    return {name: sum(held[name] for held in taken) for name in taken[0]}


def disagreements(counted, report):
    """What the report says that the model does not: lines of text."""
    lines = []

    def compare(what, expected, got):
        if expected != got:
            lines.append(f"{what}: the program counted {expected}, the report says {got}")

    totals, coverage = report["totals"], report["coverage"]
    for name in ("missed_frees", "unmatched_frees", "undefined_events", "lost_events", "damaged_chunks"):
        compare(name, 0, coverage[name])
    compare("truncated", False, coverage["truncated"])
    for name in ("allocations", "frees", "allocated_bytes"):
        compare(name, counted[name], totals[name])
    compare("graph_allocations", counted["graph_allocations"], coverage["graph_allocations"])
    left, lost = dict(counted["at_exit"]), dict(counted["at_reset"])
    for name in ("reservation", "graph", "foreign", "shared"):  # no memory of the program's
        left.pop(name, None)
        lost.pop(name, None)
    reserved = counted["at_exit"].get("reservation", {"bytes": 0, "blocks": 0})
    kept, gone = by_memory(report, "leaked-at-exit"), by_memory(report, "leaked-at-reset")
    # The simulated GPU takes registrations along with their context; the report leaves that open.
    compare("registered", plus(left, lost, "registered"), plus(kept, gone, "registered"))
    compare("leaked at exit", left, kept)
    compare("gone with a context", lost, gone)
    compare("reservations", reserved["blocks"], totals["address_reservations"])
    compare("reserved bytes", reserved["bytes"], totals["reserved_address_bytes"])
    return lines


class Comparison:
    def __init__(self, player):
        self.player = player
        self.rows = {}  # by row of the hook table: calls by door, and successes
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="differential."))

    def close(self):
        shutil.rmtree(self.folder, ignore_errors=True)

    def run(self, batch, most=5):
        """The failures of a batch, each made small; of sequences that differ, only so many."""
        plain, traced, log = self._both(batch)
        if plain.status != 0 or traced.status != 0:
            return [self._crash(batch, plain, traced)]
        for name, counts in plain.summary["rows"].items():
            self.rows[name] = [sum(pair) for pair in zip(counts, self.rows.get(name, [0] * len(counts)))]
        different = [batch.first + i for i, pair in enumerate(zip(plain.lines, traced.lines)) if pair[0] != pair[1]]
        failures = [self._explain(batch, index) for index in different[:most]]
        if not failures and not batch.question_faults:
            lines = self._oracle(traced, log)
            if lines:
                failures.append(self._minimise_oracle(batch, lines))
        return failures

    def _both(self, batch, text=False):
        log = self.folder / "traced.vsl"
        log.unlink(missing_ok=True)
        return self.player.play(batch, text=text), self.player.play(batch, log=log, text=text), log

    def _oracle(self, traced, log):
        if traced.summary["unexplained"]:
            return [f"{traced.summary['unexplained']} frees that the model does not know"]
        if not log.exists():
            counted = traced.summary["totals"]
            return ["no log was written"] if counted["recorded_allocations"] else []
        return disagreements(traced.summary["totals"], self.player.report(log, self.folder / "report.json"))

    # ---- smaller ----

    def _differs(self, batch):
        plain, traced, _ = self._both(batch, text=True)
        return plain.status != 0 or traced.status != 0 or plain.lines != traced.lines

    def _disagrees(self, batch):
        plain, traced, log = self._both(batch)
        return plain.status == 0 and traced.status == 0 and bool(self._oracle(traced, log))

    @staticmethod
    def _shorter(batch, fails):
        """Steps are left out, many at once and then one by one, while it still fails, until each is needed."""
        keep = list(range(batch.length))
        size = max(1, len(keep) // 2)
        while size >= 1:
            at, before = 0, len(keep)
            while at < len(keep):
                fewer = keep[:at] + keep[at + size:]
                if fails(dataclasses.replace(batch, keep=tuple(fewer))):
                    keep = fewer
                else:
                    at += size
            if size > 1 or len(keep) == before:  # without a later step an earlier one may not be needed any more
                size //= 2
        return dataclasses.replace(batch, keep=tuple(keep))

    def _explain(self, batch, index):
        alone = batch.one(index)
        if not self._differs(alone):
            return Failure(dataclasses.replace(batch, count=index + 1 - batch.first),
                           f"sequence {index} differs, but only after those before it")
        small = self._shorter(alone, self._differs)
        plain, traced, _ = self._both(small, text=True)
        text = "\n".join(line for pair in zip(plain.lines, traced.lines)
                         for line in ([f"  {pair[0]}"] if pair[0] == pair[1] else [f"- {pair[0]}", f"+ {pair[1]}"]))
        return Failure(small, f"sequence {index} differs", text)

    def _crash(self, batch, plain, traced):
        def crashes(smaller):
            return any(played.status != 0 for played in self._both(smaller)[:2])

        what = f"ended {plain.status} without vramscope, {traced.status} with it: {traced.errors[-500:]}"
        small = self._half(batch, crashes)
        if small.count == 1:
            small = self._shorter(small, crashes)
        return Failure(small, what)

    @staticmethod
    def _half(batch, fails):
        while batch.count > 1:
            half = batch.count // 2
            front = dataclasses.replace(batch, count=half)
            back = dataclasses.replace(batch, first=batch.first + half, count=batch.count - half)
            if fails(front):
                batch = front
            elif fails(back):
                batch = back
            else:
                break
        return batch

    def _minimise_oracle(self, batch, lines):
        small = self._half(batch, self._disagrees)
        if small.count == 1:
            small = self._shorter(small, self._disagrees)
        plain, traced, log = self._both(small)
        lines = self._oracle(traced, log) or lines
        text = "\n".join(self.player.play(small, text=True).lines) if small.count == 1 else ""
        return Failure(small, "; ".join(lines), text)
