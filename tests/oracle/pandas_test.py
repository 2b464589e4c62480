#!/usr/bin/env python3
# tests/oracle/pandas_test.py — DataFrames of a log add up to its report, by pandas.
import json
import unittest

from oracle import BUILD, DEVICE_MEMORY, HOST_MEMORY, NOT_HERE, PROGRAMS, TRACED, VRAMSCOPE, OracleTest

DEBIANS = "/usr/bin/python3"  # for whose packages pandas is one
SUMS = f"""
import json, sys
import vramscope

def peak(blocks):
    # At one time, what ends goes first.
    changes = [(row.allocated_ns, row.bytes) for row in blocks.itertuples()]
    changes += [(row.freed_ns, -row.bytes) for row in blocks[blocks.freed_ns.notna()].itertuples()]
    most = now = 0
    for _, change in sorted(changes):
        now += change
        most = max(most, now)
    return most

def by_device(sums):
    return {{str(device): int(most) for device, most in sums.items()}}

run = vramscope.load(*sys.argv[1:], pandas=True)
blocks = run.blocks
leaked = blocks[blocks.end.isin(["alive", "context"])]
print(json.dumps({{
    "verdict": run.verdict,
    "totals": {{
        "allocations": len(blocks), "frees": (blocks.end == "freed").sum(), "allocated_bytes": blocks.bytes.sum(),
        "leaked_bytes": leaked.bytes.sum(), "leaked_blocks": len(leaked),
        "peak_device_bytes": peak(blocks[blocks.memory.isin({sorted(DEVICE_MEMORY)})]),
        "peak_host_bytes": peak(blocks[blocks.memory.isin({sorted(HOST_MEMORY)})]),
    }},
    "of_leaks": [run.leaks.bytes.sum(), run.leaks.blocks.sum()],
    "by_place": sorted(leaked.groupby(["fingerprint", "memory"], observed=True).bytes.sum().reset_index().values.tolist()),
    "leaks_by_place": sorted(run.leaks.groupby(["fingerprint", "memory"]).bytes.sum().reset_index().values.tolist()),
    "names": [sorted({{(row.fingerprint, row.api, row.function, row.file, row.line, row.stack) for row in table.itertuples()}}, key=str)
              for table in (leaked, run.leaks)],
    "peaks": run.devices[["peak_allocated_bytes", "peak_requested_bytes"]].values.tolist(),
    "of_peak": by_device(run.peak.groupby("device").bytes.sum()),
    "timeline": by_device(run.timeline.groupby("device").peak_allocated_bytes.max()),
    "types": {{name: [str(table[name].dtype) for name in columns] for name, table, columns in
              [("blocks", blocks, ["allocated_ns", "freed_ns", "device", "stack"]), ("leaks", run.leaks, ["bytes", "device", "line"])]}},
}}, default=int))
"""


class PandasTest(OracleTest):
    def sums(self, *logs):
        done = self.execute(DEBIANS, "-W", "error::FutureWarning", "-c", SUMS, *logs, PYTHONPATH=str(BUILD / "lib/vramscope/python"))
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def assert_same(self, sums, report):
        self.assertEqual(sums["verdict"], report["verdict"])
        self.assertEqual(sums["totals"], {name: report["totals"][name] for name in sums["totals"]})
        self.assertEqual(sums["of_leaks"], [report["totals"]["leaked_bytes"], report["totals"]["leaked_blocks"]])
        self.assertEqual(sums["by_place"], sums["leaks_by_place"])
        self.assertEqual(*sums["names"])
        devices = [device for process in report["processes"] for device in process["device_memory"]]
        self.assertEqual(sums["peaks"], [[device["at_peak"]["waterfall"]["allocated"], device["requested_bytes"]["peak"]]
                                         for device in devices])
        self.assertEqual(sums["of_peak"], {str(device["device"]): device["peak"]["bytes"] for device in devices if device["peak"]["bytes"]})

    def test_sums_are_those_of_the_report(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                self.assert_same(self.sums(log), report)

    def test_whole_numbers_stay_whole_where_one_is_unknown(self):
        log, _ = self.trace_log("training_demo")
        sums = self.sums(log)
        self.assertEqual(sums["types"], {"blocks": ["Int64", "Int64", "Int64", "category"], "leaks": ["Int64", "Int64", "Int64"]})
        self.assertEqual(sums["timeline"], {"0": sums["peaks"][0][0]})

    def test_a_log_without_leaks_and_marks_has_all_columns(self):
        clean = "../corpus/advice_redundant_pairs"
        if not (PROGRAMS / clean).exists():
            self.skip("the corpus is not built")
        log, _ = self.trace_log(clean)
        done = self.execute(DEBIANS, "-c", "import sys, vramscope\nrun = vramscope.load(sys.argv[1], pandas=True)\n"
                            "print(run.verdict, run.leaks.bytes.sum(), len(run.marks.name), list(run.growth.columns)[:2])", log,
                            PYTHONPATH=str(BUILD / "lib/vramscope/python"))
        self.assertEqual(done.stdout, "clean 0 0 ['process', 'per']\n", done.stderr)

    def test_several_logs_are_one_frame(self):
        logs = self.two_logs(["training_demo"], ["memory_kinds", "managed"])
        done = self.execute(VRAMSCOPE, "report", "--json", "-", *logs)
        report, sums = json.loads(done.stdout), self.sums(*logs)
        for name in ("allocations", "frees", "allocated_bytes", "leaked_bytes", "leaked_blocks"):
            self.assertEqual(sums["totals"][name], report["totals"][name], name)
        self.assertEqual(sums["types"]["blocks"][3], "category")


if __name__ == "__main__":
    import subprocess
    import sys
    if subprocess.run([DEBIANS, "-c", "import pandas"], capture_output=True).returncode != 0:
        print("SKIPPED: there is no pandas here (./scripts/setup --tests)")
        sys.exit(NOT_HERE)
    unittest.main()
