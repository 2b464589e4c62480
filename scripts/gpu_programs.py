# scripts/gpu_programs.py — what gpu-check runs: how each is built, and what it must show.
import os
import pathlib
import re
import statistics
import subprocess
import sys

SOURCE = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = SOURCE / "tests" / "gpu"
PAGE = SOURCE / "interpose" / "coverage.md"
LIMIT_SECONDS = 300


class Failed(Exception):
    """A row's reason, in one line."""


class EndsAlone(Failed):
    """A program that ends badly without vramscope."""


def output_of(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, errors="replace",
                          timeout=LIMIT_SECONDS, **options)
    return done.returncode, done.stdout, done.stderr


def build(*command):
    status, stdout, stderr = output_of(*command)
    if status != 0:
        raise Failed(f"does not build: {(stderr or stdout).strip().splitlines()[-1:]}")


def driver_environment(vramscope, simulate):
    """The run without vramscope must meet the same driver."""
    environment = dict(os.environ)
    if simulate:
        simgpu = vramscope.parents[1] / "lib" / "vramscope" / "simgpu"
        environment["VRAMSCOPE_SIMULATE"] = simulate
        environment["LD_LIBRARY_PATH"] = f"{simgpu}:{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(":")
    return environment


class Row:
    """A program, how it is built, and whether it can run on the simulated GPU."""

    alone = False  # what is measured, on a GPU where nothing else runs

    def __init__(self, name, source, flags=(), simulated=False, exact=True, module=None):
        self.name, self.source, self.flags = name, source, list(flags)
        self.simulated, self.exact, self.module = simulated, exact, module

    def command(self, folder, home):
        """Builds the program in `folder`, and returns how it is started."""
        source = PROGRAMS / self.source
        if source.suffix == ".py":
            return [sys.executable, source]
        target = folder / self.name.replace(" ", "-").replace(",", "")
        if source.suffix == ".cu":
            build(home / "bin" / "nvcc", "-std=c++17", "-O2", "-g", "-lineinfo", f"-I{SOURCE}", *self.flags, source, "-o", target)
        else:
            build("g++", "-std=c++17", "-O2", "-g", f"-I{home}/include", f"-I{SOURCE}", *self.flags, source, "-o", target,
                  f"-L{home}/lib64/stubs", f"-L{home}/lib/stubs", *(["-lcuda"] if "-DWAY_LINKED" in self.flags else []),
                  "-ldl")
        return [target]

    def missing(self):
        """Why this row cannot run here; None if it can."""
        if self.module and output_of(sys.executable, "-c", f"import {self.module}")[0] != 0:
            return f"python3 has no {self.module}"
        return None


class Scenes(Row):
    """A program of tests/programs, and the scenes of it that are there for a hooked function."""

    def __init__(self, name):
        super().__init__(f"scenes of {name}", f"../programs/memory/{name}.cpp", ["-DWAY_LINKED"], simulated=True)
        self.program = name

    def scenes(self, toolkit):
        return {scene: symbols for (program, scene), symbols in scenes_of_page(PAGE.read_text(), toolkit).items()
                if program == self.program}


def hooked_names(text):
    """The driver's functions that are hooked."""
    return sorted({name for line in text.splitlines() if line.startswith("| cu")
                   for name in line.strip("| ").split(" | ")[0].split("<br>")})


def version(text):
    return tuple(int(number) for number in text.split("."))


def toolkit_version(home):
    """The release of nvcc: a program that it builds calls nothing newer."""
    _, stdout, _ = output_of(home / "bin" / "nvcc", "--version")
    found = re.search(r"release (\d+\.\d+)", stdout)
    if not found:
        raise Failed(f"{home}/bin/nvcc does not tell its version")
    return found[1]


def scenes_of_page(text, toolkit):
    """(program, scene): the functions that this toolkit has and whose effect must be in the log of that scene."""
    scenes = {}
    for line in text.splitlines():
        columns = [cell.split("<br>") for cell in line.strip("| ").split(" | ")]
        if len(columns) != 4 or not line.startswith("| cu"):
            continue
        rows = zip(*[cells * len(columns[0]) if len(cells) == 1 else cells for cells in columns])
        for symbol, since, effect, title in rows:
            if not effect.startswith("not recorded") and version(since) <= version(toolkit):
                scenes.setdefault(tuple(title.split()), set()).add(symbol)
    return scenes


