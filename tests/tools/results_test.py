#!/usr/bin/env python3
# tests/tools/results_test.py — `leaks`, `report` and the other views on logs, good and bad: what
# they print, where, and their status.
import json
import os
import shutil
import unittest

from cli import CliTest, ESCAPE, PROGRAMS


class OnALog(CliTest):
    def setUp(self):
        super().setUp()
        status, _, stderr = self.simulate(PROGRAMS / "training_demo", "2")
        self.assertEqual(status, 0, stderr)

    def test_a_report_ends_zero_even_if_it_shows_leaks(self):
        for command in ["leaks", "report"]:
            status, stdout, stderr = self.vramscope(command, "run.vsl")
            self.assertEqual((status, stderr), (0, ""))
            self.assertIn("LEAKS", stdout)
            self.assertIn("training_demo.cu:", stdout)

    def test_views_show_the_memory_of_the_device(self):
        for command, words in [("peak", ["PEAK: ", "by call stack", "training_demo.cu:", "Next: vramscope timeline run.vsl"]),
                               ("frag", ["FRAGMENTATION: ", "most allocated", "= reserved", "at peak [", "Next: vramscope peak run.vsl"]),
                               ("timeline", ["TIMELINE: ", "####", "peaks: ", "Next: vramscope peak run.vsl"])]:
            with self.subTest(command=command):
                status, stdout, stderr = self.vramscope(command, "run.vsl")
                self.assertEqual((status, stderr), (0, ""))
                for word in words:
                    self.assertIn(word, stdout)

    def test_the_waterfall_of_a_traced_program_adds_up(self):
        device, = json.loads(self.vramscope("frag", "--json", "-", "run.vsl")[1])["processes"][0]["device_memory"]
        for moment in ["at_peak", "at_reserved_peak", "at_end"]:
            parts = device[moment]["waterfall"]
            self.assertEqual(parts["reserved"], sum(parts[part] for part in ["releasable", "stuck", "pending", "allocated"]))
            self.assertEqual(parts["allocated"], parts["internal"] + parts["requested"])
        self.assertEqual(device["at_peak"]["waterfall"]["requested"], device["peak"]["bytes"])
        self.assertTrue(device["pooled"])

    def test_json_on_standard_output_stands_alone_and_is_that_of_the_run(self):
        status, stdout, stderr = self.vramscope("leaks", "--json", "-", "run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        self.assertEqual(json.loads(stdout)["leaks"], self.read_json("run.json")["leaks"])

    def test_verbose_says_on_stderr_what_is_read_and_written_and_when(self):
        (self.folder / "known.supp").write_text("leak:nothing\n")
        plain = self.vramscope("leaks", "--suppressions", "known.supp", "run.vsl")[1]
        status, stdout, stderr = self.vramscope("leaks", "-v", "--suppressions", "known.supp", "--json", "leaks.json", "run.vsl")
        self.assertEqual((status, stdout), (0, plain))
        lines = stderr.splitlines()
        for line in lines:
            self.assertRegex(line, r"^vramscope: \d+\.\d{3} s: ")
        kept = [line for line in lines if line.endswith(".names has")]
        self.assertTrue(kept, "the names that the first one found")
        for line, words in zip([line for line in lines if line not in kept],
                               ["reads the suppressions known.supp", "reads run.vsl, ", " events of 1 ", "writes leaks.json"], strict=True):
            self.assertIn(words, line)

    def run_again(self):
        """Another process: other.vsl is the one before."""
        os.rename(self.folder / "run.vsl", self.folder / "other.vsl")
        self.assertEqual(self.simulate(PROGRAMS / "training_demo", "2")[0], 0)

    def test_a_folder_stands_for_its_logs(self):
        self.run_again()
        status, stdout, _ = self.vramscope("leaks", "--json", "-", ".")
        self.assertEqual(status, 0)
        self.assertEqual([process["log"] for process in json.loads(stdout)["processes"]], ["./other.vsl", "./run.vsl"])

    def test_several_logs_are_added_up(self):
        self.run_again()
        one = json.loads(self.vramscope("leaks", "--json", "-", "run.vsl")[1])["totals"]["leaked_bytes"]
        two = json.loads(self.vramscope("leaks", "--json", "-", "run.vsl", "other.vsl")[1])["totals"]["leaked_bytes"]
        self.assertEqual(two, 2 * one)

    def test_a_log_that_is_given_again_is_read_once(self):
        one = json.loads(self.vramscope("leaks", "--json", "-", "run.vsl")[1])["totals"]

        def assert_once(*arguments, told=""):
            status, stdout, stderr = self.vramscope("leaks", "--json", "-", *arguments)
            self.assertEqual((status, stderr), (0, told))
            report = json.loads(stdout)
            self.assertEqual((len(report["processes"]), report["totals"]), (1, one))

        for again in ("run.vsl", "./run.vsl", "."):
            assert_once("run.vsl", again)
            assert_once(again, "run.vsl")
        (self.folder / "soft.vsl").symlink_to("run.vsl")
        os.link(self.folder / "run.vsl", self.folder / "hard.vsl")
        for name in ("soft.vsl", "hard.vsl"):
            assert_once("run.vsl", name, told=f"vramscope: {name} is left out: it is the same file as run.vsl\n")
        self.assertEqual(self.vramscope("pack", "run.vsl")[0], 0)
        assert_once("run.vsl", "run.vsl.zst", told="vramscope: run.vsl.zst is left out: it is of the same process as run.vsl\n")
        cut = (self.folder / "run.vsl").read_bytes()
        (self.folder / "cut.vsl").write_bytes(cut[:len(cut) // 2])
        assert_once("cut.vsl", "run.vsl", told="vramscope: cut.vsl is left out: it is of the same process as run.vsl\n")
        for name in "abcd":
            shutil.copy(self.folder / "run.vsl", self.folder / f"{name}.vsl")
        copied = ("run.vsl", "run.vsl.zst", *(f"{name}.vsl" for name in "abcd"))
        status, _, stderr = self.vramscope("check", "--fail-on", "none", *copied)
        self.assertEqual((status, len(stderr.splitlines())), (0, 4), stderr)
        self.assertTrue(stderr.endswith("\nvramscope: left out too: 2 more files\n"), stderr)

    def test_a_log_that_is_given_again_is_compared_with_itself(self):
        status, stdout, stderr = self.vramscope("diff", "--json", "-", "run.vsl", "run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        leaked = json.loads(stdout)["numbers"][0]
        self.assertEqual((leaked["name"], leaked["base"]), ("leaked_bytes", leaked["new"]))
        self.assertGreater(leaked["base"], 0)

    def test_hidden_frames_are_shown_on_request(self):
        for frame in ["cuda_runtime.h", "_start"]:
            self.assertNotIn(frame, self.vramscope("leaks", "run.vsl")[1])
            self.assertIn(frame, self.vramscope("leaks", "--all-frames", "run.vsl")[1])

    def test_colours_are_for_terminals_and_not_against_the_users_wish(self):
        self.assertNotIn(ESCAPE, self.vramscope("leaks", "run.vsl")[1])
        self.assertIn(ESCAPE, self.on_terminal("leaks", "run.vsl")[1])
        self.assertNotIn(ESCAPE, self.on_terminal("leaks", "run.vsl", env={"NO_COLOR": "1"})[1])
        self.assertNotIn(ESCAPE, self.on_terminal("leaks", "run.vsl", env={"TERM": "dumb"})[1])

    def test_a_wide_terminal_shows_whole_names(self):
        run = ("run", "--simulate", "1GiB", "-f", "-o", "wide.vsl", PROGRAMS / "training_demo", "2")
        whole = "log_loss(std::vector<float*, std::allocator<float*> >&, CUstream_st*) training_demo.cu:"
        self.assertIn(whole, self.on_terminal(*run, width=220)[1])
        narrow = self.on_terminal(*run, width=80)[1]
        self.assertIn("cudaMalloc  log_loss(...)\r\n", narrow)
        self.assertIn("vramscope: next: vramscope report wide.vsl\r\n", narrow[-60:])

    def test_a_cut_log_gives_a_partial_report_that_says_so(self):
        data = (self.folder / "run.vsl").read_bytes()
        (self.folder / "cut.vsl").write_bytes(data[:len(data) - 40_000])
        status, stdout, _ = self.vramscope("leaks", "cut.vsl")
        self.assertEqual(status, 0)
        self.assertIn("INCONCLUSIVE", stdout)

    def test_a_json_file_that_cannot_be_written_is_our_fault(self):
        status, _, stderr = self.vramscope("leaks", "--json", "no/such/x.json", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "cannot write no/such/x.json")

    def test_doctor_tells_what_a_log_saw(self):
        status, stdout, _ = self.vramscope("doctor", "run.vsl")
        self.assertEqual(status, 0)
        self.assertRegex(stdout, r"ok +\d+ events: 21 allocations, 16 frees, 0 failed calls")
        self.assertIn("exited with status 0", stdout)


class OnWhatIsNoLog(CliTest):
    def assert_bad_input(self, name, *parts):
        for command in ["leaks", "report", "peak"]:
            status, stdout, stderr = self.vramscope(command, name)
            self.assertEqual((status, stdout), (120, ""), stderr)
            self.assert_one_line(stderr, "vramscope: error: ", name, *parts)

    def test_files_that_hold_no_log(self):
        (self.folder / "empty.vsl").write_bytes(b"")
        (self.folder / "garbage.vsl").write_bytes(os.urandom(100_000))
        (self.folder / "short.vsl").write_bytes(b"VRAMSLOG")
        for name in ["missing.vsl", "empty.vsl", "garbage.vsl", "short.vsl"]:
            with self.subTest(name=name):
                self.assert_bad_input(name)

    def test_a_log_of_a_newer_version(self):
        self.simulate(PROGRAMS / "training_demo", "1")
        data = bytearray((self.folder / "run.vsl").read_bytes())
        data[8] = 6  # FileHeader::major: 4, and 5 of a log that was collected
        (self.folder / "newer.vsl").write_bytes(data)
        self.assert_bad_input("newer.vsl", "use a newer vramscope")

    def test_a_folder_without_logs(self):
        (self.folder / "logs").mkdir()
        self.assert_bad_input("logs", "without any log (*.vsl)")

    def test_a_pipe_does_not_block(self):
        os.mkfifo(self.folder / "pipe.vsl")
        self.assert_bad_input("pipe.vsl")


if __name__ == "__main__":
    unittest.main()
