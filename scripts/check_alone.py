#!/usr/bin/env python3
# scripts/check_alone.py — compiles alone what a build compiles several files at once: finds the include that is missing.
#
# Usage: check_alone.py [--minutes N] BUILD: the files of all unity units of BUILD/compile_commands.json are parsed, each by
# itself. Those that were committed last, or include what was, come first; with --minutes nothing is begun after so many,
# and the last line says how much was left out. Ends 1 with what does not compile.
import argparse
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import time

from check_tidy import SOURCE, commit_times, sources_of


def touched(file, times):
    """When the file, or one of ours that it includes, was committed last."""
    names = re.findall(r'^#include "([^"]+)"', file.read_text(), re.MULTILINE)
    return max(times.get(path, 0) for path in (file, *(SOURCE / name for name in names)))


def alone(build):
    """(file, folder, command) of each file that is compiled with others, what was touched last first."""
    times = commit_times()
    commands = {}
    for entry in json.loads((build / "compile_commands.json").read_text()):
        if "Unity" not in pathlib.Path(entry["file"]).parts:
            continue
        words = shlex.split(entry["command"])
        at = words.index("-o")
        words = [word for word in words[:at] + words[at + 2:] if word not in ("-c", entry["file"])]
        for file in sources_of(pathlib.Path(entry["file"])):
            commands[file] = entry["directory"], [*words, "-fsyntax-only", str(file)]
    return [(file, *commands[file]) for file in sorted(commands, key=lambda file: (-touched(file, times), file))]


def errors(unit, end):
    """What the compiler says of it; None if it is too late to begin."""
    if time.monotonic() > end:
        return None
    _, folder, command = unit
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=float("inf"))
    parser.add_argument("build", type=pathlib.Path)
    asked = parser.parse_args()
    end = time.monotonic() + 60 * asked.minutes
    todo = alone(asked.build.resolve())
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda unit: errors(unit, end), todo))
    failed = [(unit[0], text) for unit, text in zip(todo, results) if text]
    for file, text in failed:
        print(f"{file} does not compile alone:\n{text[:2000]}")
    print(f"check_alone: {len(todo)} files, {len(failed)} do not compile, {results.count(None)} left out")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