class Tests(Row):
    """A file of tests that can run on a GPU too: some take all of its memory."""

    alone = True

    def run(self, vramscope):
        environment = dict(os.environ, VRAMSCOPE_E2E_GPU="real", VRAMSCOPE_BUILD=str(vramscope.parents[1]))
        status, stdout, stderr = output_of(sys.executable, PROGRAMS / self.source, env=environment)
        if status != 0:
            raise Failed((stdout + stderr).strip()[-200:])
        return re.search(r"Ran \d+ tests?", stderr)[0].lower().removeprefix("ran ") + ", as on the simulated GPU"


class Objects(Row):
    """Contexts and objects: their counts are those that the program tells, and its bytes lie in the range that is printed."""

    alone = True

    def judge(self, told, measured, report):
        wanted = {kind: (int(made), int(ended)) for word, kind, made, ended in
                  (line.split() for line in told.splitlines() if line.startswith("object "))}
        found = {row["object"]: (row["made"], row["ended"]) for row in report["processes"][0]["objects"]}
        if not wanted or any(found.get(kind) != counts for kind, counts in wanted.items()):
            raise Failed(f"made and ended were {wanted}, and {found} was seen")
        fell = int(re.search(r"^context (\d+)$", measured, re.MULTILINE)[1])
        [second] = [row for row in report["contexts"] if row["opening"] == "created"]
        if fell and not second["bytes"] or second["bytes"] and not second["bytes"]["least"] <= fell <= second["bytes"]["most"]:
            raise Failed(f"a context took {fell} bytes, and the report has {second['bytes']}")
        return f"{len(wanted)} kinds, as told; " + "; ".join(measured.strip().splitlines())


class Facts(Row):
    """What this driver does, asked by experiment without vramscope: told, not judged."""

    alone = True

    def __init__(self, part):
        super().__init__(f"facts: {part}", "facts", simulated=True)
        self.part = part

    def command(self, folder, home):
        target = folder.parent / "driver_facts"
        if not target.exists():
            build(home / "bin" / "nvcc", "-std=c++17", "-O2", f"-I{SOURCE}", "-cudart", "shared", PROGRAMS / "facts" / "spin.cu",
                  *sorted(path for path in (PROGRAMS / "facts").glob("*.cpp") if path.name != "injected.cpp"),
                  "-o", target, f"-L{home}/lib64/stubs", f"-L{home}/lib/stubs", "-lcuda")
        return [target, self.part, *(hooked_names(PAGE.read_text()) if self.part == "lookups" else [])]

    def tell(self, command, vramscope, simulate):
        status, stdout, stderr = output_of(*command, env=driver_environment(vramscope, simulate))
        if status != 0:
            raise Failed(f"it ends {status} after {stdout.strip()[-200:]!r}: {stderr.strip()[-200:]!r}")
        return stdout


class Injection(Row):
    """A tool of NVIDIA's kind in the same process: CUDA_INJECTION64_PATH names a library."""

    def __init__(self):
        super().__init__("facts: injection", "facts/injected.cpp")

    def command(self, folder, home):
        build("g++", "-std=c++17", "-O2", "-shared", "-fPIC", PROGRAMS / self.source, "-o", folder / "injected.so", "-ldl")
        return Row("injected", "runtime_program.cu", ["-cudart", "shared"]).command(folder, home)

    def tell(self, command, vramscope, _):
        """Where the driver calls it, alone and traced."""
        told = []
        for before in ([], [vramscope, "run", "--force", "-o", "injected.vsl", "--"]):
            injected = dict(os.environ, CUDA_INJECTION64_PATH=str(command[0].parent / "injected.so"))
            status, _, stderr = output_of(*before, *command, env=injected, cwd=command[0].parent)
            lines = [line for line in stderr.splitlines() if line.startswith("injected")]
            if status != 0 or not lines:
                raise Failed(f"{'traced' if before else 'alone'} it ends {status}: {stderr.strip()[-200:]!r}")
            told += [f"{'traced' if before else 'alone'}: {line}" for line in lines]
        return "\n".join(told) + "\n"


