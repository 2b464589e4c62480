#!/usr/bin/env python3
# tests/oracle/sqlite_test.py — sqlite3 reads the timeline, and its peaks are the report's.
import json
import unittest

from oracle import TRACED, OracleTest, needs


class SqliteTest(OracleTest):
    def query(self, table, question):
        """Rows of a table that sqlite3 made of this file, as numbers."""
        script = f".mode csv\n.import {table} spans\n.mode json\n{question};\n"
        (self.folder / "script.sql").write_text(script)
        answer = self.ask("sh", "-c", "sqlite3 -bail :memory: <script.sql")
        return json.loads(answer or "[]")

    def test_peaks_are_those_of_the_report(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (log, report):
                table = self.export(log, "csv")
                rows = self.query(table, "select device, max(cast(peak_allocated_bytes as integer)) as peak, count(*) as spans from spans "
                                         "group by device")
                peaks = {device["device"]: device["at_peak"]["waterfall"]["allocated"] for device in report["processes"][0]["device_memory"]}
                for row in rows:
                    self.assertEqual(row["peak"], peaks[int(row["device"])])
                    self.assertLessEqual(row["spans"], 256)


if __name__ == "__main__":
    needs("sqlite3")
    unittest.main()
