#!/usr/bin/env python3
# tests/tools/import_test.py — recordings of other tools as logs, and logs as snapshots of PyTorch.
#
# The snapshots are made here, and written and read by Python's own pickle.
import io
import json
import os
import pickle
import pickletools
import unittest

from cli import PROGRAMS, CliTest
from torch_snapshots import Allocator, LogOfASnapshot, events_of, expect_same, expect_same_snapshot, load, snapshot_of

# What memory_viz reads (torch/utils/viz/MemoryViz.js).
VIZ_OPCODES = set("""PROTO FRAME STOP MARK MEMOIZE BINPUT LONG_BINPUT BINGET LONG_BINGET NONE NEWTRUE NEWFALSE BININT BININT1 BININT2
LONG1 BINFLOAT SHORT_BINUNICODE BINUNICODE EMPTY_DICT DICT SETITEM SETITEMS EMPTY_LIST LIST APPEND APPENDS EMPTY_TUPLE TUPLE TUPLE1
TUPLE2 TUPLE3""".split())
VIEWS = ("report", "leaks", "peak", "timeline", "frag", "churn", "check")


class ImportTest(CliTest):
    def dump(self, value, protocol=4, name="snapshot.pickle"):
        path = self.folder / name
        path.write_bytes(value if isinstance(value, bytes) else pickle.dumps(value, protocol))
        return path

    def imported(self, value, protocol=4):
        self.dump(value, protocol)
        status, out, errors = self.vramscope("import", "snapshot.pickle", "-f", "-o", "run.vsl")
        self.assertEqual((status, errors), (0, ""), out)
        return out

    def log(self, name="run.vsl"):
        status, out, errors = self.vramscope("export", "--to", "jsonl", name)
        self.assertEqual((status, errors), (0, ""))
        return LogOfASnapshot(events_of(out))

    def exported(self, name="run.vsl"):
        status, out, errors = self.vramscope("export", "--to", "torch-snapshot", "-f", "-o", "out.pickle", name)
        self.assertEqual((status, out, errors), (0, "", ""))
        return load(self.folder / "out.pickle")

    def refused(self, content, *parts, name="snapshot.pickle"):
        self.dump(content, name=name)
        before = sorted(os.listdir(self.folder))
        status, out, errors = self.vramscope("import", name)
        self.assertEqual((status, out), (120, ""), errors)
        self.assert_one_line(errors, "vramscope: error: ", name, *parts)
        self.assertEqual(sorted(os.listdir(self.folder)), before)


class LogsOfOurs(ImportTest):
    def test_are_logs_already(self):
        self.assertEqual(self.simulate(PROGRAMS / "training_demo", "1")[0], 0)
        self.assertEqual(self.vramscope("pack", "-o", "packed.zst", "run.vsl")[0], 0)
        for name in ("run.vsl", "packed.zst"):
            for more in ([], ["-o", "other.vsl"], ["-f"]):
                status, out, errors = self.vramscope("import", *more, name)
                self.assertEqual((status, out), (120, ""))
                self.assert_one_line(errors, f"{name} is a log of vramscope's already")
        self.assertFalse((self.folder / "other.vsl").exists())


