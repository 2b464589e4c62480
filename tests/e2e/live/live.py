# tests/e2e/live/live.py — what the tests of programs that still run have in common.
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
# The tests of this folder take what they need of e2e from here.
from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, SOURCE, VRAMSCOPE, EndToEndTest, simulated_only  # noqa: E402, F401


class LiveTest(EndToEndTest):
    def open(self, command, *, traced=True, gpu=GPU, preload=(), pool=None, **options):
        """The command with pipes for its orders and answers, on the simulated GPU; its log is live.vsl."""
        env = {"LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": gpu, "VRAMSCOPE_LOG": str(self.log)}
        if traced:
            env["LD_PRELOAD"] = ":".join(map(str, (PRELOAD, *preload)))
        if pool:
            env["VRAMSCOPE_POOL"] = pool
        return subprocess.Popen([str(part) for part in command], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                text=True, env=self.environment(**env), **options)

    def start(self, *, traced=True):
        """tests/programs/memory/live.cpp, waiting for its first order."""
        process = self.open([PROGRAMS / "live"], traced=traced)
        self.addCleanup(self.end, process)
        return process

    def start_python(self, python, program, pool="off"):
        """A program of tests/programs/python with blocks of a size for each name, once it is ready; and the names by their bytes."""
        process = self.open([python, program], pool=pool)
        self.addCleanup(self.end_python, process)
        return process, self.names_by_bytes(process)

    @staticmethod
    def end_python(process):
        process.stdin.close()
        process.stdout.close()
        process.wait(timeout=60)

    def reach(self, process):
        """What holds the blocks of a stopped process: the document. Skips where its memory cannot be read."""
        done = self.execute(VRAMSCOPE, "reach", "--stop", "--json", "-", process.pid)
        if "cannot be read" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    @property
    def log(self):
        return self.folder / "live.vsl"

    def tell(self, process, *orders):
        for order in orders:
            process.stdin.write(order + "\n")
            process.stdin.flush()
            self.assertEqual(process.stdout.readline(), "done\n", order)

    def end(self, process):
        if process.poll() is None:
            try:
                process.stdin.write("end\n")
            except BrokenPipeError:
                pass
            process.stdin.close()
            process.wait(timeout=60)
        for pipe in (process.stdin, process.stdout):
            if not pipe.closed:
                pipe.close()

    def live(self, command, *arguments, status=0, **env):
        done = self.execute(VRAMSCOPE, command, *arguments, **env)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    @staticmethod
    def as_nobody(*arguments):
        """Runs a copy of vramscope as another user, who may not reach the build folder."""
        with tempfile.TemporaryDirectory() as folder:
            os.chmod(folder, 0o755)
            return subprocess.run([shutil.copy(VRAMSCOPE, folder), *arguments], capture_output=True, text=True,
                                  timeout=60, user=65534, group=65534, extra_groups=[], cwd="/")

    def assert_refused(self, command, *arguments, words, status=110):
        done = self.live(command, *arguments, status=status)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
        self.assertIn(words, done.stderr)

    def json_of(self, log):
        return json.loads(self.execute(VRAMSCOPE, "report", "--json", "-", log).stdout)
