#!/usr/bin/env python3
# tests/oracle/monitoring_test.py — Prometheus reads what runs write, its rules fire on it, and the dashboard's queries have answers.
import contextlib
import json
import re
import shutil
import socket
import subprocess
import time
import unittest
import urllib.parse
import urllib.request

from oracle import PROGRAMS, SOURCE, VRAMSCOPE, OracleTest, why_not

FOLDER = SOURCE / "tools/monitoring"
RULES = FOLDER / "vramscope.rules.yml"
QUERIES = [target["expr"] for panel in json.loads((FOLDER / "dashboard.json").read_text())["panels"] for target in panel["targets"]]
OURS = re.compile(r"\bvramscope_\w+")

LABELS = 'program="server",pid="7"'
DEVICE = LABELS + ',gpu="0",UUID="GPU-1"'
GIB = 1 << 30
# An alarm, the series that it fires on after so many minutes, and those in which nothing is wrong.
CASES = {
    "GpuMemoryGrows": (12, {f"growing_bytes_per_second{{{DEVICE},place=\"f() a.cpp:1\"}}": "4096x30"},
                       {f"growing_bytes_per_second{{{DEVICE},place=\"f() a.cpp:1\"}}": "4096x8 stale"}),
    "GpuMemoryFullInFourHours": (80, {f"device_used_bytes{{{DEVICE}}}": f"{40 * GIB}+{GIB}x90", f"limit_bytes{{{DEVICE}}}": f"{80 * GIB}x90"},
                                 {f"device_used_bytes{{{DEVICE}}}": f"{40 * GIB}+1024x90", f"limit_bytes{{{DEVICE}}}": f"{80 * GIB}x90"}),
    "GpuMemoryHeadroom": (7, {f"device_used_bytes{{{DEVICE}}}": "97x30", f"limit_bytes{{{DEVICE}}}": "100x30"},
                          {f"device_used_bytes{{{DEVICE}}}": "94x30", f"limit_bytes{{{DEVICE}}}": "100x30"}),
    "GpuMemoryReservedUnused": (32, {f"reserved_bytes{{{DEVICE}}}": "80x50", f"allocated_bytes{{{DEVICE}}}": "40x50", f"limit_bytes{{{DEVICE}}}": "100x50"},
                                {f"reserved_bytes{{{DEVICE}}}": "80x50", f"allocated_bytes{{{DEVICE}}}": "60x50", f"limit_bytes{{{DEVICE}}}": "100x50"}),
    "GpuOutOfMemory": (5, {f"out_of_memory_total{{{LABELS}}}": "0x3 1x10"}, {f"out_of_memory_total{{{LABELS}}}": "1x30"}),
    "VramscopeLosesEvents": (5, {f"lost_events_total{{{LABELS}}}": "0x3 9x10"}, {f"lost_events_total{{{LABELS}}}": "9x30"}),
}


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Monitoring(OracleTest):
    def promtool(self, *arguments):
        if why := why_not("promtool"):
            self.skip(why)
        done = self.execute("promtool", *arguments)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_promtool_reads_the_rules(self):
        self.promtool("check", "rules", RULES)

    def test_each_rule_fires_on_its_case_and_not_beside_it(self):
        rules = set(re.findall(r"alert: (\w+)", RULES.read_text()))
        self.assertEqual(rules, set(CASES))

        def test(alarm, minutes, series, fires):
            inputs = [{"series": f"vramscope_{name}", "values": values} for name, values in series.items()]
            labels = {"severity": re.search(rf"alert: {alarm}\n.*?severity: (\w+)", RULES.read_text(), re.DOTALL)[1]}
            labels |= dict(re.findall(r'(\w+)="([^"]*)"', next(iter(series))))
            return {"interval": "1m", "input_series": inputs,
                    "alert_rule_test": [{"eval_time": f"{minutes}m", "alertname": alarm,
                                         "exp_alerts": [{"exp_labels": labels}] if fires else []}]}

        for alarm, (minutes, wrong, right) in CASES.items():
            with self.subTest(alarm):
                tests = {"rule_files": [str(self.bare_rules())], "tests": [test(alarm, minutes, wrong, True), test(alarm, minutes, right, False)]}
                (self.folder / "tests.yml").write_text(json.dumps(tests))  # JSON is YAML
                self.promtool("test", "rules", self.folder / "tests.yml")

    def bare_rules(self, **replaced):
        """The rules without texts, which have numbers in them."""
        text = re.sub(r"        annotations:\n          summary: .*\n", "", RULES.read_text())
        for old, new in replaced.items():
            text = re.sub(rf"{old}: \w+", f"{old}: {new}", text)
        path = self.folder / "rules.yml"
        path.write_text(text)
        return path

    def test_rules_and_dashboard_ask_for_what_is_written(self):
        text = self.running_metrics()
        written = set(re.findall(r"^# TYPE (vramscope_\w+)", text, re.MULTILINE))
        asked = set(OURS.findall(RULES.read_text() + " ".join(QUERIES)))
        self.assertLessEqual(asked, written)
        table = set(OURS.findall((FOLDER / "README.md").read_text()))
        self.assertLessEqual(written, table)
        (self.folder / "m.prom").write_text(text)
        self.promtool_check_metrics()

    def promtool_check_metrics(self):
        if why := why_not("promtool"):
            self.skip(why)
        done = self.execute("sh", "-c", f"promtool check metrics <{self.folder / 'm.prom'}")
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))

    @contextlib.contextmanager
    def growing(self, folder):
        """A program that grows, and writes its numbers to that folder."""
        process = subprocess.Popen([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", self.folder / "x.vsl", "--interval", "0.2", "--metrics",
                                    folder / "live.prom", PROGRAMS / "live"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, text=True, cwd=self.folder)

        def grow():
            process.stdin.write("hold 65536 1\n")
            process.stdin.flush()
            process.stdout.readline()

        try:
            yield grow
        finally:
            process.communicate("end\n", timeout=60)

    def running_metrics(self):
        with self.growing(self.folder) as grow:
            for _ in range(600):
                grow()
                time.sleep(0.02)
                if (self.folder / "live.prom").exists() and "growing_bytes_per_second{" in (self.folder / "live.prom").read_text():
                    return (self.folder / "live.prom").read_text()
        self.fail("no growth was told")

    @contextlib.contextmanager
    def server(self, *command):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=self.folder)
        try:
            yield
        finally:
            process.kill()
            process.wait()

    def ask_prometheus(self, port, path, **query):
        url = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        return json.loads(urllib.request.urlopen(url, timeout=60).read())["data"]

    def test_prometheus_scrapes_a_run_fires_and_answers_the_dashboard(self):
        exporter, prometheus = shutil.which("prometheus-node-exporter"), shutil.which("prometheus")
        if not exporter or not prometheus:
            self.skip("there is no prometheus, or no prometheus-node-exporter here (./scripts/setup --tests)")
        text_files, exporter_port, port = self.folder / "textfiles", free_port(), free_port()
        text_files.mkdir()
        rules = self.bare_rules(**{"for": "0s"})
        (self.folder / "prometheus.yml").write_text(json.dumps({
            "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(rules)],
            "scrape_configs": [{"job_name": "node", "static_configs": [{"targets": [f"127.0.0.1:{exporter_port}"]}]}]}))
        with self.growing(text_files) as grow, \
                self.server(exporter, "--collector.disable-defaults", "--collector.textfile",
                            f"--collector.textfile.directory={text_files}", f"--web.listen-address=127.0.0.1:{exporter_port}"), \
                self.server(prometheus, "--config.file=prometheus.yml", f"--web.listen-address=127.0.0.1:{port}",
                            f"--storage.tsdb.path={self.folder}/data"):
            unanswered, alarms = list(QUERIES), []
            for _ in range(1200):
                grow()
                time.sleep(0.05)
                with contextlib.suppress(OSError):
                    alarms = [one["labels"]["alertname"] for one in self.ask_prometheus(port, "alerts")["alerts"] if one["state"] == "firing"]
                    unanswered = [query for query in unanswered
                                  if not self.ask_prometheus(port, "query", query=query.replace("$program", ".*"))["result"]]
                if "GpuMemoryGrows" in alarms and not unanswered:
                    break
            self.assertIn("GpuMemoryGrows", alarms)
            self.assertEqual(unanswered, [])
            self.assertNotIn("GpuOutOfMemory", alarms)


if __name__ == "__main__":
    unittest.main()
