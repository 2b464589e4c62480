#!/usr/bin/env python3
# tests/tools/long_log_test.py — logs of millions of events: memory, progress, and Ctrl-C
# while they are read.
import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import tempfile
import unittest

from cli import BUILD, ESCAPE, VRAMSCOPE, CliTest, unsanitized

GENERATOR = BUILD / "bin" / "tests" / "log_generator"


class LongLogs(CliTest):
    def generate(self, name, events, *options):
        subprocess.run([GENERATOR, str(events), self.folder / name, *options], check=True, timeout=120)
        return self.folder / name

    def peak_kib(self, *arguments):
        """Of the process's memory, and its JSON."""
        process = subprocess.Popen([VRAMSCOPE, *map(str, arguments)], stdout=subprocess.PIPE, env=self.environment())
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        self.assertEqual(process.returncode, 0)
        process.stdout.close()
        return usage.ru_maxrss, json.loads(output)

    @unsanitized
    def test_memory_goes_with_what_is_alive_and_not_with_events(self):
        for pool in ("off", "cache", "split"):
            with self.subTest(pool):
                options = ("--pool", pool, "--live", "5000", "--stacks", "200")
                short = self.generate("short.vsl", 100_000, *options)
                long = self.generate("long.vsl", 2_000_000, *options)
                few, report = self.peak_kib("churn", "--json", "-", short)
                self.assertEqual(report["coverage"]["events"], report["processes"][0]["coverage"]["events"])
                many, report = self.peak_kib("churn", "--json", "-", long)
                self.assertEqual(report["coverage"]["allocations"] + report["coverage"]["frees"], 2_000_000)
                self.assertEqual(report["totals"]["leaked_blocks"], 5000)
                self.assertEqual((report["coverage"]["missed_frees"], report["coverage"]["damaged_chunks"]), (0, 0))
                # Timelines and series fill up to their bounds; 4 bytes for each of 1.9 million
                # events more would be 7.4 MiB.
                self.assertLess(many - few, 6 * 1024, f"{few} KiB for the short log, {many} KiB for the long one")

    def test_a_generated_log_is_one_that_is_whole(self):
        for pool in ("off", "cache", "split"):
            log = self.generate("log.vsl", 50_001, "--pool", pool, "--live", "1000", "--stacks", "10", "--threads", "7")
            status, text, _ = self.vramscope("leaks", log)
            self.assertEqual((status, text.split(":")[0]), (0, "LEAKS"), pool)
            self.assertIn(" in 999 blocks", text)  # the last event is a free


class Interrupted(CliTest):
    """Of a log that takes seconds: the progress bar, which comes after half a second, says that it is being read."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.log = pathlib.Path(folder.name) / "long.vsl"
        subprocess.run([GENERATOR, "20000000", cls.log, "--live", "2000"], check=True, timeout=120)

    def start(self, *arguments, **env):
        try:
            ours, theirs = pty.openpty()
        except OSError as problem:  # a container without /dev/pts
            self.skipTest(f"no terminal can be made here: {problem}")
        process = subprocess.Popen([VRAMSCOPE, *arguments, self.log], stdout=subprocess.PIPE, stderr=theirs,
                                   env=self.environment(**{"TERM": "xterm", **env}))
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(process.stdout.close)
        return process, ours

    def wait_for(self, terminal, text):
        shown = b""
        while text.encode() not in shown:
            ready, _, _ = select.select([terminal], [], [], 60)
            self.assertTrue(ready, f"nothing more was shown for a minute, after: {shown!r}")
            shown += os.read(terminal, 65536)
        return shown.decode()

    def test_the_first_one_ends_with_what_was_read(self):
        for view in ("leaks", "report", "churn"):
            with self.subTest(view):
                process, terminal = self.start(view, NO_COLOR="1")
                bar = self.wait_for(terminal, " %")
                process.send_signal(signal.SIGINT)
                text = process.stdout.read().decode()
                self.assertEqual(process.wait(), 130)
                self.assertRegex(" ".join(text.split()), r"interrupted after \d+ % of the log")
                self.assertNotIn("100 %", text)
                self.assertNotRegex(bar + text, ESCAPE + r"\[\d*m")
                if view != "churn":
                    self.assertTrue(text.startswith("INCONCLUSIVE"), text)

    def test_json_says_so_too(self):
        process, terminal = self.start("leaks", "--json", "-")
        self.wait_for(terminal, " %")
        process.send_signal(signal.SIGINT)
        report = json.loads(process.stdout.read())
        self.assertEqual((process.wait(), report["verdict"]), (130, "inconclusive"))
        self.assertRegex(report["verdict_reasons"][0], r"interrupted after \d+ % of the log")
        self.assertEqual({leak["kind"] for leak in report["leaks"]}, {"in-use-now"}, "nobody saw its end")
        self.assertLess(report["coverage"]["allocations"], 10_000_000)

    def test_of_a_run_the_report_is_written_with_what_was_read(self):
        announces = 'printf "log\\t%s\\t%s\\n" $$ "$0" >>"${VRAMSCOPE_RUN#*:}"'  # as a traced process does
        process, terminal = self.start("run", "--json", "-", "sh", "-c", announces)
        self.wait_for(terminal, " %")
        process.send_signal(signal.SIGTERM)
        report = json.loads(process.stdout.read())
        self.assertEqual((process.wait(), report["verdict"]), (0, "inconclusive"))
        self.assertRegex(report["verdict_reasons"][0], r"interrupted after \d+ % of the log")

    def test_the_second_one_kills(self):
        process, terminal = self.start("leaks", "--json", "-")
        self.wait_for(terminal, " %")
        process.send_signal(signal.SIGINT)
        ready, _, _ = select.select([process.stdout], [], [], 60)
        self.assertTrue(ready)  # and more of the report waits for a reader
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.wait(), -signal.SIGINT)

    def test_without_a_terminal_nothing_is_drawn(self):
        short = self.folder / "short.vsl"
        subprocess.run([GENERATOR, "3000000", short, "--live", "2000", "--stacks", "20"], check=True, timeout=120)
        self.assertEqual(self.vramscope("leaks", short)[::2], (0, ""))


if __name__ == "__main__":
    unittest.main()
