#!/usr/bin/env python3
# tests/tools/ranks_test.py — one command that starts many processes: a log each, side by
# side in one report.
import json
import sys
import unittest

from cli import CliTest, PROGRAMS

# Starts N ranks as mpirun does, all at once; the last one holds more.
MPIRUN = f"""#!/bin/bash
for rank in $(seq 0 $(($1 - 1))); do
  export OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_LOCAL_RANK=$rank OMPI_COMM_WORLD_SIZE=$1
  orders="hold 4096 2 churn 10 1"
  [ $rank = $(($1 - 1)) ] && orders="$orders host 1024 1"
  echo "$orders end" | {PROGRAMS}/live > /dev/null &
done
wait
"""

# Starts N ranks as torchrun does: a parent without CUDA that waits, and fails if one of them does.
TORCHRUN = f"""#!{sys.executable}
import os, subprocess, sys
count = int(sys.argv[1])
workers = []
for rank in range(count):
    env = dict(os.environ, RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(count), MASTER_ADDR="localhost")
    worker = subprocess.Popen(["{PROGRAMS}/live"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, env=env, text=True)
    worker.stdin.write("hold 4096 1 drop 1 " + ("hold 512 3 " if rank == 1 else "") + "end ")
    worker.stdin.close()
    workers.append(worker)
sys.exit(max([worker.wait() for worker in workers]))
"""


