# tests/corpus/corpus_test.py — runs every program of the corpus on the simulated GPU and compares
# what the report says with what is planted.
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
STATUS = {"clean": 0, "leaks": 100, "inconclusive": 111}
NOTHING_SEEN = 110
TOO_OLD = 77  # the toolkit that it was built with, for what it does


def environment():
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("VRAMSCOPE", "NVTX", "LD_")) and name != "NO_COLOR"}


def command_of(program, report):
    command = [VRAMSCOPE, "run", "--check", "--simulate", program.run.get("simulate", "256MiB"), "--json", report]
    if "pool" in program.run:
        command += ["--pool", program.run["pool"]]
    for setting in program.run.get("set", []):
        command += ["--set", setting]
    return [str(part) for part in [*command, "--", PROGRAMS / program.name]]


def status_of(program):
    """What CI must see: the program's own failure, else what its verdict says."""
    if program.of("processes") and program.of("processes")[0].keys["word"] == "0":
        return NOTHING_SEEN
    return int(program.run.get("exit", STATUS[program.of("verdict")[0].keys["word"]]))


def run(program, folder):
    """The outcomes of one program; one that does not run as it should is a program that says nothing."""
    folder.mkdir(parents=True)
    report = folder / "report.json"
    done = subprocess.run(command_of(program, report), cwd=folder, capture_output=True, text=True, timeout=60,
                          env=environment() | {"VRAMSCOPE_SIM_TAKES": program.run.get("takes", "")})
    kept_json.keep(BUILD, report)
    if done.returncode == TOO_OLD and program.run.get("exit") != str(TOO_OLD):
        print(f"SKIPPED: {program.name}: {done.stdout.strip()}")
        return []
    wanted = status_of(program)
    if done.returncode != wanted or not report.exists():
        problem = f"{program.name}: ended with {done.returncode}, not {wanted}: {done.stderr.strip()}"
        return [checker.Outcome("exit status", "missed", problem)]
    return [checker.Outcome("exit status", "found"), *checker.check(program, json.loads(report.read_text()))]


def known_wrong():
    """{"PROGRAM KIND RESULT"}: where the report is known to be wrong, until somebody mends it."""
    lines = [line.partition("#")[0].strip() for line in (HERE / "known_wrong.txt").read_text().splitlines()]
    return {line for line in lines if line}


def surprises(outcomes, known, programs):
    """What fails: anything wrong that is not known, and anything known that is right by now."""
    wrong = {f"{outcome.text.partition(':')[0]} {outcome.kind} {outcome.result}": outcome for outcome in outcomes
             if outcome.result != "found"}
    names = {program.name for program in programs}
    mended = {line for line in known - wrong.keys() if line.split()[0] in names}
    return [f"{outcome.result}: {outcome.text}" for line, outcome in wrong.items() if line not in known] + [
        f"right by now, take it out of known_wrong.txt: {line}" for line in sorted(mended)]


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
    known = known_wrong()
    failures = surprises(outcomes, known, programs)
    for line in failures:
        print(line)
    checker.print_table(checker.counts(outcomes))
    print(f"{len(programs)} programs; {len(known)} known wrong")
    return 0 if programs and not failures else 1


if __name__ == "__main__":
    sys.exit(main())
