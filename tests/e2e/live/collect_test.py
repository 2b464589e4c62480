#!/usr/bin/env python3
# tests/e2e/live/collect_test.py — a log that is collected while its program runs tells what the
# whole log does.
#
# The whole log is kept beside it: before each collection its chunks are copied, and in the end they
# are put back into a copy of the log. VRAMSCOPE_TEST_KILLS is how often a collector is killed.
import collections
import json
import os
import random
import resource
import signal
import struct
import subprocess
import time
import unittest

from live import GPU, PROGRAMS, VRAMSCOPE, LiveTest

HEADER, CHUNK = 4096, 65536
KILLS = int(os.environ.get("VRAMSCOPE_TEST_KILLS", 12))
SETTLED = 1.1  # seconds: what happened before is collected


def chunks_of(log):
    """The chunks of threads, by their positions; not what a collector wrote."""
    found = {}
    with open(log, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        at = HEADER
        while at < size:
            try:
                at = max(at, os.lseek(file.fileno(), at, os.SEEK_DATA))
            except OSError:
                break
            position = (at - HEADER) // CHUNK
            bytes_ = os.pread(file.fileno(), CHUNK, HEADER + position * CHUNK)
            if bytes_[:4] == b"VSCK":
                found[position] = bytes_
            at = HEADER + (position + 1) * CHUNK
    return found


def on_disk(log):
    return os.stat(log).st_blocks * 512


class CollectTest(LiveTest):
    def setUp(self):
        super().setUp()
        self.kept = {}

    def collect(self, process, *, settled=True):
        if settled:
            time.sleep(SETTLED)
        self.kept.update(chunks_of(self.log))
        self.live("collect", process.pid, "--once")

    def whole_log(self):
        """What the log would be, had nothing been collected."""
        self.kept.update(chunks_of(self.log))
        whole = self.folder / "whole.vsl"
        with open(self.log, "rb") as log, open(whole, "wb") as copy:
            header = bytearray(log.read(HEADER))
            struct.pack_into("<H", header, 8, 4)
            header[264:288] = bytes(24)
            copy.write(header)
            copy.truncate(os.fstat(log.fileno()).st_size)
            for position, chunk in self.kept.items():
                copy.seek(HEADER + position * CHUNK)
                copy.write(chunk)
        return whole

    def assert_tells_what_the_whole_log_does(self):
        whole = self.whole_log()
        for command in (("report",), ("leaks",), ("peak",), ("frag",), ("timeline",), ("churn",), ("objects",),
                        ("contexts",), ("check", "--max-peak", "1MiB"), ("export", "--to", "folded"),
                        ("export", "--to", "folded", "--sum", "allocated"), ("export", "--to", "csv"),
                        ("check", "--forbid", "alloc stack /hold/", "--forbid", "stream", "--fail-on", "none"),
                        ("report", "--json", "-")):
            told = [self.execute(VRAMSCOPE, *command, log) for log in (whole, self.log)]
            texts = [(done.returncode, done.stdout.replace(str(log), "LOG"), done.stderr.replace(str(log), "LOG"))
                     for done, log in zip(told, (whole, self.log))]
            self.assertEqual(*texts, command)
        return json.loads(told[1].stdout)

    def test_all_that_is_told_is_as_of_the_whole_log(self):
        process = self.start()
        self.tell(process, "hold 4096 50", "drop 1", "twice 2", "churn 40000 3")
        self.collect(process)
        self.assertLess(on_disk(self.log) + (512 << 10), os.stat(self.log).st_size)
        for _ in range(3):
            self.tell(process, "twice 1", "hold 8192 7", "drop 3", "host 100 1", "churn 60000 2")
            self.collect(process)
        self.assertLess(on_disk(self.log), os.stat(self.log).st_size / 4)
        self.live("mark", process.pid, "late")
        self.tell(process, "hold 100 1")
        held = self.live("top", process.pid, "--once").stdout
        self.assertIn("WRONG FREES: 5 calls", held)
        self.assertIn("in 62 blocks", held)
        copy = self.folder / "copy.vsl"
        self.live("snapshot", process.pid, "-o", copy)
        self.end(process)
        report = self.assert_tells_what_the_whole_log_does()
        self.assertEqual(report["totals"]["leaked_blocks"], 65)
        self.assertEqual({row["kind"] for row in report["misuse"]}, {"double-free"})
        self.assertEqual(sum(row["calls"] for row in report["misuse"]), 5)
        self.assertEqual([mark["name"] for mark in report["processes"][0]["marks"]], ["late"])
        self.assertEqual(self.json_of(copy)["totals"]["leaked_blocks"], 65)
        self.live("pack", self.log)
        self.assertEqual(self.json_of(f"{self.log}.zst")["totals"], report["totals"])

    def test_memory_is_searched_as_for_the_whole_log(self):
        process = self.start()
        self.tell(process, "hold 4096 50", "churn 40000 3", "drop 3")
        whole = self.reach(process)
        self.collect(process)
        self.tell(process, "drop 2", "hold 4096 3")
        self.assertEqual(self.log.read_bytes()[8], 5)
        expected = self.blocks_by_verdict(whole)
        expected[whole["rows"][0]["fingerprint"], "held"] += 1
        for _ in range(2):  # what the first one keeps in the cache changes nothing
            collected = self.reach(process)
            self.assertEqual(self.blocks_by_verdict(collected), expected)
            self.assertIn(whole["rows"][0]["groups"][0]["chain"], [group["chain"] for group in collected["rows"][0]["groups"]])
        self.assertEqual(collected["all"]["blocks"], whole["all"]["blocks"] + 1)
        self.end(process)

    @staticmethod
    def blocks_by_verdict(search):
        """Not by chain: the new blocks may have an address that a variable or an ended thread's stack still names."""
        blocks = collections.Counter()
        for row in search["rows"]:
            for group in row["groups"]:
                blocks[row["fingerprint"], group["verdict"]] += group["sum"]["blocks"]
        return blocks

    def test_the_end_of_a_bounded_run_is_searched(self):
        with subprocess.Popen([VRAMSCOPE, "run", "--simulate", GPU, "--bounded", "4MiB", "--reach", "-o", self.log, "--",
                               PROGRAMS / "live"], cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env=self.environment()) as process:
            self.tell(process, "hold 4096 50")
            for _ in range(2):
                self.tell(process, "churn 150000 2")
                time.sleep(SETTLED + 1)
            told = process.communicate("end\n", timeout=120)[1]
        self.assertEqual((process.returncode, self.log.read_bytes()[8]), (0, 5), told)
        report = self.json_of(self.log)
        self.assertEqual([group["sum"]["blocks"] for leak in report["leaks"] for group in leak["reach"]], [50], told)
        self.assertIs(report["processes"][0]["memory_search"]["stopped"], True)

    def test_what_needs_each_event_is_refused_in_one_line(self):
        process = self.start()
        self.tell(process, "hold 4096 5", "churn 40000 1")
        self.collect(process)
        self.end(process)
        for command in (("plan", self.log), ("export", "--to", "jsonl", self.log), ("symbolize", self.log)):
            self.assert_refused(*command, words="was collected", status=120)
        for command in (("check", "--forbid", "alloc in range step*", self.log), ("report", "--until", "1ms", self.log),
                        ("leaks", "--from", "1ms", self.log)):
            self.assert_refused(*command, words="was collected", status=125)
        since = self.live("leaks", "--from", "1h", self.log).stdout
        self.assertNotIn("hold", since)

    def test_top_goes_on_while_chunks_are_given_back(self):
        process = self.start()
        self.tell(process, "hold 1048576 1")
        top = subprocess.Popen([VRAMSCOPE, "top", str(process.pid), "--interval", "0.1"], stdout=subprocess.PIPE,
                               text=True, env=self.environment())
        self.addCleanup(top.stdout.close)
        self.addCleanup(top.kill)
        for times in range(1, 4):
            self.tell(process, "churn 40000 2", "hold 1048576 1")
            self.collect(process)
            words = f"holds       {times + 1} MiB in {times + 1} blocks"
            self.assertTrue(any(words in line for line in top.stdout), words)
        self.end(process)
        self.assertIn("has ended", top.stdout.read())
        self.assertEqual(top.wait(timeout=60), 0)

    def test_a_collector_that_is_killed_leaves_a_whole_log(self):
        process = self.start()
        self.tell(process, "hold 4096 50")
        for _ in range(KILLS):
            process.stdin.write("churn 20000 2\n")  # it runs while the collector does
            process.stdin.flush()
            collector = subprocess.Popen([VRAMSCOPE, "collect", str(process.pid), "--interval", "0.1"],
                                         stderr=subprocess.PIPE, text=True, env=self.environment())
            time.sleep(random.uniform(0, 0.4))
            collector.send_signal(signal.SIGKILL)
            collector.communicate(timeout=60)
            self.assertEqual(process.stdout.readline(), "done\n")
        time.sleep(SETTLED)
        self.live("collect", process.pid, "--once")
        self.assertLess(on_disk(self.log), 2 << 20)
        self.end(process)
        report = self.json_of(self.log)
        self.assertEqual(report["totals"]["leaked_blocks"], 50)
        self.assertEqual(report["verdict"], "leaks")
        device = [row for row in report["processes"][0]["coverage"].items() if row[0] in ("allocations", "frees")]
        self.assertEqual(dict(device), {"allocations": 50 + 40000 * KILLS, "frees": 40000 * KILLS})

    def test_both_are_killed(self):
        for _ in range(max(3, KILLS // 4)):
            process = self.start()
            self.tell(process, "hold 4096 50", "churn 40000 2")
            process.stdin.write("churn 10000000 2\n")
            process.stdin.flush()
            collector = subprocess.Popen([VRAMSCOPE, "collect", str(process.pid), "--interval", "0.1"],
                                         stderr=subprocess.DEVNULL, env=self.environment())
            time.sleep(random.uniform(SETTLED, SETTLED + 1))
            for each in random.sample([process, collector], 2):
                each.kill()
                time.sleep(random.uniform(0, 0.02))
            collector.wait(timeout=60)
            process.wait(timeout=60)
            report = self.json_of(self.log)
            self.assertEqual(report["verdict"], "inconclusive")  # how it ended is not known
            self.assertIn(report["totals"]["leaked_blocks"], (50, 51, 52))  # a block of each thread, in between
            self.assertEqual(report["processes"][0]["coverage"]["missed_frees"], 0)
            self.log.unlink()

    def test_a_full_disk_is_told_and_costs_nothing(self):
        process = self.start()
        self.tell(process, "hold 4096 5", "churn 40000 1")
        time.sleep(SETTLED)
        size = os.stat(self.log).st_size
        done = subprocess.run([VRAMSCOPE, "collect", str(process.pid), "--once"], capture_output=True, text=True,
                              env=self.environment(), timeout=60,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size)))
        self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)
        self.assertIn("File too large", done.stderr)
        self.collect(process, settled=False)
        self.end(process)
        self.assert_tells_what_the_whole_log_does()

    def test_it_ends_with_its_program(self):
        process = self.start()
        self.tell(process, "hold 4096 1", "churn 100000 2")
        with subprocess.Popen([VRAMSCOPE, "collect", self.log, "--interval", "0.2"], stderr=subprocess.PIPE, text=True,
                              env=self.environment()) as collector:
            time.sleep(SETTLED + 1)
            self.assert_refused("collect", process.pid, words="another process collects it already", status=125)
            process.kill()
            process.wait(timeout=60)
            told = collector.communicate(timeout=60)[1]
        self.assertEqual((collector.returncode, told.count("\n")), (0, 1), told)
        self.assertIn("on disk", told)
        self.assertEqual(self.json_of(self.log)["totals"]["leaked_blocks"], 1)
        self.assert_refused("collect", self.log, words="no program writes it")

    def test_what_made_a_log_grow_is_collected_when_it_has_settled(self):
        process = self.start()
        self.tell(process, "hold 4096 1", "churn 20000 2")
        collector = subprocess.Popen([VRAMSCOPE, "collect", str(process.pid), "--interval", "3600"],
                                     stderr=subprocess.DEVNULL, env=self.environment())
        self.addCleanup(collector.kill)
        self.tell(process, "churn 150000 2")  # in less than a second, or little more; then nothing
        self.assertGreater(os.stat(self.log).st_size, 3 << 20)
        for _ in range(600):
            if on_disk(self.log) < 2 << 20:
                break
            time.sleep(0.1)
        self.assertLess(on_disk(self.log), 2 << 20)
        self.end(process)
        self.assertEqual(collector.wait(timeout=60), 0)

    def test_it_ends_where_the_program_goes_on_as_another(self):
        process = self.start()
        self.tell(process, "hold 4096 1", "churn 40000 1")
        with subprocess.Popen([VRAMSCOPE, "collect", str(process.pid), "--interval", "0.2"], stderr=subprocess.PIPE,
                              text=True, env=self.environment()) as collector:
            time.sleep(SETTLED + 1)
            process.stdin.write("exec /bin/cat\n")
            process.stdin.flush()
            self.assertIn("on disk", collector.communicate(timeout=60)[1])
        self.assertEqual(self.json_of(self.log)["totals"]["leaked_blocks"], 1)

    def test_run_collects_the_logs_of_its_program(self):
        with subprocess.Popen([VRAMSCOPE, "run", "--simulate", GPU, "--bounded", "4MiB", "--json", "run.json", "-o",
                               self.log, "--", PROGRAMS / "live"], cwd=self.folder, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              env=self.environment()) as process:
            self.tell(process, "hold 4096 50")
            for _ in range(3):
                self.tell(process, "churn 150000 2")
                time.sleep(SETTLED + 1)
            self.assertLess(on_disk(self.log), 4 << 20)
            self.tell(process, "drop 1")
            told = process.communicate("end\n", timeout=120)[1]
        self.assertEqual(process.returncode, 0, told)
        self.assertNotIn("grew by", told)
        self.assertGreater(os.stat(self.log).st_size, 8 << 20)
        self.assertEqual(self.log.read_bytes()[8], 5)
        report = json.loads((self.folder / "run.json").read_text())
        self.assertEqual((report["verdict"], report["totals"]["leaked_blocks"]), ("leaks", 49))
        self.assertEqual(report["processes"][0]["coverage"]["frees"], 900001)

    def test_what_cannot_be_bounded_is_refused_before_the_start(self):
        run = ("run", "--simulate", GPU, "--bounded")
        for options, words in ((("1KiB",), "a size from 4MiB on"), (("much",), "a size from 4MiB on"),
                               (("8MiB", "--check", "--forbid", "free"), "and the rule 'forbid free' needs each"),
                               (("8MiB", "-o", "/proc/x.vsl"), "/proc/")):
            self.assert_refused(*run, *options, "--", "false", words=words, status=125)

    def test_a_log_that_ends_is_not_bounded(self):
        run = ("run", "--simulate", GPU, "--bounded", "8MiB")
        words = "max_log=2GiB ends it"
        self.assert_refused(*run, "--set", "max_log=2GiB", "--", "false", words=words, status=125)
        done = self.execute(VRAMSCOPE, *run, "--", "false", VRAMSCOPE_MAX_LOG="2GiB")
        self.assertEqual((done.returncode, done.stderr.count("\n")), (125, 1), done.stderr)
        self.assertIn(words, done.stderr)
        for value in ("off", ""):
            self.live(*run, "--set", f"max_log={value}", "--", "true", VRAMSCOPE_MAX_LOG="2GiB")

    def test_wrong_usage(self):
        process = self.start()
        self.tell(process, "nothing")  # by then we are loaded
        self.assert_refused("collect", process.pid, words="has no log yet")
        self.tell(process, "hold 4096 1")
        self.assert_refused("collect", process.pid, "--interval", "0", words="0.1 to 3600", status=125)
        self.assert_refused("collect", "none.vsl", words="cannot open", status=120)
        self.live("collect", process.pid, "--once")  # nothing is full yet
        self.assertEqual(self.log.read_bytes()[8], 4)
        if os.geteuid() == 0:
            done = self.as_nobody("collect", str(process.pid), "--once")
            self.assertEqual((done.returncode, done.stderr.count("\n")), (110, 1), done.stderr)


if __name__ == "__main__":
    unittest.main()
