#!/usr/bin/env python3
# tests/tools/tables_test.py — logs and reduced tables as a database and as CSV files: the same rows, the sums of the report.
import contextlib
import csv
import os
import re
import sqlite3
import subprocess
import unittest

from cli import PROGRAMS, SOURCE, VRAMSCOPE, CliTest

ORDERS = "hold 1048576 3 hold 4096 2 drop 1 host 8192 2 churn 500 2 "


class Tables(CliTest):
    def rank(self, number, orders=ORDERS, job="77"):
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", "--reduced", "tables", "-f", PROGRAMS / "live"],
                              cwd=self.folder, input=orders + "end ", capture_output=True, text=True, timeout=120,
                              env=self.environment(RANK=str(number), WORLD_SIZE="2", SLURM_JOB_ID=job))
        self.assertEqual(done.returncode, 0, done.stderr)

    def export(self, *arguments):
        status, stdout, stderr = self.vramscope("export", "--to", *arguments)
        self.assertEqual((status, stdout, stderr), (0, "", ""))

    def ask(self, question, database="job.db"):
        with contextlib.closing(sqlite3.connect(self.folder / database)) as opened:
            return opened.execute(question).fetchall()

    def refused(self, status, *arguments):
        found, stdout, stderr = self.vramscope("export", "--to", *arguments)
        self.assertEqual((found, stdout), (status, ""), stderr)
        return stderr

    def report(self, log):
        self.assertEqual(self.vramscope("report", "--json", "r.json", "-f", log)[0], 0)
        return self.read_json("r.json")

    def test_the_database_has_the_sums_of_the_report(self):
        self.rank(0)
        self.export("sqlite", "-o", "job.db", "--events", "0.vsl")
        report = self.report("0.vsl")
        totals = report["totals"]
        self.assertEqual(self.ask("select allocations, frees, leaked_bytes, leaked_blocks, peak_device_bytes, verdict, rank, world_size, doubts "
                                  "from processes"),
                         [(totals["allocations"], totals["frees"], totals["leaked_bytes"], totals["leaked_blocks"],
                           totals["peak_device_bytes"], "leaks", 0, 2, 0)])
        self.assertEqual(self.ask("select sum(allocations), sum(frees), sum(leaked_bytes), sum(leaked_blocks) from sites"),
                         [(totals["allocations"], totals["frees"], totals["leaked_bytes"], totals["leaked_blocks"])])
        self.assertEqual(self.ask("select count(*), sum(bytes), sum(end_ns is null) from blocks"),
                         [(totals["allocations"], totals["allocated_bytes"], totals["leaked_blocks"])])
        # Each block leads to its site, and a site has its blocks.
        self.assertEqual(self.ask("select site, count(*), sum(bytes) from blocks group by site order by site"),
                         self.ask("select site, allocations, allocated_bytes from sites order by site"))
        self.assertEqual(self.ask("select max(held) from (select sum(d) over (order by ns, d) held from (select begin_ns ns, bytes d from "
                                  "blocks join sites using(process, site) where memory='device' union all select end_ns, -bytes from blocks "
                                  "join sites using(process, site) where memory='device' and end_ns is not null))"),
                         [(totals["peak_device_bytes"],)])
        leaks = {(leak["fingerprint"], leak["stack"][0]["line"], leak["bytes"]) for leak in report["leaks"]}
        self.assertEqual(set(self.ask("select fingerprint, line, leaked_bytes from sites where leaked_bytes > 0")), leaks)
        self.assertEqual(self.ask("pragma user_version")[0], (1,))
        self.assertEqual(self.ask("pragma integrity_check"), [("ok",)])

    def test_files_and_database_have_the_same_rows_from_logs_and_from_tables(self):
        self.rank(0)
        self.rank(1, ORDERS + "hold 512 7 ")
        self.export("sqlite", "-o", "job.db", "0.vsl", "1.vsl")
        self.export("csv-tables", "-o", "csv", "tables")
        tables = [name for name, in self.ask("select name from sqlite_master where type='table'")]
        self.assertEqual(sorted(os.listdir(self.folder / "csv")), sorted(f"{name}.csv" for name in tables))
        self.assertNotIn("blocks", tables)
        for name in tables:
            with open(self.folder / "csv" / f"{name}.csv", newline="", encoding="utf-8") as file:
                head, *rows = csv.reader(file)
            self.assertEqual(head, [row[1] for row in self.ask(f"pragma table_info({name})")])
            self.assertEqual(rows, [["" if value is None else str(value) for value in row] for row in self.ask(f"select * from {name}")], name)
        self.assertEqual(self.ask("select rank, leaked_bytes from processes"), [(number, self.report(f"{number}.vsl")["totals"]["leaked_bytes"]) for number in (0, 1)])

    def test_what_makes_a_sum_wrong_is_told_in_rows(self):
        self.rank(0)
        self.rank(1)
        os.rename(self.folder / "tables" / "1.vsl.jsonl", self.folder / "tables" / "a.jsonl")
        self.rank(1, job="78")
        lines = (self.folder / "tables" / "a.jsonl").read_text()
        (self.folder / "tables" / "b.jsonl").write_text(re.sub('"rank":1,(.*)"lost_events":0', r'"rank":0,\1"lost_events":9', lines))
        (self.folder / "tables" / "c.jsonl").write_text(lines.replace('"rank":1,', '"rank":7,'))
        self.export("sqlite", "-o", "job.db", "tables")
        found = self.ask("select log, job, rank, lost_events, doubts from processes order by process")
        self.assertEqual([row[1:] for row in found],
                         [("77", 0, 0, 0), ("78", 1, 0, 1), ("77", 1, 0, 0), ("77", 0, 9, 1), ("77", 7, 0, 1)])
        doubts = [doubt for doubt, in self.ask("select doubt from doubts order by process")]
        self.assertEqual(doubts, ["it is of another job, 78, than processes before it", f"rank 0 is {found[0][0]} too",
                                  "it says that it is rank 7 of 2"])

    def test_processes_that_a_rank_had_at_once_are_no_doubt(self):
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", "--reduced", "tables", PROGRAMS / "ends", "fork_before_cuda"],
                              cwd=self.folder, capture_output=True, text=True, timeout=120, env=self.environment(RANK="0", WORLD_SIZE="1"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.export("sqlite", "-o", "job.db", "tables")
        self.assertEqual(self.ask("select rank, doubts from processes"), [(0, 0), (0, 0)])

    def test_only_what_is_ours_is_written_over(self):
        self.rank(0)
        for _ in range(2):
            self.export("sqlite", "-o", "job.db", "0.vsl")
            self.export("csv-tables", "-o", "csv", "--events", "0.vsl")
        with contextlib.closing(sqlite3.connect(self.folder / "theirs.db")) as theirs:
            theirs.execute("create table mine(a)")
        before = (self.folder / "theirs.db").read_bytes()
        self.assert_one_line(self.refused(125, "sqlite", "-o", "theirs.db", "0.vsl"), "theirs.db exists", "-f overwrites it")
        self.assertEqual((self.folder / "theirs.db").read_bytes(), before)
        self.assert_one_line(self.refused(125, "csv-tables", "-o", "csv", "0.vsl"), "csv/blocks.csv", "--events")
        (self.folder / "csv" / "sites.csv").write_text("mine")
        self.assert_one_line(self.refused(125, "csv-tables", "-o", "csv", "--events", "0.vsl"), "csv/sites.csv exists")
        self.assert_one_line(self.refused(125, "sqlite", "-f", "-o", "0.vsl", "0.vsl"), "0.vsl is needed by this command")
        self.assert_one_line(self.refused(125, "csv-tables", "-o", "job.db", "0.vsl"), "job.db is no folder")
        self.assert_one_line(self.refused(125, "sqlite", "-o", "/dev/full", "0.vsl"), "cannot write /dev/full")

    def test_what_is_wrong_is_told_in_one_line(self):
        self.rank(0)
        self.assert_one_line(self.refused(125, "csv-tables", "0.vsl"), "name it, -o DIR")
        self.assert_one_line(self.refused(125, "jsonl", "--events", "0.vsl"), "jsonl: --events is for tables")
        self.assert_one_line(self.refused(125, "sqlite", "--events", "-o", "job.db", "tables"), "is a reduced table, which has no blocks")
        (self.folder / "bad.jsonl").write_text('{"type":"reduced","version":9}\n')
        self.assert_one_line(self.refused(120, "sqlite", "-o", "job.db", "bad.jsonl"), "is a reduced table of version 9")
        (self.folder / "bad.jsonl").write_text('{"type":"reduced","version":2}\n{"type":"process","log":"\\u001b[31m,\\"x\\n","pid":-1,'
                                               '"rank":18446744073709551615,"leaked_bytes":18446744073709551615}\n'
                                               '{"type":"frames","columns":["up","function","line","file"],"rows":[[3,0,0,0]]}\n')
        self.assert_one_line(self.refused(120, "csv-tables", "-o", "csv", "bad.jsonl"), "bad.jsonl: line 3 names a frame that is not there")
        self.assertFalse((self.folder / "csv").exists())
        self.assertFalse((self.folder / "job.db").exists())

    def test_names_are_escaped(self):
        (self.folder / "odd.jsonl").write_text('{"type":"reduced","version":2}\n{"type":"process","log":"\\u001b[31m,\\"x\\n","pid":-1,'
                                               '"rank":18446744073709551615,"leaked_bytes":18446744073709551615}\n{"type":"end","lines":{"process":1}}\n')
        self.export("sqlite", "-o", "job.db", "odd.jsonl")
        self.assertEqual(self.ask("select log, pid, rank, leaked_bytes from processes"), [('\\x1b[31m,"x\\x0a', 0, None, None)])
        self.export("csv-tables", "-o", "csv", "odd.jsonl")
        with open(self.folder / "csv" / "processes.csv", newline="", encoding="utf-8") as file:
            (row,) = csv.DictReader(file)
        self.assertEqual((row["log"], row["rank"]), ('\\x1b[31m,"x\\x0a', ""))

    def test_without_the_library_one_line_says_so(self):
        self.rank(0)
        (self.folder / "none").mkdir()
        (self.folder / "none" / "libsqlite3.so.0").touch()  # the loader finds it first, and it is no library
        done = subprocess.run([VRAMSCOPE, "export", "--to", "sqlite", "-o", "job.db", "0.vsl"], cwd=self.folder, capture_output=True,
                              text=True, timeout=60, env=self.environment(LD_LIBRARY_PATH=str(self.folder / "none")))
        self.assertEqual(done.returncode, 125)
        self.assert_one_line(done.stderr, "libsqlite3.so.0 is not installed (Debian: libsqlite3-0)", "csv-tables")
        self.assertEqual(list(self.folder.glob("*.db")), [])

    def test_a_block_takes_ninety_bytes_at_most(self):
        self.rank(0, "churn 500 20 ")
        self.export("sqlite", "-o", "few.db", "0.vsl")
        self.export("sqlite", "-o", "many.db", "--events", "0.vsl")
        (blocks,), = self.ask("select count(*) from blocks", "many.db")
        more = (self.folder / "many.db").stat().st_size - (self.folder / "few.db").stat().st_size
        self.assertGreater(blocks, 5000)
        self.assertLess(more / blocks, 90)

    def test_the_questions_of_the_documentation(self):
        """Those in report/README.md answer what the report says."""
        self.rank(0)
        self.export("sqlite", "-o", "job.db", "--events", "0.vsl")
        page = (SOURCE / "report" / "README.md").read_text()
        text = re.search(r"```sql\n(.*?)```", page, re.DOTALL).group(1)
        questions = [question for question in re.sub("--.*", "", text).split(";") if question.strip()]
        self.assertEqual(len(questions), 5)
        totals = self.report("0.vsl")["totals"]
        (end,), = self.ask("select max(coalesce(end_ns, begin_ns)) from blocks")
        leaks, alive, often, peak, parts = [self.ask(question.replace("10000000000", str(end))) for question in questions]
        self.assertEqual(sum(row[-1] for row in leaks), totals["leaked_bytes"])
        self.assertEqual(sum(row[-1] for row in alive), totals["leaked_bytes"])  # at the end
        self.assertEqual(sum(row[-3] for row in often), totals["allocations"] - totals["leaked_blocks"])
        self.assertIn((0, 0, "device", totals["peak_device_bytes"]), peak)
        self.assertEqual(sum(row[-1] for row in parts), totals["allocated_bytes"])


if __name__ == "__main__":
    unittest.main()
