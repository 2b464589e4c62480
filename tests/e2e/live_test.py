# tests/e2e/live_test.py — marks, snapshots and a live view of a program that runs on meanwhile.
import fcntl
import json
import os
import pty
import select
import shutil
import signal
import struct
import subprocess
import tempfile
import termios
import unittest
from pathlib import Path

from e2e import GPU, PRELOAD, PROGRAMS, SIMGPU, VRAMSCOPE, EndToEndTest, simulated_only

KIB = 1024
MIB = 1024 * KIB


class LiveTest(EndToEndTest):
    def start(self, *, traced=True):
        """tests/programs/memory/live.cpp, waiting for its first order; its log is live.vsl."""
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


@simulated_only
class Refusals(LiveTest):
    """What cannot be looked at, each in one line."""
    COMMANDS = [("mark", "NAME"), ("snapshot",), ("top",), ("top", "--once")]

    def assert_all_refuse(self, pid, words):
        for command, *rest in self.COMMANDS:
            with self.subTest(command=command):
                self.assert_refused(command, str(pid), *rest, words=words)

    def test_no_traced_process_at_all(self):
        # As a user that runs nothing: others' programs may be traced while this test runs.
        if os.geteuid() == 0:
            done = self.as_nobody("top")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (110, 1), done.stderr)
            self.assertIn("no program of yours runs under vramscope", done.stderr)

    def test_a_process_that_is_not_there(self):
        self.assert_all_refuse(2 ** 22 + 1, "there is no process 4194305")

    def test_a_process_that_is_not_traced(self):
        process = self.start(traced=False)
        self.tell(process, "hold 1000 1")
        self.assert_all_refuse(process.pid, f"process {process.pid} does not run under vramscope")

    def test_a_process_without_a_cuda_call(self):
        process = self.start()
        while PRELOAD.name not in Path(f"/proc/{process.pid}/maps").read_text():
            self.assertIsNone(process.poll())  # the loader is still at work
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
        done = self.as_nobody("mark", str(process.pid), "name")
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (110, 1), done.stderr)
        self.assertIn(f"not permitted to look into process {process.pid}", done.stderr)


