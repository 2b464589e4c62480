# tests/corpus/corpus_test.py — runs every program of the corpus on the simulated GPU and compares what the report says
# with what is planted.
#
#   VRAMSCOPE_BUILD=build/dev python3 tests/corpus/corpus_test.py [--keep FOLDER] [PROGRAM...]
#
# The table of found, missed and false is always printed; anything missed or false fails.
import argparse
import concurrent.futures
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import checker
import truth

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import kept_json  # noqa: E402

HERE = pathlib.Path(__file__).parent
BUILD = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve()
VRAMSCOPE = BUILD / "bin" / "vramscope"
PROGRAMS = BUILD / "bin" / "corpus"


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("VRAMSCOPE", "NVTX", "LD_")) and name != "NO_COLOR"}


def command_of(program, report):
    command = [VRAMSCOPE, "run", "--simulate", program.run.get("simulate", "256MiB"), "--json", report]
    if "pool" in program.run:
        command += ["--pool", program.run["pool"]]
    for setting in program.run.get("set", []):
        command += ["--set", setting]
    return [str(part) for part in [*command, "--", PROGRAMS / program.name]]


def run(program, folder):
    """The outcomes of one program; one that does not run as it should is a program that says nothing."""
    folder.mkdir(parents=True)
    report = folder / "report.json"
    done = subprocess.run(command_of(program, report), cwd=folder, capture_output=True, text=True, timeout=60,
                          env=environment())
    kept_json.keep(BUILD, report)
    wanted = int(program.run.get("exit", 0))
    if done.returncode != wanted:
        problem = f"{program.name}: ended with {done.returncode}, not {wanted}: {done.stderr.strip()}"
        return [checker.Outcome("ran", "missed", problem)]
    return [checker.Outcome("ran", "found"), *checker.check(program, json.loads(report.read_text()))]


def run_all(programs, folder):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = pool.map(lambda program: run(program, folder / program.name), programs)
        return [outcome for outcomes in results for outcome in outcomes]


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--keep", type=pathlib.Path, help="a new folder for reports and logs")
    arguments.add_argument("programs", nargs="*")
    chosen = arguments.parse_args()
    programs = [program for program in truth.read_corpus(HERE / "programs")
                if not chosen.programs or program.name in chosen.programs]
    with tempfile.TemporaryDirectory() as temporary:
        outcomes = run_all(programs, chosen.keep or pathlib.Path(temporary))
    for outcome in outcomes:
        if outcome.result != "found":
            print(f"{outcome.result}: {outcome.text}")
    table = checker.counts(outcomes)
    checker.print_table(table)
    print(f"{len(programs)} programs")
    return 0 if programs and all(row["missed"] + row["false"] == 0 for row in table.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
