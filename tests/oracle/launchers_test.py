#!/usr/bin/env python3
# tests/oracle/launchers_test.py — Open MPI's mpirun and Slurm's srun, as Debian packages them: ranks are right, and of a rank that is
# killed, hangs or never calls CUDA the job says so.
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from oracle import PROGRAMS, VRAMSCOPE, OracleTest, why_not

ALONE = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_oob_tcp_if_include": "lo",
         "PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
# What each rank does, by its number; it waits until all have begun, since a launcher ends the others with the first that fails.
RANK = f"""#!/bin/bash
rank=${{OMPI_COMM_WORLD_RANK:-$SLURM_PROCID}}
touch begun.$rank
until [ $(ls begun.* | wc -l) = 4 ]; do sleep 0.1; done
usual="hold 1048576 3 drop 3"
case $1-$rank in
  leak-2) exec {PROGRAMS}/live <<<"$usual host 2097152 1 end" ;;
  kill-1) sleep 2; exec {PROGRAMS}/ends SIGSEGV ;;
  hang-3) exec {PROGRAMS}/live < <(echo "$usual"; exec sleep 1000) ;;
  none-0) exec true ;;
  *) exec {PROGRAMS}/live <<<"$usual end" ;;
esac
"""
SLURM = """ClusterName=one
SlurmctldHost=localhost
SlurmctldPort={0}
SlurmdPort={1}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
AuthInfo=socket={folder}/munge.socket
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ReturnToService=2
NodeName=localhost NodeHostName=localhost NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=localhost Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


class LaunchersTest(OracleTest):
    def job_of(self, *launcher, does, inside=True, **how):
        """What `job` says, as JSON and text, of four ranks of which one does this."""
        script = self.folder / "rank.sh"
        script.write_text(RANK)
        script.chmod(0o755)
        run = [VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", "--reduced", "tables"]
        command = [*launcher, *run, "./rank.sh", does] if inside else [*run, *launcher, "./rank.sh", does]
        self.launch(command, **how)
        done = self.execute(VRAMSCOPE, "job", "--json", "job.json", "tables")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "job.json").read_text()), done.stdout

    def launch(self, command, hangs=None):
        """To its end; where a rank hangs, until the others have theirs, and then the launcher is told to end."""
        with subprocess.Popen([str(part) for part in command], cwd=self.folder, env=self.environment(**ALONE, **self.more), text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True) as running:
            if hangs is not None:
                deadline = time.monotonic() + 60
                while len(list((self.folder / "tables").glob("*.jsonl"))) < 3 and time.monotonic() < deadline:
                    time.sleep(0.1)
                running.send_signal(signal.SIGTERM)
            try:
                self.said, _ = running.communicate(timeout=120)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(running.pid, signal.SIGKILL)

    more = {}  # variables that the launcher needs

    def assert_names_the_leak(self, job, text):
        self.assertEqual([process["number"] for process in job["processes"]], [0, 1, 2, 3], self.said)
        self.assertEqual((job["world_size"], job["missing"], job["verdict"]), (4, [], "leaks"))
        self.assertRegex(text, r"\n  1 of 4 ranks \(2\): leaked 2 MiB at hold_on_host")

    def assert_of_each_fault(self, launcher):
        job, text = self.job_of(*launcher, does="leak")
        self.assert_names_the_leak(job, text)
        for does in ("kill", "none", "hang"):
            with self.subTest(does):
                for old in [*self.folder.glob("begun.*"), *self.folder.glob("*.vsl")]:
                    old.unlink()
                shutil.rmtree(self.folder / "tables")
                job, text = self.job_of(*launcher, does=does, hangs=3 if does == "hang" else None)
                self.assertEqual(job["verdict"], "inconclusive", text + self.said)
                {"kill": self.assert_killed, "none": self.assert_none, "hang": self.assert_hung}[does](job, text)

    def assert_killed(self, job, text):
        self.assertIn(1, job["ends"][0]["ranks"], text + self.said)
        self.assertEqual((job["ends"][0]["first"], job["ends"][0]["words"]), (1, "was killed by signal 11 (SIGSEGV)"))

    def assert_none(self, job, text):
        self.assertEqual(job["missing"], [0], text + self.said)

    def assert_hung(self, job, text):
        self.assertTrue(any(end["ranks"] == [3] for end in job["ends"]) or job["missing"] == [3], text + self.said)
        self.assertEqual({process["number"] for process in job["processes"]} - {3}, {0, 1, 2})

    def test_mpirun(self):
        if why := why_not("mpirun"):
            self.skip(why)
        self.assert_of_each_fault(["mpirun", "-n", "4", "--oversubscribe"])

    def test_mpirun_below_one_run(self):
        if why := why_not("mpirun"):
            self.skip(why)
        self.assert_names_the_leak(*self.job_of("mpirun", "-n", "4", "--oversubscribe", does="leak", inside=False))

    @contextlib.contextmanager
    def slurm(self):
        """A cluster of this machine, with daemons of this test's; skipped where they do not start, as where there are no cgroups."""
        folder = self.folder / "slurm"
        folder.mkdir()
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "munge.key").write_bytes(os.urandom(1024))
        (folder / "munge.key").chmod(0o600)
        self.folder.chmod(0o755)  # munged refuses a socket that not everyone reaches
        (folder / "slurm.conf").write_text(SLURM.format(*free_ports(2), folder=folder, cpus=os.cpu_count()))
        self.more = {"SLURM_CONF": str(folder / "slurm.conf")}
        munge = ["munged", "--foreground", "--force", *(f"--{what}-file={folder}/munge.{what}" for what in ("key", "pid", "log", "seed")),
                 f"--socket={folder}/munge.socket"]
        with contextlib.ExitStack() as daemons:
            for command in (munge, ["slurmctld", "-D"], ["slurmd", "-D", "-N", "localhost"]):
                daemon = subprocess.Popen(command, env=self.environment(**self.more, PATH="/usr/sbin:/usr/bin:/sbin:/bin"),
                                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                daemons.callback(daemon.wait)
                daemons.callback(daemon.terminate)
            answers = self.execute("timeout", "60", "srun", "-n", "1", "true", **self.more)
            if answers.returncode != 0:
                logs = "".join(path.read_text() for path in folder.glob("slurm*.log"))
                self.skip(f"Slurm does not start here: {(re.findall('(?:fatal|error): (.*)', logs) or [answers.stderr])[-1]}")
            yield

    def test_srun(self):
        # Setup leaves them: their packages start daemons.
        for program in ("srun", "/usr/sbin/slurmctld", "/usr/sbin/slurmd", "/usr/sbin/munged"):
            if why_not(program):
                self.skip(f"there is no {program} here (apt-get install slurm-client slurmctld slurmd munge)")
        if os.geteuid() != 0:
            self.skip("daemons of Slurm are root's")
        with self.slurm():
            self.assert_of_each_fault(["srun", "-n", "4", "--overcommit"])


def free_ports(count):
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in sockets]


if __name__ == "__main__":
    unittest.main()