class SnapshotsOfPyTorch(ImportTest):
    def test_of_each_protocol_have_the_same_calls(self):
        snapshot = snapshot_of(Allocator(1).work(400))
        logs = set()
        for protocol in (2, 3, 4, 5):
            with self.subTest(protocol):
                self.imported(snapshot, protocol)
                expect_same(self, snapshot, self.log())
                logs.add((self.folder / "run.vsl").read_bytes())
        self.assertEqual(len(logs), 1)

    def test_whose_lists_are_written_at_once_are_read_as_in_batches(self):
        class AtOnce(pickle._Pickler):  # as PyTorch's C++ writes them
            _BATCHSIZE = 1 << 30

        snapshot = snapshot_of(Allocator(1).work(2000))
        out = io.BytesIO()
        AtOnce(out, 2).dump(snapshot)
        self.assertNotEqual(out.getvalue(), pickle.dumps(snapshot, 2))
        logs = []
        for content in (out.getvalue(), snapshot):
            self.imported(content, 2)
            expect_same(self, snapshot, self.log())
            logs.append((self.folder / "run.vsl").read_bytes())
        self.assertEqual(*logs)

    def test_whose_ring_lost_the_beginning_are_rolled_back(self):
        for ring in (1, 30, 300):
            for seed in range(4):
                with self.subTest(ring=ring, seed=seed):
                    snapshot = snapshot_of(Allocator(seed, ring=ring).work(600))
                    out = self.imported(snapshot)
                    self.assertIn("older than the recording", out)
                    expect_same(self, snapshot, self.log())

    def test_say_that_blocks_are_counted_as_they_were_requested(self):
        snapshot = snapshot_of(Allocator(1).work(600))
        left = [block for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] == "active_allocated"]
        requested, allocated = (sum(block[size] for block in left) for size in ("requested_size", "size"))
        self.assertLess(requested, allocated)
        out = self.imported(snapshot)
        self.assertIn(f"as they were requested, {requested} bytes at the end", " ".join(out.split()))
        self.assertIn(f"they had {allocated}", " ".join(out.split()))

    def test_of_several_devices_and_expandable_segments(self):
        snapshot = snapshot_of(Allocator(5).work(300), Allocator(6, device=1, expandable=True, ring=200).work(400),
                               Allocator(7, device=2, ring=50).work(300))
        self.imported(snapshot)
        expect_same(self, snapshot, self.log())
        status, _, _ = self.vramscope("report", "--json", "report.json", "run.vsl")
        self.assertEqual(status, 0)
        held = {row["device"]: row["at_end"]["waterfall"]["reserved"]
                for row in self.read_json("report.json")["processes"][0]["device_memory"]}
        for device in range(3):
            self.assertEqual(held[device], sum(segment["total_size"] for segment in snapshot["segments"]
                                               if segment["device"] == device))

    def test_survive_the_round_trip_with_every_number(self):
        for seed, ring, expandable in ((1, 10**9, False), (2, 100, False), (3, 10**9, True), (4, 100, True)):
            with self.subTest(seed):
                names = [{"stage": stage, "name": name, "device": 0, "time_us": 1_700_000_000_000_000 + at}
                         for at, (stage, name) in enumerate([("START", "a"), ("START", "b"), ("END", "b"), ("END", "a")])]
                snapshot = snapshot_of(Allocator(seed, ring=ring, expandable=expandable).work(500), annotations=names)
                self.imported(snapshot)
                again = self.exported()
                expect_same_snapshot(self, snapshot, again, stacks=True, places=False)
                self.assertEqual(again["external_annotations"], names)
                self.assertEqual(again["allocator_settings"], snapshot["allocator_settings"])
                first = self.log()
                self.imported(again)
                second = self.log()
                self.assertEqual((second.calls, second.blocks, second.segments), (first.calls, first.blocks, first.segments))

    def test_go_through_every_view(self):
        self.imported(snapshot_of(Allocator(8, ring=200).work(500)))
        for view in VIEWS:
            with self.subTest(view):
                status, out, errors = self.vramscope(view, "run.vsl")
                self.assertEqual((status, errors), (111 if view == "check" else 0, ""))
                self.assertNotIn("clean", out.splitlines()[0].lower())
        status, out, _ = self.vramscope("report", "run.vsl")
        self.assertIn("INCONCLUSIVE", out)
        self.assertIn("when the snapshot was taken", out)
        self.assertIn("net1.py:11", out)
        self.assertIn("is not known", out)
        self.assertEqual(self.vramscope("diff", "run.vsl", "run.vsl")[0], 0)

    def test_a_pipe_does_not_block(self):
        for name in ("f.vsl", "f.pickle"):  # where the log would be, too, and elsewhere
            os.mkfifo(self.folder / name)
            status, stdout, stderr = self.vramscope("import", name)
            self.assertEqual((status, stdout), (120, ""))
            self.assert_one_line(stderr, f"{name} is no regular file")
            self.assertTrue((self.folder / name).is_fifo())

    def test_become_a_page(self):
        self.imported(snapshot_of(Allocator(8, ring=200).work(500)))
        if not self.has_pages():
            self.skipTest("built without pages")
        self.assertEqual(self.vramscope("report", "--html", "page.html", "run.vsl")[0], 0)

    def test_that_were_out_of_memory_say_so(self):
        allocator = Allocator(9).work(100)
        allocator.event("oom", 0, 5 << 30, 0, allocator.stacks[3], device_free=777)
        del allocator.trace[-1]["addr"]
        self.imported(snapshot_of(allocator))
        status, _, _ = self.vramscope("report", "--json", "report.json", "run.vsl")
        self.assertEqual(status, 0)
        report = self.read_json("report.json")
        row = max(report["out_of_memory"], key=lambda row: row["at_ns"])
        live = sum(block["requested_size"] for _, block in allocator.live())
        self.assertEqual((row["requested_bytes"], row["free_bytes"], row["allocated_bytes"]), (5 << 30, 777, live))
        self.assertEqual([frame["function"] for frame in row["stack"]][:2], ["f0", "f1"])

    def test_of_older_versions_have_less_in_them(self):
        frames = [{"name": "f", "filename": "a.py", "line": 3}]
        blocks = [{"size": 1024, "state": "active_allocated", "history": [{"addr": 4096, "real_size": 1000, "frames": frames}]},
                  {"size": 512, "state": "active_allocated"}, {"size": 2 * 1024 * 1024 - 1536, "state": "inactive"}]
        segment = {"device": 0, "address": 4096, "total_size": 2 * 1024 * 1024, "stream": 0, "segment_type": "small",
                   "blocks": blocks, "allocated_size": 1536, "active_size": 1536}
        for old in ({"segments": [segment], "device_traces": [[]]}, [segment]):
            out = self.imported(old)
            self.assertIn("the sizes of 1 blocks are not known", out)
            log = self.log()
            self.assertEqual(log.blocks[0], {4096: 1000, 5120: 512})
            self.assertEqual(log.unknown, {5120})
            # What readers since 2.0's own want: without frames they take the size of the place.
            self.exported()
            known, unknown, _ = pickle.loads((self.folder / "out.pickle").read_bytes())["segments"][0]["blocks"]
            self.assertEqual(known["history"], [{"addr": 4096, "real_size": 1000, "frames": known["frames"]}])
            self.assertEqual(unknown.keys() & {"history", "frames", "requested_size"}, set())
        event = {"action": "alloc", "addr": 4096, "size": 1000, "stream": 0, "frames": frames}
        self.assertIn("no times", self.imported({"segments": [segment], "device_traces": [[event]]}))

    def test_without_times_are_given_back_without_times(self):
        snapshot = snapshot_of(Allocator(3, ring=200).work(300))
        for event in snapshot["device_traces"][0]:
            del event["time_us"]
        self.imported(snapshot)
        again = self.exported()
        self.assertFalse([event for event in again["device_traces"][0] if "time_us" in event])
        expect_same_snapshot(self, snapshot, again, places=False)
        self.assertIn("no times", self.imported(again))

    def test_tell_when_the_program_took_snapshots(self):
        allocator = Allocator(3, device=1).work(50)
        allocator.event("snapshot", 0, 123456789, 0, [])
        snapshot = snapshot_of(Allocator(4).work(20), allocator.work(50))
        self.imported(snapshot)
        expect_same_snapshot(self, snapshot, self.exported(), places=False)
        self.assertIn("active bytes: 123456789", self.vramscope("timeline", "run.vsl")[1])

    def test_know_what_waits_for_streams_since_before_they_began(self):
        for completed in (True, False):
            with self.subTest(completed=completed):
                allocator = Allocator(5).work(200)
                while not allocator.live("active_pending_free"):
                    allocator.free()
                segment, block = allocator.live("active_pending_free")[0]
                allocator.trace.clear()
                if completed:
                    allocator.complete(segment, block)
                allocator.malloc(700)
                snapshot = snapshot_of(allocator)
                self.imported(snapshot)
                expect_same(self, snapshot, self.log())
                expect_same_snapshot(self, snapshot, self.exported(), places=False)
                self.vramscope("report", "--json", "report.json", "run.vsl")
                waiting = sum(each["requested_size"] for _, each in allocator.live("active_pending_free"))
                memory, = self.read_json("report.json")["processes"][0]["device_memory"][0]["allocators"]
                live = sum(each["requested_size"] for _, each in allocator.live())
                self.assertEqual((memory["allocated_bytes"]["current"], memory["active_bytes"]["current"]), (live, live + waiting))

    def test_without_requests_to_free_end_blocks_when_they_are_free(self):
        allocator = Allocator(6)
        for _ in range(200):
            allocator.malloc(5000)
            segment, block = allocator.live()[0]
            allocator.complete(segment, block)
        snapshot = snapshot_of(allocator)
        self.imported(snapshot)
        log = self.log()
        self.assertEqual(log.blocks[0], {})
        self.assertEqual(sum(call[0] == "free" for call in log.calls[0]), 200)

    def test_whose_lines_are_below_zero_do_not_know_them(self):
        snapshot = snapshot_of(Allocator(1).work(20))
        for event in snapshot["device_traces"][0]:
            event["frames"] = [{"name": "f", "filename": "a.py", "line": 2 ** 64 - 1}]  # as PyTorch writes -1
        self.imported(snapshot)
        self.assertEqual({frame["line"] for event in self.exported()["device_traces"][0] if event["action"] == "alloc"
                          for frame in event["frames"]}, {0})
        self.dump(pickle.dumps({"segments": [], "device_traces": [], "more": 2 ** 64}))
        self.assertIn("64 bits", self.vramscope("import", "-f", "snapshot.pickle", "-o", "run.vsl")[2])

    def test_of_newer_versions_have_more_in_them(self):
        snapshot = snapshot_of(Allocator(1).work(50))
        snapshot["host_traces"] = [{"what": [1.5, None, (1, 2, 3), b"bytes", {"a": -(1 << 40)}]}]
        for event in snapshot["device_traces"][0]:
            event.update(compile_context="0/0", pool_id=(0, 0))
            for frame in event["frames"]:
                frame["fx_node_name"] = "add"
        self.imported(snapshot)
        expect_same(self, snapshot, self.log())


