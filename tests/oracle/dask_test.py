#!/usr/bin/env python3
# tests/oracle/dask_test.py — `job --dask` on clusters of Debian's python3-distributed, on loopback: what xargs and one machine say.
import contextlib
import re
import socket
import subprocess
import sys
import unittest

from oracle import NOT_HERE, PROGRAMS, SOURCE, VRAMSCOPE, OracleTest

DEBIANS = "/usr/bin/python3"  # for whose packages distributed is one
RANKS = 6
DRIVER = SOURCE / "tools" / "python" / "vramscope" / "dask_job.py"
LOCAL = """
import sys
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    print("Scheduler at:", cluster.scheduler_address, flush=True)
    sys.stdin.read()
    cluster.close()
"""


def has_distributed():
    return subprocess.run([DEBIANS, "-c", "import distributed"], capture_output=True).returncode == 0


class DaskTest(OracleTest):
    def setUp(self):
        super().setUp()
        self.logs = self.folder / "logs"
        self.logs.mkdir()
        for rank in range(RANKS):
            orders = "hold 1048576 3 drop 3 " + ("host 2097152 1 " if rank == 4 else "")
            self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", f"logs/{rank}.vsl", PROGRAMS / "live", stdin=orders + "end\n",
                         RANK=str(rank), WORLD_SIZE=str(RANKS))

    def job(self, *arguments, status=0):
        """Its text and its JSON."""
        done = self.execute(VRAMSCOPE, "job", "--json", "job.json", "-f", *arguments, PATH="/usr/bin:/bin")
        self.assertEqual((done.returncode, done.stderr), (status, ""), done.stdout)
        return done.stdout, (self.folder / "job.json").read_text()

    @contextlib.contextmanager
    def started(self, *command, says, **env):
        """A program, and what stands behind `says` in what it prints."""
        with subprocess.Popen([str(part) for part in command], cwd=self.folder, env=self.environment(**env), text=True,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as running:
            try:
                for line in running.stdout:
                    if found := re.search(rf"{says}\s*(\S*)", line):
                        break
                else:
                    self.fail(f"{command} did not start")
                # What it prints later must not stop it.
                rest = subprocess.Popen(["cat"], stdin=running.stdout, stdout=subprocess.DEVNULL)
                yield found[1]
            finally:
                running.stdin.close()
                running.terminate()
        rest.wait()

    @contextlib.contextmanager
    def cluster(self, *options, workers=2, path=VRAMSCOPE.parent):
        """A scheduler and workers as they are packaged; its address."""
        with contextlib.ExitStack() as stack:
            address = stack.enter_context(self.started(DEBIANS, "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0",
                                                       "--no-dashboard", says="Scheduler at:",
                                                       # What waits behind a task that kills a worker is blamed as well.
                                                       DASK_DISTRIBUTED__SCHEDULER__WORKER_SATURATION="1.0"))
            for _ in range(workers):
                stack.enter_context(self.started(DEBIANS, "-m", "distributed.cli.dask_worker", address, "--host", "127.0.0.1",
                                                 "--nthreads", "1", "--no-dashboard", "--local-directory", self.folder / "scratch",
                                                 *options, says="Registered to:", PATH=f"{path}:/usr/bin:/bin"))
            yield address

    def killer(self, condition):
        """A folder with a `vramscope` that kills the worker that runs it, where the shell finds this true of its arguments."""
        folder = self.folder / "killer"
        folder.mkdir()
        (folder / "vramscope").write_text(f"#!/bin/bash\nif {condition}; then kill -9 $PPID; sleep 1; fi\nexec {VRAMSCOPE} \"$@\"\n")
        (folder / "vramscope").chmod(0o755)
        return folder

    def test_two_workers_say_what_xargs_says(self):
        (self.folder / "tables").mkdir()
        done = self.execute("sh", "-c", f"ls {self.logs}/* | xargs -P 2 -I{{}} sh -c '{VRAMSCOPE} reduce -o tables/$(basename {{}}).jsonl {{}}'")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        expected = self.job("tables")
        self.assertIn("1 of 6 ranks (4): leaked 2 MiB at hold_on_host", expected[0])
        with self.cluster("--no-nanny") as address:
            self.assertEqual(self.job("--dask", address, "logs"), expected)
            (self.logs / "3.vsl").write_text("nothing")
            text, _ = self.job("--dask", address, "logs", "no-such.vsl", status=111)
            self.assertIn(f"  not read: '{self.logs}/3.vsl' is no log ", text)
            self.assertIn(f"  not read: {self.folder}/no-such.vsl: no worker sees it\n", text)
            self.assertIn("  missing: rank 3\n", text)
            self.assertIn("1 of 5 ranks (4): leaked 2 MiB at hold_on_host", text)
            done = self.execute(VRAMSCOPE, "job", "--dask", address, "no-such.vsl", PATH="/usr/bin:/bin")
            self.assertEqual((done.returncode, done.stdout), (120, ""))

    def test_a_local_cluster_does_too(self):
        expected = self.job(self.logs)
        with self.started(DEBIANS, "-c", LOCAL, says="Scheduler at:", PATH=f"{VRAMSCOPE.parent}:/usr/bin:/bin") as address:
            self.assertEqual(self.job("--dask", address, "logs"), expected)

    def test_what_a_worker_had_that_dies_is_read_by_another(self):
        expected = self.job(self.logs)
        path = self.killer("[[ $* == *2.vsl* ]] && mkdir died 2>/dev/null")
        with self.cluster("--no-nanny", path=path) as address:
            self.assertEqual(self.job("--dask", address, "logs"), expected)
        self.assertTrue((self.folder / "died").exists())

    def test_a_log_that_kills_each_worker_is_named_and_the_rest_is_joined(self):
        path = self.killer("[[ $* == *2.vsl* ]]")
        with self.cluster(path=path) as address:
            text, _ = self.job("--dask", address, "logs", status=111)
        self.assertIn(f"  not read: {self.logs}/2.vsl: its worker died (KilledWorker)\n", text)
        self.assertIn("  missing: rank 2\n", text)
        self.assertIn("1 of 5 ranks (4): leaked 2 MiB at hold_on_host", text)

    def test_where_nobody_answers_one_line_says_so(self):
        with socket.create_server(("127.0.0.1", 0)) as silent:
            address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
            self.assert_no_answer(address)
        self.assert_no_answer(address)  # nobody listens there now

    def assert_no_answer(self, address):
        done = self.execute(VRAMSCOPE, "job", "--dask", address, "logs", PATH="/usr/bin:/bin")
        self.assertEqual((done.returncode, done.stdout), (125, ""))
        self.assertRegex(done.stderr, rf"^vramscope: error: --dask: .*{address}.*\n$")

    def test_without_any_worker_left_it_ends(self):
        driver = self.folder / "driver.py"
        driver.write_text(re.sub(r"GONE_SECONDS = \d+", "GONE_SECONDS = 1", DRIVER.read_text()))
        with self.cluster("--no-nanny", workers=1, path=self.killer("true")) as address:
            done = self.execute(DEBIANS, driver, address, self.logs / "1.vsl")
        self.assertEqual(done.stdout, f'["{self.logs}/1.vsl: its worker is gone"]\n')


if __name__ == "__main__":
    if not has_distributed():
        print("SKIPPED: there is no python3-distributed here (./scripts/setup --tests)")
        sys.exit(NOT_HERE)
    unittest.main()
