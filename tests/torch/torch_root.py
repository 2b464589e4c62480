# tests/torch/torch_root.py — runs programs with real PyTorch on the simulated
# GPU, alone and traced.
#
# PyTorch lies in a root of its own (scripts/torch-root), which a program sees by chroot, in a
# namespace that ends with it. The build, the sources and the test's folder have their own paths
# there, so that a log is where it was said to be. With VRAMSCOPE_E2E_GPU=real it is this machine's
# own PyTorch, on its own GPU.
import fcntl
import json
import os
import pathlib
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program_test import BUILD, SOURCE, VRAMSCOPE, ProgramTest  # noqa: E402

import stand_ins  # noqa: E402

CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path(os.environ.get("HOME", "/")) / ".cache")
ROOT = pathlib.Path(os.environ.get("VRAMSCOPE_TORCH_ROOT") or CACHE / "vramscope" / "torch-root")
PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
PRELOAD = BUILD / "lib" / "libvramscope.so"
SIMGPU = BUILD / "lib" / "vramscope" / "simgpu"
REAL = os.environ.get("VRAMSCOPE_E2E_GPU") == "real"
STAND_INS = BUILD / "tests" / "torch" / "stand-ins"
NAMESPACE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]
# ROOT START FOLDERS WORDS...: the folders are separated by colons, and the words are those of env
# and of the program.
ENTER = """
root=$1 start=$2 folders=$3; shift 3
mount -t tmpfs tmpfs "$root/tmp" || exit 77
IFS=:
for folder in /dev /proc /sys $folders; do
    mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder" || exit 77
done
exec chroot "$root" /usr/bin/env -i -C "$start" "$@"
"""


def why_not():
    """What these tests lack on this machine; nothing if they can run."""
    if REAL:
        question = "import sys, torch; sys.exit(not torch.cuda.is_available())"
        here = subprocess.run([sys.executable, "-c", question], capture_output=True).returncode == 0
        return None if here else "this machine's python3 has no PyTorch with a GPU"
    if not (ROOT / "packages.txt").is_file():
        return f"no PyTorch in {ROOT}: ./scripts/torch-root fetches it (0.65 GB)"
    if not (SIMGPU / "libcudart.so.12").is_file():
        return "the simulated GPU has no libcudart.so.12: it is built with a toolkit of CUDA 13"
    if subprocess.run([*NAMESPACE, "true"], stderr=subprocess.DEVNULL).returncode != 0:
        return f"{' '.join(NAMESPACE)} is not allowed here"
    return None


