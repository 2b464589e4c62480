#!/usr/bin/env python3
# tests/oracle/trace_test.py — Chrome's trace viewer reads the trace, and its counters, lives and marks are the report's.
#
# The viewer is the one that Go's sources have for `go tool trace`, and runs in headless Chromium.
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

from oracle import BROWSER, DEVICE_MEMORY, HOST_MEMORY, NOT_HERE, TRACED, OracleTest, needs, why_no_browser

DRIVE = pathlib.Path(__file__).parent / "browser" / "trace.mjs"
FOLDERS = ("internal/trace/traceviewer/static", "cmd/trace/static")  # of Go 1.22 and newer, and before it


def viewer():
    """Go's folder with the viewer; None if it is not here."""
    root = pathlib.Path(subprocess.run(["go", "env", "GOROOT"], capture_output=True, text=True).stdout.strip())
    return next((root / "src" / folder for folder in FOLDERS if (root / "src" / folder / "trace_viewer_full.html").is_file()), None)


def peak(lives, memory):
    """The most bytes of these kinds of memory that were alive at once; at one time, what ends goes first."""
    changes = []
    for life in lives:
        if life["memory"] in memory:
            changes.append((life["begin"], life["bytes"]))
            changes.append((life["end"], -life["bytes"]))
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most


class TraceTest(OracleTest):
    def read(self, *files):
        """What the viewer has of each of these traces."""
        done = self.execute("node", DRIVE, BROWSER, shutil.which("chromium"), viewer(), *files)
        self.assertEqual(done.returncode, 0, done.stderr)
        all_told = [json.loads(line) for line in done.stdout.splitlines()]
        self.assertEqual(len(all_told), len(files))
        for told in all_told:
            self.assertEqual(told["errors"], [])
        return all_told

    def lives_of(self, log):
        """Begin, end and bytes of each block, as our events have them."""
        alive, lives = {}, []
        for event in self.events(log):
            if event["type"] == "alloc" and event["memory"] in DEVICE_MEMORY | HOST_MEMORY:
                alive[event["address"]] = event["ns"], event["bytes"]
            elif event["type"] == "free" and event["address"] in alive:
                begin, size = alive.pop(event["address"])
                lives.append((begin, event["ns"], size))
        return sorted(lives) + sorted((begin, None, size) for begin, size in alive.values())

    def test_numbers_are_those_of_the_report(self):
        """The browser is started once for all."""
        with tempfile.TemporaryDirectory() as folder:
            files, reports = [], []
            for what, command in TRACED.items():
                with self.traced(what, *command) as (log, report):
                    files.append(shutil.copy(self.export(log, "trace"), f"{folder}/{len(files)}"))
                    reports.append(report)
            self.assertEqual(len(files), len(TRACED))
            for what, told, report in zip(TRACED, self.read(*files), reports):
                with self.subTest(what):
                    self.assert_same(told, report)

    def assert_same(self, told, report):
        (process,), totals, ours = told["processes"], report["totals"], report["processes"][0]
        lives = process["lives"]
        self.assertEqual(told["warnings"], [])
        self.assertEqual((process["pid"], process["name"]), (ours["pid"], ours["program"]))
        self.assertEqual((len(lives), sum(life["bytes"] for life in lives)), (totals["allocations"], totals["allocated_bytes"]))
        self.assertEqual(peak(lives, DEVICE_MEMORY), totals["peak_device_bytes"])
        self.assertEqual(peak(lives, HOST_MEMORY), totals["peak_host_bytes"])
        self.assertEqual(process["marks"], [[mark["ns"], mark["name"]] for mark in ours["marks"]])
        self.assert_counters(process["counters"], ours["device_memory"])
        self.assertEqual(told["metadata"]["otherData"]["verdict"], report["verdict"])

    def assert_counters(self, counters, devices):
        self.assertEqual({name.split(" ")[-2] for name in counters if name.endswith(" allocated")},
                         {str(device["device"]) for device in devices if device["timeline"]})
        for device in devices:
            timeline = device["timeline"]
            for member, name in (("allocated", "allocated"), ("reserved", "reserved")):
                samples = counters[f"device {device['device']} {name}"]["bytes"]
                begins = {when: value for when, value in samples[::2]}
                self.assertEqual(begins, {span["ns"]: span[f"peak_{member}_bytes"] for span in timeline})
                self.assertEqual([value for _, value in samples[1::2]], [span[f"{member}_bytes"] for span in timeline])

    def test_each_life_is_as_long_as_our_events_say(self):
        log, report = self.trace_log("training_demo")
        (told,) = self.read(self.export(log, "trace"))
        freed, alive = [], []
        for life in told["processes"][0]["lives"]:
            (alive if life.get("alive_at_end") else freed).append((life["begin"], life["end"], life["bytes"]))
        self.assertEqual(sorted(freed) + [(begin, None, size) for begin, _, size in sorted(alive)], self.lives_of(log))
        self.assertEqual(sum(size for _, _, size in alive), report["totals"]["leaked_bytes"])
        self.assertTrue(all(begin < end for begin, end, _ in alive), "the viewer draws them")

    def test_a_life_without_an_end_is_noticed(self):
        """That the viewer would tell if the trace were wrong."""
        log, _ = self.trace_log("training_demo")
        file = self.export(log, "trace")
        trace = json.loads(file.read_text())
        trace["traceEvents"].remove(next(event for event in trace["traceEvents"] if event["ph"] == "e"))
        file.write_text(json.dumps(trace))
        (told,) = self.read(file)
        self.assertEqual(len(told["warnings"]), 1)
        self.assertIn("was unmatched", told["warnings"][0])


if __name__ == "__main__":
    needs("go")
    if why := why_no_browser() or (None if viewer() else "Chrome's trace viewer (of golang-src) is not here"):
        print(f"SKIPPED: {why}")
        sys.exit(NOT_HERE)
    unittest.main()