class WhatIsNoSnapshot(ImportTest):
    def test_runs_nothing(self):
        class Evil:
            def __reduce__(self):
                return os.system, (f"touch {self.folder}/evil",)
        Evil.folder = self.folder
        for protocol, word in ((2, "GLOBAL"), (4, "STACK_GLOBAL")):
            self.refused(pickle.dumps({"segments": [Evil()]}, protocol), f"{word} (0x", "nothing is run", "at byte ")

    def test_is_refused_in_one_line(self):
        good = pickle.dumps(snapshot_of(Allocator(1).work(30)), 4)
        for content, part in ((b"", "neither"), (b"hello", "neither"), (b"\x80\x09.", "protocol 9"), (good[:-1], "cut"),
                              (good[:100], "cut"), (b"\x80\x02\xff.", "no opcode"), (pickle.dumps([1, 2]), "no memory snapshot"),
                              (pickle.dumps({"segments": 1, "device_traces": 2}), "no list"),
                              (pickle.dumps({"segments": [], "device_traces": [[{"action": "alloc", "addr": "x"}]]}), "no number"),
                              (pickle.dumps({"segments": [], "device_traces": [[{"action": 5}]]}), "no text"),
                              (b"\x80\x02]q\x05.", "remembers"), (b"\x80\x02h\x05.", "never remembered"),
                              (b"\x80\x02e.", "there is none"), (b"\x80\x02a.", "than there is"), (b"\x80\x02.", "one value"),
                              (b"\x80\x02X\xff\xff\xff\x7f", "16 MiB"), (b"\x80\x04\x8e" + b"\xff" * 8, "16 MiB"),
                              (b"\x80\x02X\xff\xff\x00\x00", "cut"),
                              (b"\x80\x02\x8b\xff\xff\xff\x7f", "cut"), (b"\x80\x04]\x94h\x00a.", "read already")):
            with self.subTest(content[:20]):
                self.refused(content, part)

    def test_cannot_ask_for_much_memory(self):
        bombs = (b"\x80\x04" + b"]" * 10_000_000 + b".", b"\x80\x04" + b"(" * 10_000_000 + b".",
                 b"\x80\x04N" + b"\x94" * 10_000_000 + b".", b"\x80\x04" + b"]\x94" + b"h\x00" * 5_000_000 + b".",
                 b"\x80\x04" + b"".join(b"]" + b"(" + b"h\x00" * 10 + b"e" for _ in range(100)) + b".")
        maps = [{"action": "segment_map", "addr": at << 42, "size": 1 << 41, "stream": 0} for at in range(1, 50)]
        bombs += (pickle.dumps({"segments": [], "device_traces": [maps]}),)
        many = [{"action": "alloc", "addr": at << 12, "size": 512, "time_us": at, "frames": []} for at in range(2000)]
        bombs += (pickle.dumps({"segments": [], "device_traces": [many] * 1024}),)
        blocks = [{"size": 512, "state": "active_allocated"} for at in range(2000)]
        segments = [{"address": at << 30, "total_size": 1 << 20, "blocks": blocks} for at in range(1024)]
        bombs += (pickle.dumps({"segments": segments, "device_traces": []}),)
        there_and_gone = [{"action": f"segment_{what}", "addr": 1 << 40, "size": 1 << 39, "time_us": at}
                          for at in range(50) for what in ("map", "unmap")]
        bombs += (pickle.dumps({"segments": [], "device_traces": [there_and_gone]}),)
        for bomb in bombs:
            with self.subTest(bomb[:8]):
                self.dump(bomb)
                status, _, errors = self.vramscope("import", "snapshot.pickle")
                self.assertEqual(status, 120)
                self.assert_one_line(errors, "snapshot.pickle")

    def test_cut_at_any_byte_is_refused(self):
        good = pickle.dumps(snapshot_of(Allocator(2).work(4)), 4)
        for length in range(0, len(good) - 1, max(1, len(good) // 40)):
            self.refused(good[:length], name="cut.pickle")

    def test_is_never_written_over(self):
        self.imported(snapshot_of(Allocator(1).work(5)))
        status, _, errors = self.vramscope("import", "snapshot.pickle", "-o", "run.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(errors, "run.vsl")
        status, _, errors = self.vramscope("import", "snapshot.pickle", "-f", "-o", "snapshot.pickle")
        self.assertEqual(status, 125)


class LogsOfRmm(ImportTest):
    HEAD = "Thread,Time,Action,Pointer,Size,Stream\n"

    def import_rmm(self, lines):
        (self.folder / "rmm.csv").write_text(self.HEAD + lines)
        return self.vramscope("import", "-f", "rmm.csv", "-o", "run.vsl")

    def test_have_blocks_streams_and_failures_over_midnight(self):
        status, out, errors = self.import_rmm("1,23:59:59.999999,allocate,0x7f0000000000,1000,0x5a\n"
                                              "2,00:00:00.000001,allocate,0x7f0000000400,24,0\n"
                                              "1,00:00:00.000001,free,0x7f0000000000,1000,0x5a\n"
                                              "1,00:00:00:000005,free,0x7f0000000800,4096,(nil)\n"
                                              "2,00:00:01.000000,allocate failure,(nil),99999,0\n")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("RMM log, 5 events, 1 blocks", out)
        self.assertIn("no call stacks", out)
        events = [event for event in events_of(self.vramscope("export", "--to", "jsonl", "run.vsl")[1])
                  if event["type"] in ("alloc", "free", "failed")]
        self.assertEqual([(event["type"], event.get("address"), event.get("bytes")) for event in events],
                         [("alloc", "0x7f0000000800", 4096), ("alloc", "0x7f0000000000", 1000), ("alloc", "0x7f0000000400", 24),
                          ("free", "0x7f0000000000", None), ("free", "0x7f0000000800", None), ("failed", "0x0", 99999)])
        self.assertEqual(events[2]["ns"] - events[1]["ns"], 2000)
        self.assertEqual(events[1]["stream"], "0x5a")
        status, out, _ = self.vramscope("report", "run.vsl")
        self.assertEqual(status, 0)
        self.assertIn("INCONCLUSIVE", out)

    def test_with_a_bad_line_name_it(self):
        good = "1,00:00:00.000001,allocate,0x7f0000000000,1000,0\n"
        for bad, part in (("1,2,3\n", "3 values"), ("1,25:00:00.000001,free,0x1,1,0\n", "no time"), ("1,00:00:00.000001,frees,0x1,1,0\n", "no action"),
                          ("1,00:00:00.000001,free,zz,1,0\n", "no pointer"), ("x,00:00:00.000001,free,0x1,1,0\n", "no thread"),
                          ("1,00:00:00.000001,free,0x1,-1,0\n", "no size"), ("1,00:00:00.000001,free,0x1,1,s\n", "no stream"),
                          ("1" * 5000 + "\n", "more than 4096 bytes")):
            with self.subTest(bad[:40]):
                status, _, errors = self.import_rmm(good + bad)
                self.assertEqual(status, 120)
                self.assert_one_line(errors, "rmm.csv:3: ", part)

    def test_whose_last_line_is_cut_say_so(self):
        status, out, _ = self.import_rmm("1,00:00:00.000001,allocate,0x7f0000000000,1000,0\n1,00:00:00.00")
        self.assertEqual(status, 0)
        self.assertIn("the last line is cut", out)


class LogsOfOtherPrograms(ImportTest):
    def test_become_snapshots_that_memory_viz_can_read(self):
        for mode in ("cache", "split", "off"):
            with self.subTest(mode):
                status, _, errors = self.simulate("--pool", mode, PROGRAMS / "training_demo")
                self.assertEqual(status, 0, errors)
                snapshot = self.exported()
                raw = (self.folder / "out.pickle").read_bytes()
                self.assertLessEqual({code.name for code, _, _ in pickletools.genops(raw)}, VIZ_OPCODES)
                leaked = sum(leak["bytes"] for leak in self.read_json("run.json")["leaks"]
                             if leak["memory"] not in ("pinned", "registered"))
                self.assertEqual(sum(segment["requested_size"] for segment in snapshot["segments"]), leaked)
                for segment in snapshot["segments"]:
                    self.assertEqual(sum(block["size"] for block in segment["blocks"]), segment["total_size"])
                self.assertTrue(any("training_demo" in frame["filename"] for event in snapshot["device_traces"][0]
                                    for frame in event["frames"]))
                self.assertEqual(self.vramscope("import", "-f", "out.pickle", "-o", "again.vsl")[0], 0)
                expect_same(self, snapshot, self.log("again.vsl"))


if __name__ == "__main__":
    unittest.main()