@simulated_only
class Snapshot(LiveTest):
    def snapshot(self, process, *arguments):
        return json.loads(self.live("snapshot", process.pid, "--json", "-", *arguments).stdout)

    def test_shows_what_is_held_now_by_stack(self):
        process = self.start()
        self.tell(process, "hold 1048576 5", "drop 2", "host 4096 1", "churn 100 2")
        text = self.live("snapshot", process.pid).stdout
        self.assertTrue(text.startswith(f"live (process {process.pid}) holds 3 MiB in 4 blocks, from 2 call stacks\n"),
                        text)
        self.assertIn(f"Log         {self.log}\n", text)
        report = self.snapshot(process)
        held = self.leak_at(report, "live.cpp", "hold")
        self.assertEqual((held["kind"], held["bytes"], held["blocks"]), ("in-use-now", 3 * MIB, 3))
        self.assertEqual(len(report["leaks"]), 2)
        self.assertEqual(report["processes"][0]["end"]["kind"], "running")
        self.assert_seen(report, 206, 202)
        self.tell(process, "drop 3")
        self.assertEqual(self.snapshot(process)["totals"]["leaked_bytes"], 4096)

    def test_a_copy_is_read_later_as_it_was(self):
        process = self.start()
        self.tell(process, "hold 1000 7", "churn 3000 3")
        self.live("snapshot", process.pid, "-o", "copy.vsl")
        copy = self.folder / "copy.vsl"
        self.assertEqual(copy.stat().st_mode & 0o777, 0o600)
        self.tell(process, "drop 7", "hold 5000 1")
        self.end(process)
        report = self.json_of(copy)
        self.assertEqual((report["totals"]["leaked_bytes"], report["totals"]["leaked_blocks"]), (7000, 7))
        self.assertEqual(report["leaks"][0]["kind"], "in-use-now")
        self.assertEqual(report["processes"][0]["end"]["kind"], "running")
        self.assertEqual(report["coverage"]["unmatched_frees"], 0)

    def test_a_copy_takes_no_files_place(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        (self.folder / "there").write_text("precious")
        (self.folder / "link").symlink_to(self.folder / "there")
        for name, words in [("there", "there exists"), ("link", "link exists"), ("no/such/folder", "cannot write no/such/folder")]:
            self.assert_refused("snapshot", process.pid, "-o", name, words=words, status=125)
        self.assert_refused("snapshot", process.pid, "--json", "there", words="there exists", status=125)
        self.assertEqual((self.folder / "there").read_text(), "precious")
        self.live("snapshot", process.pid, "-f", "-o", "link")
        self.assertEqual(self.json_of(self.folder / "there")["totals"]["leaked_bytes"], 1000)

    def test_takes_the_place_of_no_log_and_of_no_other_output(self):
        process = self.start()
        self.tell(process, "hold 1000 1")
        log, = self.logs()
        (self.folder / "link").symlink_to(log)
        for name in (log, "link"):
            for output in ("-o", "--json"):
                self.assert_refused("snapshot", process.pid, "-f", output, name, words="choose another", status=125)
        self.assert_refused("snapshot", process.pid, "-o", "both", "--json", "./both", words="choose another", status=125)
        self.assertFalse((self.folder / "both").exists())
        self.tell(process, "hold 1000 1")
        self.end(process)
        self.assertEqual(self.json_of(log)["totals"]["leaked_bytes"], 2000)

    def test_of_a_program_in_full_flight_nothing_is_missing(self):
        process = self.start()
        self.tell(process, "hold 1000 3")
        process.stdin.write("churn 100000 3\n")
        process.stdin.flush()
        for _ in range(5):
            report = self.snapshot(process)
            seen = report["coverage"]
            self.assertEqual((seen["unmatched_frees"], seen["damaged_chunks"]), (0, 0))
            self.assertLessEqual(seen["missed_frees"], 3)  # in each thread one may just be in the driver
            self.assertLessEqual(report["totals"]["leaked_blocks"], 6)
        self.assertEqual(process.stdout.readline(), "done\n")


@simulated_only
class Top(LiveTest):
    def test_once_is_one_look_as_plain_text(self):
        process = self.start()
        self.tell(process, "hold 1048576 5", "drop 2", "host 4096 1")
        done = self.live("top", process.pid, "--once")
        self.assertEqual(done.stderr, "")
        self.assertNotIn("\x1b", done.stdout)
        self.assertIn(f"live (process {process.pid}), up ", done.stdout)
        self.assertIn("  holds       3 MiB in 3 blocks, host 4 KiB in 1 block\n", done.stdout)
        self.assertIn("  peak        5 MiB requested, host 4 KiB\n", done.stdout)
        self.assertIn("       3 MiB         3  cuMemAlloc  hold(", done.stdout)

    def test_all_programs_of_the_user(self):
        first, second = self.start(), self.start()
        self.tell(first, "hold 1048576 3")
        self.tell(second, "hold 2097152 1")
        shown = self.live("top", "--once").stdout
        for process in (first, second):
            self.assertIn(f"live (process {process.pid}), up ", shown)

    def test_follows_until_the_program_ends(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        top = subprocess.Popen([VRAMSCOPE, "top", str(process.pid), "--interval", "0.1"], stdout=subprocess.PIPE,
                               text=True, env=self.environment())
        self.addCleanup(top.stdout.close)
        self.addCleanup(top.kill)
        self.wait_for(top.stdout, "holds       1 MiB in 1 block")
        self.tell(process, "hold 2097152 2", "churn 500 2")
        self.wait_for(top.stdout, "holds       5 MiB in 3 blocks")
        self.tell(process, "drop 1")
        self.wait_for(top.stdout, "holds       3 MiB in 2 blocks")
        self.end(process)
        self.wait_for(top.stdout, f"live (process {process.pid}) has ended, after")
        rest = top.stdout.read()
        self.assertIn("  peak        5 MiB requested\n", rest)
        self.assertEqual(top.wait(timeout=60), 0)

    def wait_for(self, stream, words):
        for line in stream:
            if words in line:
                return
        self.fail(f"never shown: {words}")

    def test_count_ends_it(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        shown = self.live("top", process.pid, "--interval", "0.1", "--count", "3").stdout
        self.assertEqual(shown.count("(process "), 3)

    def test_wrong_intervals(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        for interval in ["0", "-1", "nan", "1e9"]:
            self.assert_refused("top", process.pid, "--interval", interval, words="--interval", status=125)


@simulated_only
class TopOnATerminal(LiveTest):
    ENTER, LEAVE = "\x1b[?1049h", "\x1b[?1049l"

    def on_terminal(self, *arguments, size=(24, 80), **env):
        try:
            ours, theirs = pty.openpty()
        except OSError as problem:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made here: {problem}")
        self.resize(theirs, size)
        self.before = termios.tcgetattr(theirs)

        def own_the_terminal():
            os.setsid()
            fcntl.ioctl(theirs, termios.TIOCSCTTY, 0)

        top = subprocess.Popen([VRAMSCOPE, "top", *map(str, arguments)], stdin=theirs, stdout=theirs, stderr=theirs,
                               preexec_fn=own_the_terminal, env=self.environment(**{"TERM": "xterm", **env}))
        self.addCleanup(top.wait)
        self.addCleanup(top.kill)
        self.addCleanup(os.close, ours)
        self.addCleanup(os.close, theirs)
        self.shown, self.terminal, self.slave = "", ours, theirs
        return top

    def resize(self, terminal, size):
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))

    def see(self, words):
        """Reads on until the words are shown, and forgets what was before them."""
        while words not in self.shown:
            ready, _, _ = select.select([self.terminal], [], [], 60)
            self.assertTrue(ready, f"not shown for a minute: {words!r}, but: {self.shown!r}")
            self.shown += os.read(self.terminal, 65536).decode(errors="replace")
        before, _, self.shown = self.shown.partition(words)
        return before

    def assert_given_back(self, top, status=0):
        self.see(self.LEAVE)
        self.see("allocated by")  # what was seen last stays
        self.assertEqual(top.wait(timeout=60), status)
        self.assertEqual(termios.tcgetattr(self.slave), self.before)

    def busy(self):
        process = self.start()
        self.tell(process, "hold 1048576 3")
        return process

    def test_is_drawn_in_place_and_ends_by_key(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1")
        self.see(self.ENTER)
        self.see("3 MiB in 3 blocks")
        self.tell(process, "hold 1048576 1")
        self.assertIn("\x1b[H", self.see("4 MiB in 4 blocks"))
        os.write(self.terminal, b"xq")
        self.assert_given_back(top)

    def test_ends_by_signals_from_the_keyboard_and_from_others(self):
        process = self.busy()
        for end in (lambda top: os.write(self.terminal, b"\x03"), lambda top: top.terminate(),
                    lambda top: top.send_signal(signal.SIGHUP)):
            top = self.on_terminal(process.pid, "--interval", "60")
            self.see("q quits")
            end(top)
            self.assert_given_back(top)

    def test_ends_with_the_program_and_says_so(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1")
        self.see("3 MiB in 3 blocks")
        self.end(process)
        self.see(self.LEAVE)
        self.see("has ended, after")
        self.assertEqual(top.wait(timeout=60), 0)

    def test_a_new_size_is_drawn_at_once(self):
        process = self.busy()
        self.on_terminal(process.pid, "--interval", "600", size=(24, 80))
        self.see("q quits")
        self.resize(self.terminal, (6, 24))
        frame = self.see("q quits")
        self.assertTrue(all(len(line.split("\x1b[K")[0].replace("\x1b[H", "").replace("\x1b[1m", "")
                                .replace("\x1b[0m", "")) <= 24 for line in frame.split("\r\n")), frame)

    def test_colours_are_not_forced_on_anyone(self):
        process = self.busy()
        self.on_terminal(process.pid, "--interval", "600", NO_COLOR="1")
        self.assertNotIn("\x1b[1m", self.see("q quits"))
        self.on_terminal(process.pid, "--interval", "600")
        self.assertIn("\x1b[1m", self.see("q quits"))

    def test_a_dumb_terminal_gets_plain_text(self):
        process = self.busy()
        top = self.on_terminal(process.pid, "--interval", "0.1", "--count", "2", **{"TERM": "dumb"})
        self.assertNotIn("\x1b", self.see("allocated by") + self.see("allocated by"))
        self.assertEqual(top.wait(timeout=60), 0)


if __name__ == "__main__":
    unittest.main()
