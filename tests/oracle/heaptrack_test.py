#!/usr/bin/env python3
# tests/oracle/heaptrack_test.py — heaptrack_print counts our heaptrack files as we count the log.
import collections
import re
import unittest

from oracle import CHANGES, DEVICE_MEMORY, TRACED, OracleTest, leaked_by_function, needs


class HeaptrackTest(OracleTest):
    def folded(self, file, cost, *options):
        """Of one cost, exactly: heaptrack's sums by stack, root;…;leaf."""
        out = self.folder / f"folded.{cost}"
        self.ask("heaptrack_print", "-f", file, "--disable-builtin-suppressions", "--flamegraph-cost-type", cost, "-F", out,
                 *options, "-p", "0", "-a", "0", "-T", "0", "-t", "0", "-m", "0")
        sums = collections.Counter()
        for line in out.read_text().splitlines():
            stack, _, number = line.rpartition(" ")
            sums[stack] += int(number)
        return sums

    def totals(self, file):
        return {cost: sum(self.folded(file, cost).values()) for cost in ("allocations", "temporary", "leaked", "peak")}

    @staticmethod
    def recount(events):
        """A naive count of the events themselves."""
        live, peak, allocations, temporary = {}, 0, 0, 0
        last = None
        stacks = {line["id"]: line for line in events if line["type"] == "stack"}
        for event in events:
            if event["type"] == "alloc" and event["memory"] in DEVICE_MEMORY:
                allocations += 1
                last = (event["bytes"], str(stacks.get(event["stack"])))
                live[event["address"]] = last
                peak = max(peak, sum(size for size, _ in live.values()))
            elif event["type"] == "free" and event["address"] in live:
                temporary += live.pop(event["address"]) == last
                last = None
        return {"allocations": allocations, "temporary": temporary, "peak": peak}

    def test_agrees_on_what_leaked_and_on_the_peak(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                found = self.totals(self.export(log, "heaptrack"))
                leaked = leaked_by_function(report, DEVICE_MEMORY, but=("leaked-at-reset",))
                self.assertEqual((found["leaked"], found["peak"]),
                                 (sum(leaked.values()), report["totals"]["peak_device_bytes"]))

    def test_agrees_on_calls_and_on_temporary_allocations(self):
        log, _ = self.trace_log("training_demo")
        found = self.totals(self.export(log, "heaptrack"))
        expected = self.recount(self.events(log))
        self.assertGreater(expected["temporary"], 0)
        self.assertEqual({cost: found[cost] for cost in expected}, expected)

    def test_agrees_on_who_leaked(self):
        log, report = self.trace_log("training_demo")
        folded = self.folded(self.export(log, "heaptrack"), "leaked")
        # heaptrack_print sets inlined calls before the function that they are in: who is in the stack, it tells right.
        found = collections.Counter()
        expected = leaked_by_function(report, DEVICE_MEMORY)
        for stack, leaked in folded.items():
            frames = [frame.rpartition(" (")[0] for frame in stack.split(";")]
            for name in expected.keys() & set(frames):
                found[name] += leaked
        self.assertEqual(found, expected)

    def test_prints_the_same_totals_for_a_person(self):
        log, report = self.trace_log("training_demo")
        text = self.ask("heaptrack_print", "-f", self.export(log, "heaptrack"), "--disable-builtin-suppressions")
        leaked = float(re.search(r"total memory leaked: ([0-9.]+)M", text)[1])
        self.assertAlmostEqual(leaked, report["totals"]["leaked_by_memory"]["device"]["bytes"] / 1e6, delta=0.01)

    def test_agrees_on_what_changed(self):
        for what, (before, after) in CHANGES.items():
            with self.subTest(what):
                base, now = self.two_logs(before, after)
                folded = self.folded(self.export(now, "heaptrack"), "leaked", "-d", self.export(base, "heaptrack"))
                self.assertEqual(sum(folded.values()), sum(self.changes(base, now).values()))
                base.unlink()
                now.unlink()


if __name__ == "__main__":
    needs("heaptrack_print")
    unittest.main()
