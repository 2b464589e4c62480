# tests/e2e/live/watch_test.py — run --metrics and run --on: what a program holds while it runs, and commands when something happens.
import os
import re
import signal
import subprocess
import time
import unittest
from pathlib import Path

from live import PROGRAMS, VRAMSCOPE, LiveTest, simulated_only

HOOK = """#!/bin/sh
printf '%s|%s|%s|%s\\n' "$VRAMSCOPE_EVENT" "$VRAMSCOPE_EVENT_PID" "$VRAMSCOPE_EVENT_TEXT" "$VRAMSCOPE_SNAPSHOT" >> calls
"""
SAMPLE = re.compile(r'vramscope_(\w+)\{(.*)\} (\S+)')


@simulated_only
class Watch(LiveTest):
    def run_live(self, *options, gpu="100MiB", interval="0.1"):
        """live.cpp, under `run` with these options."""
        command = [VRAMSCOPE, "run", "--simulate", gpu, "-o", self.log, "--interval", interval, *options, PROGRAMS / "live"]
        with open(self.folder / "stderr", "w") as stderr:
            process = subprocess.Popen(command, cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr,
                                       text=True, env=self.environment())
        self.addCleanup(self.end, process)
        return process

    def command(self, name="hook", text=HOOK):
        path = self.folder / name
        path.write_text(text)
        path.chmod(0o755)
        return f"./{name}"

    def samples(self):
        """{name: value} of the metrics' file, the labels of each in self.labels."""
        self.labels = {}
        found = {}
        for name, labels, value in SAMPLE.findall((self.folder / "m.prom").read_text()):
            found[name] = float(value)
            self.labels[name] = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        return found

    def wait_until(self, true, what):
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                if true():
                    return
            except OSError:
                pass  # the file is not there yet
            time.sleep(0.05)
        self.fail(f"never came: {what}")

    def calls(self):
        try:
            return [line.split("|") for line in (self.folder / "calls").read_text().splitlines()]
        except FileNotFoundError:
            return []

    def stderr(self):
        return (self.folder / "stderr").read_text()

    def grow(self, process, times):
        for _ in range(times):
            self.tell(process, "hold 65536 1", "churn 50 1")
            time.sleep(0.01)

    def test_the_numbers_are_those_of_the_program(self):
        process = self.run_live("--metrics", "m.prom")
        self.tell(process, "hold 1048576 5", "drop 2", "host 4096 1")
        self.wait_until(lambda: self.samples().get("blocks") == 3, "3 blocks")
        now = self.samples()
        self.assertEqual((now["running"], now["allocated_bytes"], now["peak_allocated_bytes"], now["limit_bytes"]),
                         (1, 3 << 20, 5 << 20, 100 << 20))
        self.assertEqual((now["host_bytes"], now["host_blocks"], now["allocations_total"], now["frees_total"]), (4096, 1, 6, 2))
        self.assertGreaterEqual(now["device_used_bytes"], now["reserved_bytes"])
        self.assertEqual(set(self.labels["running"]), {"program", "pid"})
        self.assertEqual(set(self.labels["blocks"]), {"program", "pid", "gpu", "UUID"})
        self.end(process)
        end = self.samples()
        self.assertEqual((end["running"], end["allocations_total"]), (0, 6))
        self.assertNotIn("allocated_bytes", end)
        self.assertEqual(os.stat(self.folder / "m.prom").st_mode & 0o777, 0o644 & ~os.umask(os.umask(0)))

    def test_growth_is_told_and_taken_back(self):
        process = self.run_live("--metrics", "m.prom")
        self.tell(process, "hold 4096 1")
        self.grow(process, 40)
        self.wait_until(lambda: self.samples().get("growing_bytes_per_second", 0) > 0, "growth")
        self.assertGreater(self.samples()["growth_bytes_per_second"], 0)
        self.assertRegex(self.labels["growing_bytes_per_second"]["place"], r"^hold\(.*\) live\.cpp:\d+$")
        self.assertRegex(self.labels["growing_bytes_per_second"]["fingerprint"], "^[0-9a-f]{16}$")
        self.tell(process, "drop 41", "churn 5000 1")
        self.wait_until(lambda: self.samples()["growth_bytes_per_second"] == 0, "no growth")
        self.assertNotIn("growing_bytes_per_second", self.samples())

    def test_a_command_is_run_once_when_growth_begins(self):
        process = self.run_live("--on", "growth", self.command())
        self.grow(process, 40)
        self.wait_until(self.calls, "a call")
        self.grow(process, 40)
        self.end(process)
        [(event, pid, text, snapshot)] = self.calls()
        self.assertEqual((event, snapshot), ("growth", f"{self.log}.growth"))
        self.assertRegex(text, r"^grows by 64 KiB per allocation at hold\(.*, since \d\d:\d\d, \d\d\.\d % sure$")
        self.assertEqual(os.stat(snapshot).st_mode & 0o777, 0o600)
        report = self.json_of(snapshot)
        self.assertEqual(report["processes"][0]["pid"], int(pid))
        self.assertEqual([kind for kind in (one["kind"] for one in report["findings"]) if kind == "growth"], ["growth"])

    def test_headroom_is_told_once_until_there_is_more_again(self):
        process = self.run_live("--on", "headroom=20MiB", self.command(), "--metrics", "m.prom")
        self.tell(process, "hold 1048576 90")
        self.wait_until(self.calls, "a call")
        self.tell(process, "hold 1048576 1")
        self.wait_until(lambda: self.samples()["blocks"] == 91, "one more block")
        self.assertEqual(len(self.calls()), 1)
        self.assertRegex(self.calls()[0][2], r"^device 0 has [\d.]+ MiB left of 100 MiB$")
        self.tell(process, "drop 91")
        self.wait_until(lambda: self.samples().get("allocated_bytes", 1) == 0, "nothing held")
        self.end(process)

    def test_an_end_for_want_of_memory_is_told_when_the_program_is_gone(self):
        process = self.run_live("--on", "oom", self.command(), gpu="16MiB", interval="3600")
        process.communicate("hold 1048576 20\n", timeout=60)
        self.assertNotEqual(process.returncode, 0)
        [(event, _, text, snapshot)] = self.calls()
        self.assertEqual((event, text, snapshot), ("oom", "1 allocation failed for want of memory", f"{self.log}.oom"))
        self.assertEqual(os.stat(snapshot).st_mode & 0o777, 0o600)
        then, now = self.json_of(snapshot), self.json_of(self.log)
        for name in ("allocations", "leaked_bytes"):
            self.assertEqual(then["totals"][name], now["totals"][name])
        self.assertNotEqual(then["processes"][0]["end"]["kind"], "running")

    def test_without_a_copy_no_snapshot_is_named(self):
        says = self.command("says", "#!/bin/sh\necho \"${VRAMSCOPE_SNAPSHOT-none}\" >> calls\n")
        Path(f"{self.log}.oom").mkdir()  # there can be no file of that name
        process = self.run_live("--on", "oom", says, gpu="16MiB", interval="3600")
        process.communicate("hold 1048576 20\n", timeout=60)
        self.assertEqual(self.calls(), [["none"]])
        self.assertIn("warning: --on: no snapshot: ", self.stderr())

    def test_commands_run_one_after_the_other_and_are_waited_for(self):
        slow = self.command("slow", "#!/bin/sh\nmkdir running || echo twice >> calls\nsleep 1\nrmdir running\n" + HOOK[10:])
        process = self.run_live("--on", "headroom=99%", slow, "--on", "growth", self.command())
        self.grow(process, 40)
        self.wait_until(lambda: "growth" in [call[0] for call in self.calls()], "growth")
        self.end(process)
        self.assertEqual(sorted(call[0] for call in self.calls()), ["growth", "headroom"])

    def test_a_command_that_fails_is_a_line_and_no_harm(self):
        process = self.run_live("--on", "headroom=99%", self.command("gone"), "--on", "headroom=98%", self.command("bad", "#!/bin/sh\nexit 3\n"))
        self.tell(process, "nothing")  # by then it was looked for
        (self.folder / "gone").unlink()
        self.tell(process, "hold 8388608 1")
        self.end(process)
        self.assertEqual(process.returncode, 0)
        self.assertIn("vramscope: warning: --on: ./gone cannot be run: No such file or directory\n", self.stderr())
        self.assertIn("vramscope: warning: --on: ./bad ended with 3\n", self.stderr())

    def test_all_programs_of_a_run_are_in_one_file(self):
        script = self.command("both", f"#!/bin/sh\nfor rank in 0 1 1; do echo 'hold 4096 1 end' | RANK=$rank WORLD_SIZE=2 "
                                      f"{PROGRAMS}/live; done\n")
        done = self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%p.vsl", "--metrics", "m.prom", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = re.findall(r"vramscope_allocations_total\{(.*)\} 1\n", (self.folder / "m.prom").read_text())
        self.assertEqual(len(set(lines)), 3, lines)
        self.assertEqual([re.search('rank="(.)"', line)[1] for line in lines], ["0", "1", "1"])

    def test_what_cannot_be_is_refused_before_the_program_starts(self):
        os.mkfifo(self.folder / "pipe")
        (self.folder / "folder").mkdir()
        (self.folder / "data").write_text("data")
        self.command("script", "#!/no/such/shell\n")
        for options, words in [(("--on", "leak", "true"), "--on leak: write growth, oom, headroom=5% or headroom=2GiB"),
                               (("--on", "headroom=0%", "true"), "--on headroom=0%: write"),
                               (("--on", "headroom=x", "true"), "--on headroom=x: write"),
                               (("--on", "growth", "./nothing"), "--on growth ./nothing: there is no such command"),
                               (("--on", "growth", "no-such-command"), "--on growth no-such-command: there is no such command"),
                               (("--on", "headroom=5%", "./folder"), "--on headroom=5% ./folder: it is a folder"),
                               (("--on", "oom", "./data"), "--on oom ./data: it is not executable"),
                               (("--on", "oom", "./script"), "--on oom ./script: there is no /no/such/shell"),
                               (("--interval", "0"), "--interval is 0.1 to 3600 seconds"),
                               (("--interval", "5"), "--interval is for --metrics and --on"),
                               (("--metrics", "pipe"), "--metrics pipe: it is no regular file"),
                               (("--metrics", "/dev/null"), "--metrics /dev/null: it is no regular file"),
                               (("--metrics", "/dev/stdout"), "--metrics /dev/stdout: it is no regular file"),
                               (("--metrics", "-"), "--metrics -: write the name of a file"),
                               (("--metrics", "no/where"), "no/where")]:
            done = self.execute(VRAMSCOPE, "run", *options, "--", PROGRAMS / "no_cuda")
            self.assertEqual((done.returncode, len(done.stderr.splitlines())), (125, 1), done.stderr)
            self.assertIn(words, done.stderr)
        (self.folder / "mine").write_text("a file of somebody's\n")
        done = self.execute(VRAMSCOPE, "run", "--metrics", "mine", "--", PROGRAMS / "no_cuda")
        self.assertEqual(done.returncode, 125)
        self.assertEqual((self.folder / "mine").read_text(), "a file of somebody's\n")

    def test_a_collected_log_has_the_same_numbers(self):
        """By `collect` as by `run --bounded`, whose logs are collected while they are looked at."""
        process = self.start()
        self.tell(process, "hold 65536 3", "churn 20000 2")
        collector = subprocess.Popen([VRAMSCOPE, "collect", str(process.pid), "--interval", "0.2", "--metrics", "m.prom", "--on", "growth",
                                      self.command()], cwd=self.folder, stderr=subprocess.PIPE, text=True, env=self.environment())
        self.grow(process, 40)
        self.wait_until(self.calls, "growth")
        self.assertEqual(self.json_of(self.calls()[0][3])["processes"][0]["pid"], process.pid)
        self.tell(process, "churn 20000 2")
        self.end(process)
        self.assertEqual((collector.wait(timeout=60), collector.stderr.read().count("\n")), (0, 1))
        collector.stderr.close()
        end = self.samples()
        self.assertEqual((end["running"], end["allocations_total"], end["frees_total"]), (0, 43 + 40 * 50 + 80000, 40 * 50 + 80000))

    def test_a_bounded_run_has_its_numbers(self):
        process = self.run_live("--metrics", "m.prom", "--bounded", "4MiB")
        self.tell(process, "hold 65536 3", "churn 200000 2", "churn 200000 2")
        self.wait_until(lambda: self.samples().get("allocations_total") == 800003, "all allocations")
        self.end(process)
        self.assertEqual((self.samples()["running"], self.samples()["frees_total"]), (0, 800000))

    def test_the_watch_survives_what_ends_the_group(self):
        """Ctrl-C reaches all of a terminal's group: the last numbers are written all the same."""
        process = self.run_live("--metrics", "m.prom")
        self.tell(process, "hold 4096 3")
        self.wait_until(lambda: self.samples().get("blocks") == 3, "3 blocks")
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
        self.assertEqual(len(children), 2)  # the watch, and the program
        for pid in map(int, (*sorted(children, key=int), process.pid)):
            os.kill(pid, signal.SIGTERM)
        process.wait(timeout=60)
        self.assertEqual(self.samples()["running"], 0)


if __name__ == "__main__":
    unittest.main()
