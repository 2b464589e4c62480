#!/usr/bin/env python3
# tests/tools/export_test.py — export as users call it: where the bytes go, and what is refused.
import csv
import gzip
import io
import json
import resource
import subprocess
import unittest

from cli import PROGRAMS, VRAMSCOPE, CliTest

FORMATS = ("jsonl", "heaptrack", "pprof", "speedscope", "folded", "trace", "sanitizer", "torch-snapshot", "csv", "blocks",
           "openmetrics", "sqlite")


class ExportTest(CliTest):
    def setUp(self):
        super().setUp()
        status, _, errors = self.simulate(PROGRAMS / "training_demo")
        self.assertEqual(status, 0, errors)

    def exported(self, *arguments):
        done = subprocess.run([VRAMSCOPE, "export", *arguments], cwd=self.folder, capture_output=True, timeout=120,
                              env=self.environment())
        return done.returncode, done.stdout, done.stderr.decode()

    def test_goes_to_stdout_and_to_a_file_alike(self):
        for name in FORMATS:
            with self.subTest(name):
                status, out, errors = self.exported("--to", name, "run.vsl")
                self.assertEqual((status, errors), (0, ""))
                self.assertEqual(self.exported("--to", name, "-o", "out", "run.vsl"), (0, b"", ""))
                self.assertEqual((self.folder / "out").read_bytes(), out)

    def test_events_follow_their_schema(self):
        self.exported("--to", "jsonl", "-o", "events.jsonl", "run.vsl")
        self.assert_follows_schema("events", "events.jsonl")

    def test_events_add_up_to_the_report(self):
        _, out, _ = self.exported("--to", "jsonl", "run.vsl")
        events = [json.loads(line) for line in out.splitlines()]
        totals = self.read_json("run.json")["totals"]
        live, peak, allocated = {}, 0, 0
        for event in events:
            if event["type"] == "alloc" and event["memory"] in ("device", "managed", "async"):
                live[event["address"]] = event["bytes"]
                peak = max(peak, sum(live.values()))
            if event["type"] == "alloc":
                allocated += event["bytes"]
            if event["type"] == "free":
                live.pop(event["address"], None)
        self.assertEqual((sum(live.values()), peak, allocated),
                         (totals["leaked_bytes"], totals["peak_device_bytes"], totals["allocated_bytes"]))
        self.assertEqual(events[-1]["end"], "exited")

    def test_blocks_add_up_to_the_report(self):
        self.exported("--to", "blocks", "-o", "blocks.csv", "run.vsl")
        with open(self.folder / "blocks.csv", newline="", encoding="utf-8") as file:
            blocks = list(csv.DictReader(file))
        totals = self.read_json("run.json")["totals"]
        self.assertEqual((len(blocks), sum(int(block["bytes"]) for block in blocks)),
                         (totals["allocations"], totals["allocated_bytes"]))
        alive = [block for block in blocks if block["end"] == "alive"]
        self.assertEqual((len(alive), sum(int(block["bytes"]) for block in alive)),
                         (totals["leaked_blocks"], totals["leaked_bytes"]))
        self.assertEqual({block["freed_ns"] for block in alive}, {""})
        self.assertEqual({block["end"] for block in blocks}, {"alive", "freed"})
        self.assertTrue(all(int(block["allocated_ns"]) < int(block["freed_ns"]) for block in blocks if block["end"] == "freed"))
        (labels,) = {(block["function"], block["api"], block["phase"], block["device"]) for block in alive} - {
            (leak["stack"][0]["function"], leak["api"], leak["phase"] or "", "0") for leak in self.read_json("run.json")["leaks"]
            if leak["phase"]}
        self.assertEqual(labels, ("load_labels()", "cudaMalloc", "", "0"))

    def test_a_folder_of_one_log_will_do(self):
        self.assertEqual(self.exported("--to", "jsonl", ".")[0], 0)

    def test_several_logs_are_refused(self):
        self.assertEqual(self.exported("--to", "folded", "run.vsl", "run.vsl")[0], 0, "given again, it is one")
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "other.vsl", "--", PROGRAMS / "training_demo"], cwd=self.folder,
                              capture_output=True, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        status, out, errors = self.exported("--to", "pprof", "run.vsl", "other.vsl")
        self.assertEqual((status, out), (125, b""))
        self.assert_one_line(errors, "one log at a time, not 2")

    def test_an_unknown_format_is_refused_with_those_that_are_known(self):
        status, _, errors = self.exported("--to", "xml", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "--to xml", "jsonl, heaptrack, pprof")

    def test_what_is_no_log_leaves_no_file(self):
        (self.folder / "no.vsl").write_text("nothing")
        for name in FORMATS:
            status, _, errors = self.exported("--to", name, "-o", "out", "no.vsl")
            self.assertEqual(status, 120)
            self.assert_one_line(errors, "no.vsl")
        self.assertEqual([path.name for path in self.folder.glob("out*")], [])

    def test_options_without_effect_are_refused(self):
        for name in ("jsonl", "csv", "openmetrics"):
            self.assertIn("--device: write a device's number, not '-1'", self.exported("--to", name, "--device", "-1", "run.vsl")[2])
            status, _, errors = self.exported("--to", name, "--device", "0", "run.vsl")
            self.assertEqual(status, 125)
            self.assert_one_line(errors, name, "--device")
        for options, part in (("pprof", "allocated"), "folded stacks"), (("folded", "peak"), "never-freed, allocated"):
            status, _, errors = self.exported("--to", options[0], "--sum", options[1], "run.vsl")
            self.assertEqual(status, 125)
            self.assert_one_line(errors, "--sum", part)

    def test_binary_is_not_written_to_a_terminal(self):
        status, shown = self.on_terminal("export", "--to", "pprof", "run.vsl")
        self.assertEqual(status, 125)
        self.assertIn("-o FILE", shown)
        self.assertEqual(self.on_terminal("export", "--to", "heaptrack", "run.vsl")[0], 0)

    def test_an_export_beyond_the_limit_of_files_leaves_nothing(self):
        limit = (1024, 1024)
        done = subprocess.run([VRAMSCOPE, "export", "--to", "jsonl", "-o", "out", "run.vsl"], cwd=self.folder,
                              capture_output=True, env=self.environment(),
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
        self.assertEqual(done.returncode, 125)
        self.assert_one_line(done.stderr.decode(), "out", "File too large")
        self.assertEqual([path.name for path in self.folder.glob("out*")], [])

    def test_what_was_there_is_replaced_when_all_is_written(self):
        (self.folder / "out").write_text("old")
        self.assertEqual(self.exported("--to", "jsonl", "-f", "-o", "out", "no.vsl")[0], 120)
        self.assertEqual((self.folder / "out").read_text(), "old")
        self.exported("--to", "jsonl", "-f", "-o", "out", "run.vsl")
        self.assertTrue((self.folder / "out").read_text().startswith('{"type":"header"'))

    def test_a_full_disk_is_told(self):
        status, _, errors = self.exported("--to", "jsonl", "-o", "/dev/full", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "cannot write /dev/full")

    def test_another_device_has_nothing(self):
        _, out, _ = self.exported("--to", "heaptrack", "--device", "1", "run.vsl")
        self.assertNotIn(b"\n+ ", out)
        self.assertTrue(gzip.decompress(self.exported("--to", "pprof", "--device", "1", "run.vsl")[1]))
        self.assertEqual(self.exported("--to", "folded", "--device", "1", "run.vsl")[1], b"")
        self.assertEqual(self.exported("--to", "blocks", "--device", "1", "run.vsl")[1].count(b"\n"), 1)
        self.assertIn(b"LEAK SUMMARY: 0 bytes leaked in 0", self.exported("--to", "sanitizer", "--device", "1", "run.vsl")[1])
        trace = json.loads(self.exported("--to", "trace", "--device", "1", "run.vsl")[1])
        self.assertEqual({event["ph"] for event in trace["traceEvents"]}, {"M"})


class TraceTest(CliTest):
    """What Perfetto's importer asks for, as far as we know it: it runs nowhere here. tests/oracle asks Chrome's viewer."""

    def trace(self, *program):
        status, _, errors = self.simulate(*program)
        self.assertEqual(status, 0, errors)
        status, out, errors = self.vramscope("export", "--to", "trace", "run.vsl")
        self.assertEqual((status, errors), (0, ""))
        return json.loads(out), self.read_json("run.json")

    def test_lives_add_up_to_the_report(self):
        for program in (["training_demo"], ["memory_kinds", "managed"], ["contexts", "destroy"]):
            trace, report = self.trace(PROGRAMS / program[0], *program[1:])
            events = trace["traceEvents"]
            begins = {event["id"]: event for event in events if event["ph"] == "b"}
            ends = {event["id"]: event for event in events if event["ph"] == "e"}
            self.assertEqual(len(begins), sum(event["ph"] == "b" for event in events))
            self.assertEqual(len(begins), report["totals"]["allocations"])
            self.assertEqual(sum(event["args"]["bytes"] for event in begins.values()), report["totals"]["allocated_bytes"])
            self.assertEqual(begins.keys(), ends.keys())
            for number, end in ends.items():
                self.assertEqual((end["name"], end["cat"], end["pid"]), tuple(begins[number][key] for key in ("name", "cat", "pid")))
                self.assertGreaterEqual(end["ts"], begins[number]["ts"])
            if program == ["training_demo"]:
                left = sum(event["args"]["bytes"] for number, event in begins.items() if "alive_at_end" in ends[number].get("args", {}))
                self.assertEqual(left, report["totals"]["leaked_bytes"])
            self.assertEqual(trace["otherData"]["blocks_left_out"], 0)

    def test_counters_have_the_peaks_of_the_report(self):
        trace, report = self.trace("--pool", "cache", PROGRAMS / "training_demo")
        for device in report["processes"][0]["device_memory"]:
            for what in ("allocated", "reserved"):
                values = [event["args"]["bytes"] for event in trace["traceEvents"]
                          if event["ph"] == "C" and event["name"] == f"device {device['device']} {what}"]
                self.assertEqual(max(values), max(time[f"peak_{what}_bytes"] for time in device["timeline"]))

    def test_marks_are_instants(self):
        trace, report = self.trace(PROGRAMS / "phases", "nvtx")
        marks = [event["name"] for event in trace["traceEvents"] if event["ph"] == "i"]
        self.assertEqual(marks, [mark["name"] for mark in report["processes"][0]["marks"]])

    def test_of_a_crash_says_so(self):
        self.simulate(PROGRAMS / "ends", "SIGKILL")
        trace = json.loads(self.vramscope("export", "--to", "trace", "run.vsl")[1])
        self.assertIn("killed by signal 9", trace["otherData"]["incomplete"][0])


class TimelineTest(CliTest):
    def test_has_the_rows_of_the_report(self):
        status, _, errors = self.simulate("--pool", "cache", PROGRAMS / "training_demo")
        self.assertEqual(status, 0, errors)
        rows = list(csv.DictReader(io.StringIO(self.vramscope("export", "--to", "csv", "run.vsl")[1])))
        columns = list(rows[0])[2:7]
        expected = [(time["ns"], device["device"], *(time[column] for column in columns))
                    for device in self.read_json("run.json")["processes"][0]["device_memory"] for time in device["timeline"]]
        self.assertEqual([tuple(map(int, list(row.values())[:7])) for row in rows], expected)


if __name__ == "__main__":
    unittest.main()
