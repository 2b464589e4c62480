#!/usr/bin/env python3
# scripts/check_headers.py — compiles what includes CUDA's headers with those of another toolkit; no nvcc is needed.
#
# Usage: check_headers.py [--product] BUILD INCLUDE: each translation unit of BUILD/compile_commands.json that can reach a
# header of the folder INCLUDE, and the corpus, whose programs have no kernels; with --product neither the corpus nor other
# tests. A warning is an error. The simulated GPU's tables are made anew from these headers. What BUILD itself compiles with
# them, as the preload of old headers, is not compiled again. Ends 1 with what does not compile, 77 where INCLUDE has no headers.
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from check_tidy import sources_of

SOURCE = pathlib.Path(__file__).resolve().parents[1]
QUICK = ["-Werror", "-O0", "-g0", "-c"]  # after the build's own; to parse alone would not tell what nobody uses
MADE = {"tools/simgpu/generate.py": ("tools/simgpu/generated", ["--runtime-node", "libcudart.so.{major}"], ""),
        "tests/simgpu/generate_calls.py": ("tests/simgpu/generated", [], "calls.inc")}


def version_of(include):
    return int(re.search(r"define CUDA_VERSION (\d+)", (include / "cuda.h").read_text())[1])


class Reach:
    """Which files include, themselves or through others, a header of the toolkit."""

    def __init__(self, include):
        self.include = include
        self.known = {}

    def __call__(self, file, folders):
        if file not in self.known:
            self.known[file] = False  # while it is looked at: a circle reaches nothing more
            text = file.read_text(errors="replace") if file.is_file() else ""
            self.known[file] = any(self.reaches(name, file, folders)
                                   for name in re.findall(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', text, re.MULTILINE))
        return self.known[file]

    def reaches(self, name, file, folders):
        for folder in [file.parent, *folders]:
            if (folder / name).is_file():
                return self(folder / name, folders)
        return (self.include / name).is_file()


def make_tables(build, include, compiler, folder):
    """The tables that the build makes from the toolkit's headers, made from these: [(the build's folder, ours)]."""
    places = []
    for script, (made, options, name) in MADE.items():
        place = folder / made
        place.mkdir(parents=True, exist_ok=True)
        options = [option.format(major=version_of(include) // 1000) for option in options]
        subprocess.run([sys.executable, SOURCE / script, "--compiler", compiler, "--include", include, "--nm", "nm",
                        *options, "--out", place / name], check=True)
        places.append((str(build / made), str(place)))
    return places


def with_headers(command, include):
    """The command of a translation unit, with these headers before any other toolkit's."""
    at = command.index("-o")
    words = [word for word in command[1:at] + command[at + 2:] if word not in ("-c", "-Winvalid-pch")]
    return [command[0], "-isystem", str(include), *words, *QUICK]


def code_of(unit, command):
    """What is compiled in a translation unit: two libraries may be made of the same files, one of them several at once."""
    defined = *sorted(word for word in command if word.startswith("-D") and not word.endswith("_EXPORTS")),
    return {(file, defined) for file in sources_of(unit)}


def built_with(commands, include):
    """What the build itself compiles with these headers, where a warning is an error there too."""
    built = set()
    for entry in commands:
        command, unit = shlex.split(entry["command"]), pathlib.Path(entry["file"])
        if "-Werror" in command and ("-isystem", str(include)) in zip(command, command[1:]):
            built |= code_of(unit, command)
    return built


def together(programs, folder):
    """Many programs as few files, each program in a namespace: most of a program's time goes to CUDA's headers."""
    folder.mkdir(parents=True, exist_ok=True)
    size = 24
    for first in range(0, len(programs), size):
        includes, bodies = [], []
        for number, program in enumerate(programs[first:first + size]):
            lines = program.read_text().splitlines()
            includes += [line for line in lines if line.startswith("#include")]
            body = ["" if line.startswith("#include") else line for line in lines]
            bodies += [f"namespace program_{number} {{", f'#line 1 "{program}"', *body, "}"]
        file = folder / f"programs_{first // size}.cpp"
        file.write_text("\n".join([*dict.fromkeys(includes), *bodies, ""]))
        yield file


def has_tables(command, version):
    """Whether these headers make what the unit includes: a simulated runtime's table is made by a newer toolkit than its own."""
    majors = [int(word.partition("=")[2]) for word in command if word.startswith("-DSIMGPU_CUDART=")]
    return all(major < version // 1000 for major in majors)


def programs_of(tests, folder):
    """The programs that are built without CMake's knowing their commands; what has macros of its own stays alone."""
    corpus = [file for file in sorted(tests.glob("corpus/**/*.cu"))
              if not re.search(r"#include <(thrust|cub)/", file.read_text())]  # no part of these headers, and for nvcc alone
    alone = [file for file in corpus if re.search(r"^\s*#\s*(define|if)", file.read_text(), re.MULTILINE)]
    return [*together([file for file in corpus if file not in alone], folder), *alone, *tests.glob("gpu/**/*.cpp")]


def units(build, include, places, product=False, programs=()):
    """(file, folder, command) of each translation unit that reaches a header, and of these programs."""
    tests = SOURCE / "tests"
    reach, version = Reach(include), version_of(include)
    commands = json.loads((build / "compile_commands.json").read_text())
    compiler = shlex.split(commands[0]["command"])[0]
    if product:
        commands = [entry for entry in commands if not any(file.is_relative_to(tests) for file in sources_of(pathlib.Path(entry["file"])))]
    seen = built_with(commands, include)
    for entry in sorted(commands, key=lambda entry: "Unity" not in entry["file"]):  # several files as one are read quicker
        for theirs, ours in places:
            entry = {key: text.replace(theirs, ours) for key, text in entry.items()}
        command, file = shlex.split(entry["command"]), pathlib.Path(entry["file"])
        folders = [pathlib.Path(word[2:]) for word in command if word.startswith("-I")]
        code = code_of(file, command)
        new = not code <= seen and has_tables(command, version)
        seen |= code
        if file.suffix in (".c", ".cpp", ".cxx") and new and reach(file, folders):
            yield str(file), entry["directory"], with_headers(command, include)
    for file in programs:
        yield str(file), str(build), [compiler, "-x", "c++", "-std=c++17", f"-I{SOURCE}", "-isystem", str(include),
                                      "-include", "cuda_runtime.h", "-DWAY_LOOKUP", "-Wno-return-type", str(file), *QUICK]  # main in a namespace


def compile_one(unit):
    """By ccache where it is installed: what has not changed since the last run takes no time."""
    file, folder, command = unit
    launcher = ["ccache"] if shutil.which("ccache") else []
    with tempfile.TemporaryDirectory() as output:
        done = subprocess.run([*launcher, *command, "-o", f"{output}/unit.o"], cwd=folder, capture_output=True, text=True,
                              env={**os.environ, "CCACHE_SLOPPINESS": "pch_defines,time_macros"})
    return file, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--product", action="store_true")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("include", type=pathlib.Path)
    asked = parser.parse_args()
    build, include = asked.build.resolve(), asked.include
    if not (include / "cuda_runtime.h").is_file():
        print(f"no headers in {include}: ./scripts/cuda-headers fetches them (1.7 GB)")
        return 77
    version = version_of(include)
    compiler = shlex.split(json.loads((build / "compile_commands.json").read_text())[0]["command"])[0]
    places = make_tables(build, include, compiler, build / "headers" / str(version))
    programs = [] if asked.product else programs_of(SOURCE / "tests", build / "headers" / str(version))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(compile_one, units(build, include, places, asked.product, programs)))
    failed = [(file, text) for file, status, text in results if status != 0]
    for file, text in failed:
        print(f"{file} does not compile with the headers of CUDA {version}:\n{text[:2000]}")
    print(f"{len(results) - len(failed)} of {len(results)} translation units compile with the headers of CUDA {version}")
    return 1 if failed or not results else 0


if __name__ == "__main__":
    sys.exit(main())
