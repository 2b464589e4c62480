#!/usr/bin/env python3
# scripts/check_tidy.py — runs clang-tidy 14 with the checks of .clang-tidy on the product's code.
#
# Usage: check_tidy.py [--minutes N] BUILD [FILE...]: what BUILD/compile_commands.json compiles below tracker, report and
# tools, or only what compiles the FILEs; not interpose, whose actions clang 14 cannot read. Where BUILD compiles several files as one (VRAMSCOPE_UNITY), so does
# this: their headers are read once. What was committed last is looked at first; with --minutes nothing is begun after so
# many, unless scripts/test --all runs it, and the last line says how much was left out. Ends 1 with each finding, 77 where there is no clang-tidy 14:
# versions differ in what they find.
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[1]
LAYERS = ("tracker", "report", "tools")  # interpose initialises aggregates in parentheses: that needs clang 16

# Options of the compiler that clang does not know are no findings.
KNOWN_TO_GCC_ALONE = ["--extra-arg=-Wno-unknown-warning-option", "--extra-arg=-Wno-unused-command-line-argument"]


def clang_tidy():
    for name in ("clang-tidy-14", "clang-tidy"):
        if shutil.which(name) and "version 14." in subprocess.run([name, "--version"], capture_output=True, text=True).stdout:
            return name
    return None


def sources_of(unit):
    """The files that a translation unit is made of: itself, or those that a unity build includes in it."""
    if "Unity" not in unit.parts:
        return {unit}
    return {pathlib.Path(name) for name in re.findall(r'^#include "(/[^"]+)"', unit.read_text(), re.MULTILINE)}


def commit_times():
    """When each file was committed last; empty where there is no git."""
    done = subprocess.run(["git", "log", "--format=/%ct", "--name-only"], cwd=SOURCE, capture_output=True, text=True)
    times, now = {}, 0
    for line in filter(None, done.stdout.splitlines()):
        if line.startswith("/"):
            now = int(line[1:])
        else:
            times.setdefault(SOURCE / line, now)
    return times


def units(build, wanted):
    """The translation units of our code, what was committed last first."""
    times = commit_times()
    found = []
    commands = json.loads((build / "compile_commands.json").read_text())
    # Tests are built with a header that the compiler has precompiled for itself: the product's sources in them are units too.
    for unit in {pathlib.Path(entry["directory"], entry["file"]) for entry in commands if "cmake_pch" not in entry.get("command", "")}:
        sources = sources_of(unit)
        ours = any(source.is_relative_to(SOURCE / layer) for source in sources for layer in LAYERS)
        if ours and unit.suffix in (".cpp", ".cxx") and (not wanted or sources & wanted):
            found.append((-max(times.get(source, 0) for source in sources), unit))
    return [unit for _, unit in sorted(found)]


def findings(tool, build, unit, end):
    """What clang-tidy finds in it; None if it is too late to begin."""
    if time.monotonic() > end:
        return None
    done = subprocess.run([tool, "-p", build, "--quiet", *KNOWN_TO_GCC_ALONE, unit],
                          cwd=SOURCE, capture_output=True, text=True)
    return done.stdout if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", type=pathlib.Path, nargs="*")
    asked = parser.parse_args()
    tool = clang_tidy()
    if tool is None:
        print("no clang-tidy 14 here (Debian 12: apt-get install clang-tidy-14)")
        return 77
    end = time.monotonic() + 60 * (float("inf") if os.environ.get("VRAMSCOPE_TEST_ALL") else asked.minutes)
    build = asked.build.resolve()
    todo = units(build, {name.resolve() for name in asked.files})
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda unit: findings(tool, build, unit, end), todo))
    found = {text for text in results if text}
    print(*sorted(found), sep="\n", end="")
    print(f"check_tidy: {len(todo)} translation units, {len(found)} with findings, {results.count(None)} left out")
    return 1 if found or not todo else 0


if __name__ == "__main__":
    sys.exit(main())
