#!/usr/bin/env python3
# tests/oracle/prometheus_test.py — promtool and Prometheus's own parser read our metrics, and they are the report's numbers.
import json
import shutil
import socket
import subprocess
import time
import unittest
import urllib.request

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
                plain = {name: value for name, labels, value in self.samples(log) if set(labels) == {"program", "pid"}}
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
        self.assertEqual((labels["verdict"], labels["program"]), ("inconclusive", name))

    def test_samples_are_told_apart_by_rank_job_and_device(self):
        samples = []
        for rank in "01":
            self.execute(VRAMSCOPE, "run", "--simulate", "2x1GiB", "-o", f"{rank}.vsl", PROGRAMS / "memory_kinds", "managed",
                         SLURM_PROCID=rank, SLURM_JOB_ID="77")
            samples += self.samples(self.folder / f"{rank}.vsl")
        told = [(name, *sorted(labels.items())) for name, labels, _ in samples]
        self.assertEqual(len(told), len(set(told)))
        for _, labels, _ in samples:
            self.assertEqual(labels["job"], "77")
            self.assertNotIn("pid", labels)
        devices = {(labels["gpu"], labels["UUID"]) for _, labels, _ in samples if "gpu" in labels}
        # The 16 bytes of a simulated device's name, as NVIDIA's tools write such names.
        self.assertIn(("0", "GPU-73696d75-6c61-7465-642d-6770752d3030"), devices)

    def test_node_exporter_itself_has_all_samples_of_two_ranks(self):
        exporter = shutil.which("prometheus-node-exporter")
        if not exporter:
            self.skip("there is no prometheus-node-exporter here (./scripts/setup --tests)")
        wanted = 0
        folder = self.folder / "textfiles"
        folder.mkdir()
        for rank in "01":
            self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", f"{rank}.vsl", PROGRAMS / "ends", "exit", SLURM_PROCID=rank)
            text = self.export(self.folder / f"{rank}.vsl", "openmetrics").read_text()
            (folder / f"{rank}.prom").write_text(text)
            wanted += sum(line.startswith("vramscope_") for line in text.splitlines())
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([exporter, "--collector.disable-defaults", "--collector.textfile",
                                   f"--collector.textfile.directory={folder}", f"--web.listen-address=127.0.0.1:{port}"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        for _ in range(600):
            try:
                page = urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60).read().decode()
                break
            except OSError:
                time.sleep(0.1)
        else:
            self.fail("node_exporter did not answer for a minute")
        self.assertEqual(sum(line.startswith("vramscope_") for line in page.splitlines()), wanted)
        self.assertIn("node_textfile_scrape_error 0", page)


if __name__ == "__main__":
    unittest.main()
