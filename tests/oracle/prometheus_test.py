#!/usr/bin/env python3
# tests/oracle/prometheus_test.py — promtool and Prometheus's own parser read our metrics, and they are the report's numbers.
import json
import unittest

from oracle import GPU, PROGRAMS, TRACED, VRAMSCOPE, OracleTest, why_not

PARSE = """
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse
print(json.dumps([[one.name, one.labels, one.value] for family in parse(open(sys.argv[1]).read()) for one in family.samples]))
"""


class PrometheusTest(OracleTest):
    def test_promtool_has_nothing_to_say(self):
        if why := why_not("promtool"):
            self.skip(why)
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, _):
                done = self.execute("sh", "-c", f"promtool check metrics <{self.export(log, 'openmetrics')}")
                self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    def samples(self, log):
        if self.execute("/usr/bin/python3", "-c", "import prometheus_client.openmetrics").returncode != 0:
            self.skip("there is no python3-prometheus-client here (./scripts/setup --tests)")
        return json.loads(self.ask("/usr/bin/python3", "-c", PARSE, self.export(log, "openmetrics")))

    def test_openmetrics_has_the_numbers_of_the_report(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                plain = {name: value for name, labels, value in self.samples(log) if not labels}
                totals = report["totals"]
                for ours, theirs in {"leaked_bytes": "leaked_bytes", "leaked_blocks": "leaked_blocks", "allocations": "allocations",
                                     "frees": "frees", "unclosed_imports": "unclosed_imports"}.items():
                    self.assertEqual(plain[f"vramscope_{ours}"], totals[theirs], ours)
                kinds = {labels["memory"]: value for name, labels, value in self.samples(log) if name == "vramscope_leaked_by_memory_bytes"}
                self.assertEqual(sum(kinds.values()), totals["leaked_bytes"])

    def test_a_hostile_program_is_a_label(self):
        name = 'a"b\\c}'
        (self.folder / name).write_bytes((PROGRAMS / "ends").read_bytes())
        (self.folder / name).chmod(0o755)
        self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", "hostile.vsl", f"./{name}", "SIGKILL")
        (labels,) = [labels for name, labels, _ in self.samples(self.folder / "hostile.vsl") if name == "vramscope_verdict"]
        self.assertEqual(labels, {"verdict": "inconclusive", "program": name})


if __name__ == "__main__":
    unittest.main()
