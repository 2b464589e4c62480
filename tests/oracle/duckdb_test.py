#!/usr/bin/env python3
# tests/oracle/duckdb_test.py — DuckDB reads our CSV tables, makes Parquet of them, and answers as SQLite does of the database.
import contextlib
import json
import re
import sqlite3
import unittest

from oracle import NPM, SOURCE, OracleTest, TRACED, needs, why_not_npm

ASK = """
import { DuckDBInstance } from "@duckdb/node-api";
const connection = await (await DuckDBInstance.create(":memory:")).connect();
const answers = [];
for (const question of JSON.parse(process.argv[1]))
  answers.push((await connection.runAndReadAll(question)).getRowsJson());
console.log(JSON.stringify(answers));
"""


def plain(rows):
    """Numbers as they are: large ones come as texts from one, and means as reals from both."""
    def cell(value):
        return value if value is None or not re.fullmatch(r"-?\d+(\.\d+)?", str(value)) else round(float(value), 3)
    return sorted(([cell(value) for value in row] for row in rows), key=str)


class DuckdbTest(OracleTest):
    def duckdb(self, *questions):
        script = ASK.replace("@duckdb/node-api", str(NPM / "@duckdb/node-api/lib/index.js"))
        return json.loads(self.ask("node", "--input-type=module", "-e", script, json.dumps(questions)))

    def test_the_questions_are_answered_as_by_sqlite(self):
        if why := why_not_npm("@duckdb/node-api"):
            self.skip(why)
        page = (SOURCE / "report" / "README.md").read_text()
        text = re.search(r"```sql\n(.*?)```", page, re.DOTALL).group(1)
        questions = [" ".join(question.split()) for question in re.sub("--.*", "", text).split(";") if question.strip()]
        parquet = " ".join(re.search(r"`(copy\s[^`]*)`", page).group(1).split())
        for what in ("a loop with leaks and a cache", "ranges", "pinned memory"):
            with self.traced(what, *TRACED[what]) as (log, report):
                folder, database = (self.export(log, form, "--events") for form in ("csv-tables", "sqlite"))
                types = {"processes": "", "sites": "", "blocks": ", types={'end_ns': 'bigint'}"}  # as the page says
                tables = [f"create view {name} as select * from read_csv('{folder}/{name}.csv'{typed})" for name, typed in types.items()]
                made = folder / "sites.parquet"
                copy = parquet.replace("DIR", str(folder)).replace("'sites.parquet'", f"'{made}'")
                answers = self.duckdb(*tables, *questions, copy, f"select sum(allocations), sum(leaked_bytes) from '{made}'",
                                      "select verdict, leaked_bytes, peak_device_bytes from processes")
                sums, processes = answers[-2], answers[-1]
                totals = report["totals"]
                self.assertEqual([int(value) for value in sums[0]], [totals["allocations"], totals["leaked_bytes"]])
                self.assertEqual(processes[0][0], report["verdict"])
                self.assertEqual([int(value) for value in processes[0][1:]], [totals["leaked_bytes"], totals["peak_device_bytes"]])
                with contextlib.closing(sqlite3.connect(database)) as opened:
                    for question, answer in zip(questions, answers[len(tables):]):
                        self.assertEqual(plain(answer), plain(opened.execute(question).fetchall()), question)


if __name__ == "__main__":
    needs("node")
    unittest.main()
