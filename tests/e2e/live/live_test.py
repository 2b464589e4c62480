# tests/e2e/live/live_test.py — marks and snapshots of a program that runs on meanwhile.
import json
import os
import pathlib
import unittest

from live import VRAMSCOPE, LiveTest, simulated_only

KIB = 1024
MIB = 1024 * KIB


@simulated_only
class Completion(LiveTest):
    def test_knows_the_processes_that_are_traced(self):
        traced, other = self.start(), self.start(traced=False)
        self.tell(traced, "hold 1000 1")
        self.tell(other, "hold 1000 1")
        lines = self.live("completion", "--pids").stdout.splitlines()
        self.assertIn(f"{traced.pid}\tlive", lines)
        self.assertNotIn(f"{other.pid}\tlive", lines)
        (self.folder / "completion").write_text(self.live("completion", "bash").stdout)
        for command in ("mark", "snapshot", "top"):
            call = f'source ./completion; COMP_WORDS=(vramscope {command} ""); COMP_CWORD=2; _vramscope; echo "${{COMPREPLY[@]}}"'
            offered = self.execute("bash", "-c", call, PATH=f"{VRAMSCOPE.parent}:{os.environ['PATH']}").stdout.split()
            self.assertIn(str(traced.pid), offered, command)
            self.assertNotIn(str(other.pid), offered, command)


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
        self.tell(process, "nothing")  # by then we are loaded
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
            for no_number in ("0", "-1", "", "9" * 30):
                self.assert_refused(command, no_number, *rest, words="PID", status=125)


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

    def test_of_a_process_whose_first_thread_has_ended(self):
        process = self.start()
        self.tell(process, "hold 1048576 2", "handover", "hold 4096 1")
        self.assertIn(") Z ", pathlib.Path(f"/proc/{process.pid}/stat").read_text())
        self.assertEqual(self.snapshot(process)["totals"]["leaked_bytes"], 2 * MIB + 4096)
        self.live("mark", process.pid, "still here")
        done = self.execute(VRAMSCOPE, "reach", "--stop", "--json", "-", process.pid)
        if "cannot be read" not in done.stderr:
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertEqual(json.loads(done.stdout)["held"]["blocks"], 3)
        self.tell(process, "drop 3")
        process.stdin.write("end\n")
        process.stdin.flush()
        self.assertEqual(process.wait(timeout=60), 0)

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


if __name__ == "__main__":
    unittest.main()