class ManyProcesses(CliTest):
    def run_all(self, script, *arguments, log="%p.vsl"):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "-o", log, "--json", "run.json", script,
                                           *arguments)
        self.assertEqual(status, 0, stderr)
        return self.read_json("run.json"), stderr

    def rows(self, report):
        return [(row["rank"], row["local_rank"], row["world_size"], row["launcher"], row["verdict"],
                 row["leaked_bytes"], row["leaked_blocks"]) for row in report["ranks"]["rows"]]

    def held_by(self, report):
        """Of each call stack, largest first: the ranks that hold it."""
        of_process = {row["process"]: row["rank"] for row in report["ranks"]["rows"]}
        return [[of_process[process] for process in leak["processes"]] for leak in report["ranks"]["leaks"]]

    def test_a_launcher_in_a_shell(self):
        report, _ = self.run_all(self.script("mpirun", MPIRUN), "4")
        self.assertEqual(self.rows(report), [(rank, rank, 4, "openmpi", "leaks", 8192, 2) for rank in range(3)]
                         + [(3, 3, 4, "openmpi", "leaks", 8192 + 1024, 3)])
        self.assertEqual(self.held_by(report), [[0, 1, 2, 3], [3]])
        self.assertEqual([leak["on_all"] for leak in report["ranks"]["leaks"]], [True, False])
        self.assertEqual(len(list(self.folder.glob("*.vsl"))), 4)

    def test_a_launcher_in_python(self):
        report, stderr = self.run_all(self.script("torchrun", TORCHRUN), "3")
        self.assertEqual(self.rows(report), [(0, 0, 3, "torchrun", "clean", 0, 0), (1, 1, 3, "torchrun", "leaks", 1536, 3),
                                             (2, 2, 3, "torchrun", "clean", 0, 0)])
        self.assertEqual(self.held_by(report), [[1]])
        self.assertIn("LEAKS in 1 of 3 ranks (1): 1.5 KiB in 3 blocks were not freed, from 1 call stack", stderr)

    def test_programs_that_start_programs(self):
        chain = self.script("chain", f"#!/bin/bash\nbash -c 'echo hold 4096 1 end | ( exec env A=1 {PROGRAMS}/live )'\n"
                                     f"echo hold 4096 1 end | {PROGRAMS}/live\n{PROGRAMS}/no_cuda\n")
        report, _ = self.run_all(chain)
        self.assertEqual(self.rows(report), [(None, None, None, None, "leaks", 4096, 1)] * 2)
        self.assertEqual([leak["on_all"] for leak in report["ranks"]["leaks"]], [True])

    def test_one_name_for_all_is_numbered_and_a_folder_finds_them_all(self):
        run, _ = self.run_all(self.script("mpirun", MPIRUN), "3", log="logs.vsl")
        self.assertEqual(sorted(path.name for path in self.folder.glob("logs.vsl*")),
                         ["logs.vsl", "logs.vsl.1", "logs.vsl.2"])
        report = json.loads(self.vramscope("leaks", "--json", "-", ".")[1])
        self.assertEqual(self.rows(report), self.rows(run))

    def test_the_text_shows_them_side_by_side(self):
        self.run_all(self.script("mpirun", MPIRUN), "4")
        for command in ("report", "leaks"):
            text = self.vramscope(command, ".")[1]
            self.assertRegex(text, r"\n Rank  Process  Program  Verdict +Peak requested  Not freed +Blocks\n"
                                   r" +0 +\d+  live +leaks +12 KiB +8 KiB +2\n(.*\n){2}"
                                   r" +3 +\d+  live +leaks +12 KiB +9 KiB +3\n")
            self.assertRegex(text, r"\n  all 4 ranks: 8 KiB each, 8 blocks  cuMemAlloc  hold\(")
            self.assertRegex(text, r"\n  1 of 4 ranks \(3\): 1 KiB, 1 block  cuMemHostAlloc  hold_on_host\(")

    def test_one_leak_of_many_ranks_is_one_entry(self):
        self.run_all(self.script("mpirun", MPIRUN), "4")
        for command in ("report", "leaks"):
            text = self.vramscope(command, ".")[1]
            entries = [line for line in text.splitlines() if line.startswith("#")]
            self.assertEqual(len(entries), 2, text)
            self.assertRegex(text, r"\n#1  32 KiB in 8 blocks  cuMemAlloc, device 0\n"
                                   r"    all 4 ranks: 8 KiB each; in rank 0: leaked-at-exit, ")
            self.assertRegex(text, r"\n#2  1 KiB in 1 block  cuMemHostAlloc, .*\n    1 of 4 ranks \(3\): 1 KiB, leaked-at-exit, ")
            shown = self.vramscope(command, "--min", "2KiB", "-n", "1", ".")[1]
            self.assertEqual(len([line for line in shown.splitlines() if line.startswith("#")]), 1, shown)
            self.assertIn("... and 1 more call stack, 1 KiB", shown)

    def test_what_run_prints_is_one_block(self):
        _, stderr = self.run_all(self.script("mpirun", MPIRUN), "4")
        lines = stderr.splitlines()
        self.assertTrue(all(line.startswith("vramscope: ") for line in lines), stderr)
        self.assertEqual(sum("hold(" in line for line in lines), 1, stderr)
        self.assertRegex(stderr, r"\nvramscope:   all 4 ranks: 8 KiB each, 8 blocks  cuMemAlloc  hold\(")
        self.assertRegex(stderr, r"\nvramscope:   1 of 4 ranks \(3\): 1 KiB, 1 block  cuMemHostAlloc  hold_on_host\(")
        logs = [path.name for path in self.folder.glob("*.vsl")]
        self.assertEqual(sum(line.startswith("vramscope: logs: ") for line in lines), 1)
        shown = lines[-1].removeprefix("vramscope: next: vramscope report ").split()
        self.assertEqual(sorted(shown), sorted(logs))  # as it stands, it can be pasted
        many = self.run_all(self.script("mpirun", MPIRUN), "9")[1].splitlines()
        self.assertEqual(len(many[-1].split()), 4 + 9)
        self.assertLess(len(many), 12)

    def test_a_rank_whose_log_is_not_there_is_named(self):
        self.run_all(self.script("mpirun", MPIRUN), "3")
        logs = [str(path) for path in sorted(self.folder.glob("*.vsl"))]
        report = json.loads(self.vramscope("leaks", "--json", "-", *logs[:2])[1])
        self.assertEqual(len(report["ranks"]["missing"]), 1)
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertIn(f"there is no log of rank {report['ranks']['missing'][0]}: ",
                      self.vramscope("leaks", *logs[:2])[1])


if __name__ == "__main__":
    unittest.main()