def make_stand_ins():
    """Once for each root and build; tests that run side by side wait for the first."""
    STAND_INS.mkdir(parents=True, exist_ok=True)
    with open(STAND_INS / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        made_of = (ROOT / "packages.txt").read_text() + pathlib.Path(stand_ins.__file__).read_text()
        stamp = STAND_INS / "made-of"
        if not stamp.is_file() or stamp.read_text() != made_of:
            stand_ins.main(ROOT, STAND_INS)
            stamp.write_text(made_of)


def in_root(folder, *command, **environment):
    """How it is run there, in this folder, on the simulated GPU and with nothing of the caller's environment."""
    settings = {"PATH": "/usr/bin:/usr/sbin", "HOME": "/tmp", "LANG": "C.UTF-8", "OMP_NUM_THREADS": "1",
                "LD_LIBRARY_PATH": f"{SIMGPU}:{STAND_INS}", "VRAMSCOPE_SIMULATE": "4GiB", **environment}
    folders = ":".join(map(str, dict.fromkeys([folder, SOURCE.resolve(), BUILD])))
    enter = [*NAMESPACE, "sh", "-c", ENTER, "sh", ROOT, folder, folders]
    words = [f"{name}={value}" for name, value in settings.items()]
    return [*enter, *words, *command]


def started(folder, program, *arguments, **environment):
    """How a program of Python is started with PyTorch: its command, and its environment where the command does not set it."""
    words = [program, *arguments]
    if REAL:
        return [sys.executable, *words], ProgramTest.environment(**environment)
    return in_root(folder, "python3", *words, **environment), None


class Moment(dict):
    """What PyTorch said of its memory at one moment (programs/moments.py), and what vramscope's log says of it."""

    def __init__(self, said, live, waiting):
        super().__init__(said)
        self.live = live  # events, of what had been allocated and not freed
        self.waiting = waiting  # {device: bytes that were given back to PyTorch while another stream used them}

    def pending(self, device=0):
        """Nothing is known of a device where PyTorch had no block yet."""
        return self.waiting.get(device, 0)

    def blocks(self, memory):
        """{address: bytes}, of one kind of memory."""
        return {int(event["address"], 16): event["bytes"] for event in self.live if event["memory"] == memory}

    def live_bytes(self, memory):
        return sum(self.blocks(memory).values())


class Traced:
    """A traced run: its output, report and events, and the moments at which it spoke."""

    def __init__(self, done, report, events, said):
        self.done, self.report, self.events = done, report, events
        self.moments = list(self.told(said))

    def told(self, said):
        said, live, kinds, waiting = list(said), {}, {}, {}
        for event in self.events:
            if event["type"] == "api":
                kinds[event["id"]] = event["memory"]
            elif event["type"] in ("alloc", "free"):  # a block may begin where its segment does
                place = kinds[event["api"]] == "suballocated", event["address"]
                live.pop(place, None)
                if event["type"] == "alloc":
                    live[place] = event
            elif event["type"] == "blocks_pending":
                waiting[event["device"]] = event["bytes"]
            elif event["type"] == "mark" and said and event["name"] == said[0]["name"]:
                yield Moment(said.pop(0), list(live.values()), dict(waiting))
        assert not said, f"not marked in the log: {said}"


class TorchTest(ProgramTest):
    def run_program(self, program, *arguments, **environment):
        """In the test's folder."""
        command, own = started(self.folder, PROGRAMS / program, *arguments, **environment)
        return subprocess.run([str(word) for word in command], cwd=self.folder, env=own, capture_output=True, text=True,
                              timeout=300)

    def run_traced(self, program, *arguments, **environment):
        log, said = self.folder / "run.vsl", self.folder / "moments.jsonl"
        log.unlink(missing_ok=True)
        said.unlink(missing_ok=True)
        traces = {"LD_PRELOAD": str(PRELOAD), "VRAMSCOPE_LOG": str(log), "MOMENTS": str(said)}
        done = self.run_program(program, *arguments, **traces, **environment)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        names = () if REAL else ("--sysroot", ROOT)
        self.execute(VRAMSCOPE, "report", log, "--json", "report.json", "--force", *names)
        exported = self.execute(VRAMSCOPE, "export", "--to", "jsonl", log)
        self.assertEqual(exported.returncode, 0, exported.stderr)
        events = [json.loads(line) for line in exported.stdout.splitlines()]
        lines = said.read_text().splitlines() if said.exists() else []
        return Traced(done, json.loads((self.folder / "report.json").read_text()), events, map(json.loads, lines))

    def run_both(self, program, *arguments, **environment):
        """Alone and traced: the program must say the same, and nothing may be missing in the log."""
        alone = self.run_program(program, *arguments, **environment)
        self.assertEqual(alone.returncode, 0, alone.stdout + alone.stderr)
        traced = self.run_traced(program, *arguments, **environment)
        self.assertEqual((traced.done.stdout, traced.done.stderr), (alone.stdout, alone.stderr))
        self.assert_complete(traced)
        return traced

    def assert_complete(self, traced):
        for fault in ("lost_events", "damaged_chunks", "unmatched_frees", "missed_frees"):
            self.assertEqual(traced.report["coverage"][fault], 0, fault)
        self.assertEqual(traced.events[-1]["end_text"], "exited with status 0")


def main():
    """In place of unittest.main: without PyTorch the whole file is skipped, and says why."""
    reason = why_not()
    if reason:
        print(f"SKIPPED: {reason}")
        sys.exit(77)
    if not REAL:
        make_stand_ins()
    unittest.main()