class Speed(Row):
    """A program that says what allocating costs it: alone, with each pool, and by its peers; microseconds."""

    REPETITIONS = 5
    alone = True

    def __init__(self, name, source, flags=(), work=(), count=0, small=0, peers=None, env=None, **options):
        super().__init__(name, source, flags, **options)
        self.work, self.count, self.small = list(work), count, small
        self.env = env or {}
        self.peers = peers or {}  # name: (arguments, environment), run without vramscope

    def runs(self, vramscope, simulate):
        """What is compared: (name, what stands before the program, its arguments, its environment)."""
        count = str(self.small if simulate else self.count)
        options = ["--simulate", simulate] if simulate else []
        yield "alone", [], [*self.work, count], self.env
        for mode in ("off", "cache", "split"):
            yield mode, [vramscope, "run", *options, "--pool", mode, "--force", "-o", "speed.vsl", "--"], [*self.work, count], self.env
        for peer, (work, env) in self.peers.items():
            yield peer, [], [*work, count], env

    def measure(self, command, vramscope, folder, simulate):
        """{what was measured: {run: its numbers}}; the runs take turns."""
        numbers = {}
        for _ in range(1 if simulate else self.REPETITIONS):
            for run, before, arguments, env in self.runs(vramscope, simulate):
                environment = driver_environment(vramscope, simulate) | env
                status, stdout, stderr = output_of(*before, *command, *arguments, env=environment, cwd=folder)
                if status != 0:
                    raise Failed(f"{run}: it ends {status}: {(stdout + stderr).strip()[-200:]!r}")
                for line in stdout.splitlines():
                    name, number = line.split()
                    numbers.setdefault(name, {}).setdefault(run, []).append(float(number))
        if not numbers:
            raise Failed("the program measured nothing")
        return numbers


def speed_text(numbers, simulate):
    told = "; ".join(f"{name}: " + ", ".join(f"{run} {statistics.median(values):,.1f}" for run, values in runs.items())
                     for name, runs in numbers.items())
    return f"us, {'simulated, which says nothing of a GPU' if simulate else 'medians of ' + str(Speed.REPETITIONS)}: {told}"


ROWS = [
    Row("runtime, shared", "runtime_program.cu", ["-cudart", "shared"], simulated=True),
    Row("runtime, static", "runtime_program.cu", ["-cudart", "static"]),
    Row("runtime, static, per-thread streams", "runtime_program.cu",
        ["-cudart", "static", "-default-stream", "per-thread", "-DPER_THREAD_STREAMS"]),
    Row("driver, linked", "driver_program.cpp", ["-DWAY_LINKED"], simulated=True),
    Row("driver, dlopen and dlsym", "driver_program.cpp", ["-DWAY_DLSYM"], simulated=True),
    Row("driver, cuGetProcAddress", "driver_program.cpp", ["-DWAY_LOOKUP"], simulated=True),
    Scenes("memory_kinds"),
    Scenes("owners"),
    Scenes("imports"),
    Scenes("contexts"),
    Objects("contexts and objects", "objects_program.cpp", ["-DWAY_LINKED"], simulated=True),
    Row("cuBLAS", "cublas_program.cu", ["-cudart", "static", "-lcublas"], exact=False),
    Row("PyTorch", "torch_program.py", exact=False, module="torch"),
    Tests("PyTorch's segments", "../torch/segments_test.py", module="torch"),
    Tests("PyTorch's blocks", "../torch/blocks_test.py", module="torch"),
    Tests("PyTorch: what is concluded", "../torch/judgement_test.py", module="torch"),
    Row("CuPy", "cupy_program.py", exact=False, module="cupy"),
    Row("JAX", "jax_program.py", exact=False, module="jax"),
    Speed("speed: cudaMalloc and cudaFree", "speed_program.cu", ["-cudart", "shared"], ["pairs", "malloc"], count=2000, small=3,
          peers={"cudaMallocAsync": (["pairs", "async"], {})}, simulated=True),
    Speed("speed: a program that allocates much", "speed_program.cu", ["-cudart", "shared"], ["steps", "malloc"], count=200, small=2,
          peers={"cudaMallocAsync": (["steps", "async"], {})}, simulated=True),
    Speed("speed: PyTorch without its own cache", "torch_steps.py", count=100, module="torch",
          env={"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"},
          peers={"PyTorch's allocator": ([], {}), "cudaMallocAsync": ([], {"PYTORCH_CUDA_ALLOC_CONF": "backend:cudaMallocAsync"})}),
    *(Facts(part) for part in ("lookups", "waits", "errors", "outputs", "imports", "layout", "contents", "objects", "hosts",
                                        "books")),
    Injection(),
]
