#!/usr/bin/env python3
# scripts/check_exports.py — holds what a preloaded library shows to the program it is loaded into.
#
# Usage: check_exports.py LIBRARY EXPORTS [--size STRIP]
#
# EXPORTS has one name per line: LIBRARY must define exactly these, need only libc and the loader,
# ask for no glibc newer than 2.34, and hold few addresses, each of which the loader writes into
# every process. --size also reports the stripped size (no failure). Ends 1 with a line for
# each fault.
import argparse
import os
import re
import subprocess
import sys
import tempfile

ALLOWED_NEEDED = re.compile(r"libc\.so\.6|ld-linux[-\w]*\.so\.\d+")
NEWEST_GLIBC = (2, 34)
WANTED_BYTES = 1 << 20
MOST_ADDRESSES = 100


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def defined_names(library):
    return {line.split()[-1].split("@")[0] for line in run("nm", "-D", "--defined-only", library).splitlines()}


def undefined_names(library):
    """(name, version or None, weak) of every name that someone else must define."""
    for line in run("nm", "-D", "--undefined-only", library).splitlines():
        kind, name = line.split()[-2:]
        yield (*(name.split("@") + [None])[:2], kind in "wv")


def check(library, exports):
    with open(exports) as file:
        wanted = set(file.read().split())
    if not wanted:
        yield f"{exports}: names nothing"
    found = defined_names(library)
    yield from (f"exported, and not in the table: {name}" for name in sorted(found - wanted))
    yield from (f"in the table, and not exported: {name}" for name in sorted(wanted - found))

    for needed in re.findall(r"\(NEEDED\).*\[(.*)\]", run("readelf", "-dW", library)):
        if not ALLOWED_NEEDED.fullmatch(needed):
            yield f"needs {needed}: only libc and the loader are sure to be there"
    for name, version, weak in undefined_names(library):
        if version is None and not weak:
            yield f"undefined and not libc's: {name}"
        glibc = re.fullmatch(r"GLIBC_(\d+)\.(\d+)(?:\.\d+)?", version or "")
        if glibc and tuple(map(int, glibc.groups())) > NEWEST_GLIBC:
            yield f"asks for {version}: {name}"
    addresses = run("readelf", "-rW", library).count("R_X86_64_RELATIVE")
    if addresses > MOST_ADDRESSES:
        yield f"{addresses} addresses for the loader to write, instead of {MOST_ADDRESSES}: a table of pointers?"


def stripped_bytes(library, strip):
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "stripped")
        run(strip, "-o", copy, library)
        return os.path.getsize(copy)


def main():
    parser = argparse.ArgumentParser(description="Check what a preloaded library exports and needs.")
    parser.add_argument("library")
    parser.add_argument("exports")
    parser.add_argument("--size", metavar="STRIP", help="report the size after this strip program")
    arguments = parser.parse_args()
    try:
        problems = list(check(arguments.library, arguments.exports))
        if arguments.size:
            size = stripped_bytes(arguments.library, arguments.size)
            print(f"{size} bytes stripped ({'below' if size < WANTED_BYTES else 'ABOVE'} {WANTED_BYTES})")
    except (OSError, subprocess.CalledProcessError) as error:
        problems = [str(getattr(error, "stderr", None) or error).strip()]
    for problem in problems:
        print(f"check_exports: {problem}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
