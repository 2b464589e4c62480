# tests/e2e/ends_test.py — however a program ends, its log holds every call that had returned, and
# says how it ended.
import signal
import unittest

from e2e import PROGRAMS, EndToEndTest

WORK = {1000: 1, 3000: 1, 40000: 1, 50000: 1}  # bytes of the blocks that every way leaves
ALLOCATIONS, FREES = 5, 1
CONCLUSIVE = {"return": ("exited", 7), "exit": ("exited", 7), "_exit": ("underscore-exit", 7),
              "_Exit": ("underscore-exit", 7), "quick_exit": ("quick-exit", 7)}
KILLED = {"abort": signal.SIGABRT, "SIGSEGV": signal.SIGSEGV, "SIGTERM": signal.SIGTERM, "SIGKILL": signal.SIGKILL}


class EndsTest(EndToEndTest):
    def assert_holds(self, report, bytes_left, allocations=ALLOCATIONS, frees=FREES):
        self.assert_seen(report, allocations, frees)
        self.assertEqual(sum(leak["bytes"] for leak in report["leaks"]), bytes_left)
        for leak in report["leaks"]:
            self.assertIn("allocate", leak["stack"][0]["function"])

    def test_ends_that_the_program_chose(self):
        for way, (kind, status) in CONCLUSIVE.items():
            with self.subTest(way):
                report = self.trace("ends", way, status=status)
                self.assert_holds(report, sum(WORK))
                self.assertEqual(report["verdict"], "leaks")
                self.assertEqual({leak["kind"] for leak in report["leaks"]}, {"leaked-at-exit"})
                end = report["processes"][0]["end"]
                self.assertEqual((end["kind"], end["status"]), (kind, status))

    def test_ends_by_a_signal(self):
        for way, number in KILLED.items():
            with self.subTest(way):
                report = self.trace("ends", way, status=128 + number)
                self.assert_holds(report, sum(WORK))
                self.assertEqual(report["verdict"], "inconclusive")
                self.assertIn(number.name, " ".join(report["verdict_reasons"]))
                self.assertEqual({leak["kind"] for leak in report["leaks"]}, {"in-use-at-crash"})
                end = report["processes"][0]["end"]
                self.assertEqual((end["kind"], end["signal"]), ("killed", number))

    def test_without_run_a_killed_program_is_inconclusive_all_the_same(self):
        self.preloaded("ends", "SIGKILL")
        report = self.report_of(*self.logs())
        self.assert_holds(report, sum(WORK))
        self.assertEqual(report["verdict"], "inconclusive")
        self.assertEqual(report["processes"][0]["end"]["kind"], "unknown")

    def test_without_run_the_programs_own_end_is_in_the_log(self):
        for way, (kind, status) in CONCLUSIVE.items():
            with self.subTest(way):
                done = self.preloaded("ends", way, VRAMSCOPE_LOG=f"{way}.vsl")
                self.assertEqual(done.returncode, status)
                end = self.report_of(f"{way}.vsl")["processes"][0]["end"]
                # quick_exit does not tell its handlers the status.
                self.assertEqual(end["kind"], kind)
                if way != "quick_exit":
                    self.assertEqual(end["status"], status)

    def test_a_forked_child_without_cuda_leaves_no_trace(self):
        report = self.trace("ends", "fork_without_cuda")
        self.assertEqual(len(self.logs()), 1)
        self.assert_holds(report, sum(WORK) + 600, allocations=6)
        self.assertEqual(report["processes"][0]["end"]["kind"], "exited")

    def test_parent_and_child_that_both_use_cuda_have_a_log_each(self):
        report = self.trace("ends", "fork_before_cuda")
        self.assertEqual(len(self.logs()), 2)
        self.assertEqual(len(report["processes"]), 2)
        for process in report["processes"]:
            self.assertEqual((process["coverage"]["allocations"], process["coverage"]["frees"]), (ALLOCATIONS, FREES))
            self.assertEqual(process["totals"]["leaked_bytes"], sum(WORK))
            self.assertEqual(process["end"]["text"], "exited with status 0")
        parent, child = sorted(report["processes"], key=lambda each: each["pid"])
        self.assertEqual(child["parent_pid"], parent["pid"])

    def test_a_forked_child_never_writes_into_its_parents_log(self):
        for way in ("fork_that_tries", "clone_that_tries"):
            with self.subTest(way):
                self.child_that_tries(way)

    def child_that_tries(self, way):
        report = self.trace("ends", way)
        parents = [each for each in report["processes"] if each["end"]["kind"] == "exited"]
        self.assertEqual(len(parents), 1)
        self.assertEqual((parents[0]["coverage"]["allocations"], parents[0]["coverage"]["frees"]), (6, 1))
        self.assertEqual(parents[0]["totals"]["leaked_bytes"], sum(WORK) + 600)

    def test_forks_among_busy_threads_lose_nothing(self):
        report = self.trace("ends", "fork_among_threads")
        self.assertEqual(len(self.logs()), 1)
        pairs = int(self.stdout)
        self.assert_seen(report, pairs, pairs)
        self.assertEqual(report["verdict"], "clean")

    def test_a_program_may_leave_while_its_threads_work(self):
        report = self.trace("ends", "busy_threads", status=7)
        seen = report["coverage"]
        self.assertEqual((seen["lost_events"], seen["unmatched_frees"], seen["damaged_chunks"]), (0, 0, 0))
        self.assertGreaterEqual(seen["frees"], 1000)
        # Each thread may hold a block at that moment, and may have been stopped between a free and
        # its record.
        self.assertLessEqual(report["totals"]["leaked_blocks"], 3)
        self.assertLessEqual(seen["missed_frees"], 3)
        self.assertEqual(report["processes"][0]["end"]["text"], "exited with status 7")

    def test_vfork(self):
        for way in ("vfork_exec", "vfork_leave", "clone_vm"):
            with self.subTest(way):
                report = self.trace("ends", way)
                self.assertEqual(len(report["processes"]), 1)
                self.assert_holds(report, sum(WORK) + 600, allocations=6)
                self.assertEqual(report["processes"][0]["end"]["text"], "exited with status 0")

    def test_exec_replaces_the_program_and_both_are_reported(self):
        report = self.trace("ends", "exec", PROGRAMS / "ends", "return", status=7)
        self.assertEqual([each["end"]["kind"] for each in report["processes"]], ["replaced", "exited"])
        for process in report["processes"]:
            self.assertEqual((process["coverage"]["allocations"], process["coverage"]["frees"]), (ALLOCATIONS, FREES))

    def test_programs_that_start_one_another_have_a_log_each(self):
        ends = PROGRAMS / "ends"
        report = self.trace("ends", "fork_exec", ends, "fork_exec", ends, "fork_without_cuda")
        self.assertEqual(len(self.logs()), 3)
        pids = [each["pid"] for each in report["processes"]]
        self.assertEqual([each["parent_pid"] for each in report["processes"][1:]], pids[:-1])
        for process in report["processes"]:
            self.assertEqual((process["coverage"]["allocations"], process["coverage"]["frees"]), (ALLOCATIONS + 1, FREES))
            self.assertEqual(process["totals"]["leaked_bytes"], sum(WORK) + 600)
            self.assertEqual(process["end"]["text"], "exited with status 0")
        self.assertEqual(report["verdict"], "leaks")

    def test_no_descriptor_of_the_log_reaches_another_program(self):
        self.trace("ends", "fork_exec", "/bin/ls", "-l", "/proc/self/fd")
        self.assertIn(" 0 -> ", self.stdout)
        self.assertNotIn(".vsl", self.stdout)

    def test_a_child_that_closes_descriptors_writes_to_its_own_files_alone(self):
        report = self.trace("ends", "fork_reuses_descriptors")
        parent = next(each for each in report["processes"] if each["end"]["kind"] == "exited")
        self.assertEqual((parent["coverage"]["allocations"], parent["coverage"]["damaged_chunks"]), (ALLOCATIONS + 1, 0))
        self.assertEqual(parent["totals"]["leaked_bytes"], sum(WORK) + 600)
        files = list(self.folder.glob("child.*"))
        self.assertEqual(len(files), 17)
        self.assertEqual({each.read_text() for each in files}, {"child"})

    def test_a_script_that_starts_several_programs(self):
        script = self.folder / "several.sh"
        script.write_text(f'#!/bin/sh\n"{PROGRAMS}/ends" return\n"{PROGRAMS}/no_cuda"\n"{PROGRAMS}/ends" SIGKILL\nexit 5\n')
        script.chmod(0o755)
        report = self.trace(script, status=5)
        self.assertEqual(len(self.logs()), 2)
        self.assertEqual([each["program"] for each in report["processes"]], ["ends", "ends"])
        self.assertEqual([each["end"]["kind"] for each in report["processes"]], ["exited", "unknown"])
        self.assert_seen(report, 2 * ALLOCATIONS, 2 * FREES)


if __name__ == "__main__":
    unittest.main()
