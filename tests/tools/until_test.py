#!/usr/bin/env python3
# tests/tools/until_test.py — a view up to a moment shows what there was at that moment.
import json
import unittest

from cli import PROGRAMS, CliTest


class UntilTest(CliTest):
    def setUp(self):
        super().setUp()
        status, _, errors = self.simulate("--pool", "cache", PROGRAMS / "training_demo", "3")
        self.assertEqual(status, 0, errors)
        self.vramscope("report", "--pool-blocks", "-q", "--force", "--json", "run.json", "run.vsl")
        self.whole = self.read_json("run.json")

    def until(self, time):
        status, _, errors = self.vramscope("report", "--until", time, "--pool-blocks", "--force", "--json", "then.json", "run.vsl")
        self.assertEqual((status, errors), (0, ""))
        return self.read_json("then.json")

    def events(self):
        status, stdout, errors = self.vramscope("export", "--to", "jsonl", "run.vsl")
        self.assertEqual((status, errors), (0, ""))
        events = list(map(json.loads, stdout.splitlines()))
        memory = {event["id"]: event["memory"] for event in events if event["type"] == "api"}
        objects = ("stream", "event", "graph", "graph_exec", "module", "library", "context", "pool")
        return [event for event in events if event["type"] in ("alloc", "free") and memory[event["api"]] not in objects]

    def test_holds_what_was_alive_then(self):
        events = self.events()
        for at in (len(events) // 4, len(events) // 2, len(events) - 2):
            alive = {}
            for event in events[:at]:
                if event["type"] == "alloc":
                    alive[event["address"]] = event["bytes"]
                else:
                    del alive[event["address"]]
            then = self.until(f"{events[at - 1]['ns'] + 1}ns")
            totals = then["totals"]
            self.assertEqual((totals["leaked_blocks"], totals["leaked_bytes"]), (len(alive), sum(alive.values())))
            self.assertEqual(totals["allocations"], sum(event["type"] == "alloc" for event in events[:at]))

    def test_from_a_time_on_what_was_allocated_earlier_is_left_out(self):
        events = self.events()
        for at in (0, len(events) // 4, len(events) // 2, len(events) - 1):
            from_ns = events[at]["ns"] - 1
            alive = {}
            for event in events:
                if event["type"] == "alloc":
                    alive[event["address"]] = event
                else:
                    del alive[event["address"]]
            late = [event["bytes"] for event in alive.values() if event["ns"] > from_ns]
            status, stdout, errors = self.vramscope("leaks", "--from", f"{from_ns}ns", "--json", "-", "run.vsl")
            self.assertEqual((status, errors), (0, ""))
            then = json.loads(stdout)
            self.assertEqual((then["totals"]["leaked_blocks"], then["totals"]["leaked_bytes"]), (len(late), sum(late)))
            self.assertEqual(sum(leak["bytes"] for leak in then["leaks"]), sum(late))
            self.assertEqual(then["verdict"], "inconclusive")
            self.assertIn("the time of --from", "".join(then["verdict_reasons"]))
            for name in ("allocations", "peak_device_bytes"):  # all else is that of the whole run
                self.assertEqual(then["totals"][name], self.whole["totals"][name])
        self.assertEqual(self.vramscope("report", "--from", "1s", "run.vsl")[0], 125)
        self.assert_one_line(self.vramscope("leaks", "--from", "soon", "run.vsl")[2], "--from soon is no time")
        status, stdout, errors = self.vramscope("leaks", "--from", "500ms", "--until", "0.2 s", "run.vsl")
        self.assertEqual((status, stdout), (125, ""))
        self.assert_one_line(errors, "--from 500ms is later than --until 0.2 s")

    def test_the_segments_at_the_end_are_those_of_that_moment(self):
        peak = self.whole["processes"][0]["pool"]["devices"][0]["at_peak"]
        then = self.until(f"{peak['ns'] + 1}ns")["processes"][0]["pool"]["devices"][0]["at_end"]
        self.assertEqual(then["segments"], peak["segments"])
        end = self.whole["processes"][0]["pool"]["devices"][0]["at_end"]
        self.assertNotEqual(end["segments"], peak["segments"])

    def test_is_no_verdict(self):
        status, text, errors = self.vramscope("report", "--until", "1 ms", "run.vsl")
        self.assertEqual((status, errors), (0, ""))
        self.assertIn("Held then", text)
        self.assertIn("up to the time of --until", text)
        # On a loaded machine a program may not have come to its first call after 1 ms.
        then = self.until(f"{self.whole['processes'][0]['duration_ns'] // 2}ns")
        self.assertEqual((then["verdict"], then["processes"][0]["end"]["kind"]), ("inconclusive", "not-read"))
        self.assertEqual({leak["kind"] for leak in then["leaks"]}, {"in-use-now"})

    def test_nothing_was_there_before_the_first_call(self):
        self.assertEqual(self.until("0s")["totals"]["leaked_blocks"], 0)

    def test_what_is_no_time_is_refused(self):
        for time in ("12", "-1s", "soon", "1 parsec", "nan s"):
            with self.subTest(time):
                status, _, errors = self.vramscope("report", f"--until={time}", "run.vsl")
                self.assertEqual(status, 125)
                self.assert_one_line(errors, "--until")


if __name__ == "__main__":
    unittest.main()
