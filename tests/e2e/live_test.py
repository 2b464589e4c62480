# tests/e2e/live_test.py — marks, snapshots and a live view of a program that runs on meanwhile.
import json
import os
import subprocess
import unittest

from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, VRAMSCOPE, EndToEndTest, simulated_only

KIB = 1024
MIB = 1024 * KIB


class LiveTest(EndToEndTest):
    def start(self, *, traced=True):
        """tests/programs/live.cpp, waiting for its first order; its log is live.vsl."""
        gpu = {"LD_LIBRARY_PATH": str(SIMGPU), "VRAMSCOPE_SIMULATE": GPU, "VRAMSCOPE_LOG": str(self.log)}
        process = subprocess.Popen([PROGRAMS / "live"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   text=True, env=self.environment(**gpu, **({"LD_PRELOAD": str(PRELOAD)} if traced
                                                                             else {})))
        self.addCleanup(self.end, process)
        return process

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

    def assert_refused(self, command, *arguments, words, status=110):
        done = self.live(command, *arguments, status=status)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1), done.stderr)
        self.assertIn(words, done.stderr)

    def json_of(self, log):
        return json.loads(self.execute(VRAMSCOPE, "report", "--json", "-", log).stdout)


@simulated_only
class Refusals(LiveTest):
    """What cannot be looked at, each in one line."""
    COMMANDS = [("mark", "NAME")]

    def assert_all_refuse(self, pid, words):
        for command, *rest in self.COMMANDS:
            with self.subTest(command=command):
                self.assert_refused(command, str(pid), *rest, words=words)

    def test_a_process_that_is_not_there(self):
        self.assert_all_refuse(2 ** 22 + 1, "there is no process 4194305")

    def test_a_process_that_is_not_traced(self):
        process = self.start(traced=False)
        self.tell(process, "hold 1000 1")
        self.assert_all_refuse(process.pid, f"process {process.pid} does not run under vramscope")

    def test_a_process_without_a_cuda_call(self):
        process = self.start()
        self.assert_all_refuse(process.pid, "has no log yet")

    def test_a_process_that_has_ended_but_was_not_waited_for(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        process.stdin.write("end\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "")  # its end closes the pipe
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        self.assert_all_refuse(process.pid, f"process {process.pid} has ended")

    def test_a_process_that_called_exec(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        process.stdin.write("exec yes\n")
        process.stdin.flush()
        self.assertEqual(process.stdout.readline(), "y\n")
        self.assert_all_refuse(process.pid, "has no log yet")
        process.kill()
        process.wait(timeout=60)

    def test_wrong_usage(self):
        for command, *rest in self.COMMANDS:
            self.assert_refused(command, "one", *rest, words="PID", status=125)
            self.assert_refused(command, "0", *rest, words="there is no process 0")
            self.assert_refused(command, "-1", *rest, words="there is no process -1")


@simulated_only
class Mark(LiveTest):
    def test_marks_are_in_the_report_between_what_the_program_did(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        done = self.live("mark", process.pid, "after one")
        self.assertEqual(done.stderr, f"vramscope: marked process {process.pid}: after one\n")
        self.tell(process, "hold 2000 1")
        self.live("mark", process.pid, "esc \x1b[2J apes")
        self.end(process)
        report = self.json_of(self.log)
        one, two = (report["leaks"][0][moment] for moment in ("first_ns", "last_ns"))
        marks = report["processes"][0]["marks"]
        self.assertEqual([(mark["name"], mark["tid"]) for mark in marks],
                         [("after one", None), ("esc \x1b[2J apes", None)])
        self.assertTrue(one < marks[0]["ns"] < two < marks[1]["ns"], (one, two, marks))
        self.assertEqual(report["verdict"], "leaks")  # a mark casts no doubt on the log
        text = self.live("report", self.log).stdout
        self.assertIn("after one (vramscope mark)\n", text)
        self.assertIn("esc \\x1b[2J apes", text)

    def test_fifty_marks_cost_one_chunk(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        before = self.log.stat()
        for number in range(50):
            self.live("mark", process.pid, f"mark {number}")
        after = self.log.stat()
        self.assertEqual(after.st_size - before.st_size, 64 * KIB)
        self.assertLessEqual((after.st_blocks - before.st_blocks) * 512, 32 * KIB)

    def test_a_log_that_was_deleted_or_renamed_is_still_found(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        moved = self.folder / "moved.vsl"
        os.link(self.log, moved)
        self.log.unlink()
        self.live("mark", process.pid, "where are you")
        self.assertEqual([mark["name"] for mark in self.json_of(moved)["processes"][0]["marks"]], ["where are you"])

    def test_a_file_in_the_place_of_the_log_is_not_written_to(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        victim = self.folder / "victim"
        victim.write_text("precious")
        self.log.unlink()
        self.log.symlink_to(victim)
        self.live("mark", process.pid, "name")
        self.assertEqual(victim.read_text(), "precious")

    def test_a_full_disk_refuses_the_mark_and_leaves_the_log_whole(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        limit = self.log.stat().st_size // 1024
        done = self.execute("bash", "-c", f"ulimit -f {limit} && {VRAMSCOPE} mark {process.pid} name")
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cannot add to", done.stderr)
        self.tell(process, "drop 1")
        self.end(process)
        self.assertEqual(self.json_of(self.log)["verdict"], "clean")

    def test_names_of_any_length_but_none_and_too_much(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        self.assert_refused("mark", process.pid, "", words="NAME has 1 to 1000 bytes", status=125)
        self.assert_refused("mark", process.pid, "x" * 1001, words="NAME has 1 to 1000 bytes", status=125)
        self.live("mark", process.pid, "x" * 1000)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another user")
    def test_a_process_of_another_user(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        done = subprocess.run([VRAMSCOPE, "mark", str(process.pid), "name"], capture_output=True, text=True, timeout=60,
                              user=65534, group=65534, extra_groups=[], cwd="/")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (110, 1), done.stderr)
        self.assertIn(f"not permitted to look into process {process.pid}", done.stderr)


if __name__ == "__main__":
    unittest.main()
