#!/usr/bin/env python3
# tests/oracle/pprof_test.py — go tool pprof and protoc read our profiles as we read the log.
import collections
import pathlib
import re
import unittest

from oracle import CHANGES, DEVICE_MEMORY, HOST_MEMORY, TRACED, OracleTest, leaked_by_function, needs, why_not

PARAMETERS = re.compile(r"\(.*\)")  # which pprof leaves out of some names
PROTO = pathlib.Path("/usr/share/gocode/src/github.com/google/pprof/proto")
KINDS = ("alloc_objects", "alloc_space", "inuse_objects", "inuse_space")


class PprofTest(OracleTest):
    def raw(self, file):
        """Of each sample its four values and its labels, as pprof has read them."""
        samples = []
        text = self.ask("go", "tool", "pprof", "-raw", file)
        body = text[text.index("Samples:"):text.index("\nLocations")].splitlines()
        self.assertEqual(re.findall(r"(\w+)/", body[1]), list(KINDS))
        for line in body[2:]:
            if numbers := re.match(r"^ *((?:\d+ +){3}\d+): ", line):
                samples.append((dict(zip(KINDS, map(int, numbers[1].split()))), {}))
            else:
                samples[-1][1].update(re.findall(r"(\w+):\[([^\]]*)\]", line))
        return samples

    def totals(self, file):
        return {kind: sum(values[kind] for values, _ in self.raw(file)) for kind in KINDS}

    def top(self, file, kind, *options):
        """Flat values by function, in bytes or calls."""
        text = self.ask("go", "tool", "pprof", "-top", "-nodecount=100000", "-nodefraction=0", "-unit=B", f"-sample_index={kind}",
                        *options, file)
        rows = re.findall(r"^ *(-?[0-9.]+)B? +\S+ +\S+ +\S+ +\S+ +(.*)$", text[text.index("flat  flat%"):], re.M)
        return {name.removesuffix(" (inline)"): int(number) for number, name in rows if number != "0"}

    def test_agrees_on_the_totals(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                totals = report["totals"]
                self.assertEqual(self.totals(self.export(log, "pprof")),
                                 {"alloc_objects": totals["allocations"], "alloc_space": totals["allocated_bytes"],
                                  "inuse_objects": totals["leaked_blocks"], "inuse_space": totals["leaked_bytes"]})

    def test_agrees_on_who_leaked(self):
        log, report = self.trace_log("training_demo")
        found = self.top(self.export(log, "pprof"), "inuse_space")
        expected = leaked_by_function(report, DEVICE_MEMORY | HOST_MEMORY)
        self.assertEqual({PARAMETERS.sub("", name): leaked for name, leaked in found.items()},
                         {PARAMETERS.sub("", name): leaked for name, leaked in expected.items()})

    def test_labels_say_which_memory_and_which_call(self):
        log, report = self.trace_log("training_demo")
        sums = collections.Counter()
        for values, labels in self.raw(self.export(log, "pprof")):
            sums[labels["memory"], labels["api"], labels.get("device")] += values["inuse_space"]
        expected = collections.Counter()
        for leak in report["leaks"]:
            device = None if leak["device"] is None else str(leak["device"])
            expected[leak["memory"], leak["api"], device] += leak["bytes"]
        self.assertEqual(+sums, expected)
        phases = {labels.get("phase") for _, labels in self.raw(self.export(log, "pprof"))}
        self.assertIn("epoch/step", phases)

    def test_has_nothing_that_protoc_does_not_know(self):
        if why := why_not("protoc"):
            self.skip(why)
        if not PROTO.is_dir():
            self.skip(f"there is no {PROTO} here (./scripts/setup --tests)")
        log, report = self.trace_log("training_demo")
        file = self.export(log, "pprof")
        done = self.execute("sh", "-c", f"gunzip <{file} | protoc -I {PROTO} --decode perftools.profiles.Profile profile.proto")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertNotRegex(done.stdout, r"(?m)^ *\d+:")  # a field that profile.proto has no name for
        self.assertEqual(done.stdout.count("\nsample_type {") + done.stdout.startswith("sample_type {"), 4)
        self.assertIn('string_table: "cudaMalloc"', done.stdout)
        inuse = sum(int(values[3]) for values in re.findall(
            r"value: (\d+)\n *value: (\d+)\n *value: (\d+)\n *value: (\d+)", done.stdout))
        self.assertEqual(inuse, report["totals"]["leaked_bytes"])

    def test_keeps_inlined_calls_apart(self):
        log, report = self.trace_log("training_demo")
        text = self.ask("go", "tool", "pprof", "-traces", "-sample_index=alloc_space", self.export(log, "pprof"))
        self.assertIn("main", text)
        self.assertNotIn("libvramscope", text)

    def test_agrees_on_what_changed(self):
        for what, (before, after) in CHANGES.items():
            with self.subTest(what):
                base, now = self.two_logs(before, after)
                found = self.top(self.export(now, "pprof"), "inuse_space", f"-diff_base={self.export(base, 'pprof')}")
                expected = self.changes(base, now)
                self.assertEqual({PARAMETERS.sub("", name): change for name, change in found.items()},
                                 {PARAMETERS.sub("", name): change for name, change in expected.items()})
                base.unlink()
                now.unlink()

    def test_of_a_run_that_does_not_show_all_says_so(self):
        log, _ = self.trace_log("ends", "SIGSEGV", status=128 + 11)
        text = self.ask("go", "tool", "pprof", "-comments", self.export(log, "pprof"))
        self.assertIn("inconclusive: the program was killed by signal 11", text)


if __name__ == "__main__":
    needs("go")
    unittest.main()
