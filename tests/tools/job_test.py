#!/usr/bin/env python3
# tests/tools/job_test.py — reduced tables of ranks, and what is unusual among them.
import json
import os
import shutil
import subprocess
import unittest

from cli import PROGRAMS, SOURCE, VRAMSCOPE, CliTest

USUAL = "hold 1048576 3 drop 3 "


class Jobs(CliTest):
    def rank(self, number, orders=USUAL, size=6, options=(), job="77", status=0, env=None):
        """Runs one, as a launcher would start it; its log is N.vsl."""
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", *options, PROGRAMS / "live"], cwd=self.folder,
                              input=orders + "end ", capture_output=True, text=True, timeout=120,
                              env=self.environment(RANK=str(number), WORLD_SIZE=str(size), SLURM_JOB_ID=job, **(env or {})))
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stderr

    def tables(self):
        return sorted(path.name for path in (self.folder / "tables").glob("*"))

    def run_job(self, *arguments, status=0):
        found, text, stderr = self.vramscope("job", "--json", "job.json", "-f", *arguments)
        self.assertEqual((found, stderr), (status, ""), text)
        return text, self.read_json("job.json")

    def a_job(self):
        for number in range(6):
            self.rank(number, USUAL + ("host 2097152 1 " if number == 4 else ""), options=["--reduced", "tables"])

    def lines(self, file):
        return [json.loads(line) for line in (self.folder / file).read_text().splitlines()]

    def test_a_rank_that_has_what_others_lack_is_named(self):
        self.a_job()
        self.assertEqual(self.tables(), [f"{number}.vsl.jsonl" for number in range(6)])
        text, job = self.run_job("tables")
        self.assertRegex(text, r"^LEAKS: 6 ranks of live, job 77, \d+ call places; 1 with leaks, 5 clean\n"
                               r"  1 of 6 ranks \(4\): leaked 2 MiB at hold_on_host\(.*\) live.cpp:\d+\n")
        self.assertEqual([(finding["kind"], finding["ranks"], finding["leaked_bytes"]) for finding in job["findings"]],
                         [("alone", [4], 2 << 20)])
        self.assertEqual((job["verdict"], job["world_size"], job["missing"]), ("leaks", 6, []))
        self.assert_follows_schema("job", "job.json")
        from_logs, again = self.run_job(".")  # the folder has no tables: its logs are reduced
        self.assertEqual((from_logs, again["findings"]), (text, job["findings"]))

    def test_a_table_has_the_sums_of_the_report(self):
        self.rank(0, "hold 1048576 3 hold 4096 2 drop 1 host 8192 2 churn 500 2 ", size=1)
        self.assertEqual(self.vramscope("reduce", "-o", "0.jsonl", "0.vsl"), (0, "", ""))
        status, _, _ = self.vramscope("report", "--json", "r.json", "0.vsl")
        self.assertEqual(status, 0)
        report = self.read_json("r.json")
        lines = self.lines("0.jsonl")
        self.assertEqual(lines[0], {"type": "reduced", "version": 2})
        (process,) = [line for line in lines if line["type"] == "process"]
        for member in ("leaked_bytes", "leaked_blocks", "allocations", "frees", "peak_device_bytes"):
            self.assertEqual(process[member], report["totals"][member], member)
        sites = [dict(zip(line["columns"], row)) for line in lines if line["type"] == "sites" for row in line["rows"]]
        for column in ("leaked_bytes", "leaked_blocks"):
            self.assertEqual(sum(site.get(column, 0) for site in sites), report["totals"][column])
        self.assertEqual(sum(site["allocations"] for site in sites), report["totals"]["allocations"])
        self.assertEqual(sum(site.get("unfreed", 0) for site in sites), report["totals"]["allocations"] - report["totals"]["frees"])
        (device,) = report["processes"][0]["device_memory"]
        self.assertEqual(sum(site["at_peak_bytes"] for site in sites), device["peak"]["bytes"])
        for site in sites:
            if isinstance(site["fingerprint"], int):
                site["fingerprint"] = sites[site["fingerprint"]]["fingerprint"]
        fingerprints = {leak["fingerprint"]: leak["bytes"] for leak in report["leaks"]}
        self.assertLessEqual(fingerprints.items(), {site["fingerprint"]: site.get("leaked_bytes", 0) for site in sites}.items())

    def test_the_rank_that_is_full_first_is_named_where_one_grows(self):
        for number, size in enumerate((0, 512, 32768)):
            self.rank(number, f"hold {size} 1 " * 20_000 if size else USUAL, size=3, options=["--reduced", "tables"])
        text, job = self.run_job("tables")
        self.assertRegex(text, r"\n  runs out first: rank 2, which grows by \S+ [KMG]iB per second: "
                               r"its \S+ MiB of headroom last about \d+ \S+\n$")
        first = job["runs_out_first"]
        self.assertEqual((first["rank"], first["device"], first["total_bytes"]), (2, 0, 1 << 30))
        self.assertAlmostEqual(first["full_after_ns"], first["free_bytes"] * 1e9 / first["growth_bytes_per_second"], delta=1e3)
        self.assert_follows_schema("job", "job.json")
        self.assert_follows_schema("reduced", "tables/2.vsl.jsonl")
        text, job = self.run_job("tables/0.vsl.jsonl")
        self.assertNotIn("runs out", text)
        self.assertIsNone(job["runs_out_first"])

    def test_lines_follow_the_schema(self):
        self.a_job()
        for name in self.tables():
            self.assert_follows_schema("reduced", f"tables/{name}")

    def test_ranks_that_are_missing_or_crashed_come_first(self):
        for number in (0, 2, 3):
            self.rank(number, size=5, options=["--reduced", "tables"])
        self.rank(4, "hold 4096 1 exec /no/such/program ", size=5, options=["--reduced", "tables"])
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "1.vsl", "--reduced", "tables", PROGRAMS / "ends", "SIGSEGV"],
                              cwd=self.folder, capture_output=True, text=True, timeout=120,
                              env=self.environment(RANK="1", WORLD_SIZE="6", SLURM_JOB_ID="77"))
        self.assertEqual(done.returncode, 139, done.stderr)
        text, job = self.run_job("tables")
        self.assertEqual((job["verdict"], job["missing"]), ("inconclusive", [5]))
        self.assertIn("  missing: rank 5\n", text)
        self.assertIn("  1 of 5 ranks (1): was killed by signal 11 (SIGSEGV)\n", text)
        self.assertTrue(text.startswith("INCONCLUSIVE: "), text)

    def test_a_file_that_cannot_be_read_is_named_and_the_rest_is_joined(self):
        self.a_job()
        (self.folder / "tables" / "2.vsl.jsonl").write_text('{"type":"reduced","version":9}\n')
        text, job = self.run_job("tables", status=111)
        self.assertIn("  not read: tables/2.vsl.jsonl is a reduced table of version 9; ", text)
        self.assertEqual((job["missing"], job["verdict"]), ([2], "inconclusive"))
        for name in self.tables():
            (self.folder / "tables" / name).write_text("nothing")
        status, stdout, stderr = self.vramscope("job", "tables/0.vsl.jsonl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "tables/0.vsl.jsonl is no reduced table")
        status, stdout, stderr = self.vramscope("job", "tables")
        self.assertEqual((status, stdout), (120, ""))
        self.assertEqual(stderr, "vramscope: tables/0.vsl.jsonl and 5 other files of its folder are no reduced tables, and are left out\n"
                                 "vramscope: error: tables: a folder without any reduced table or log (*.vsl)\n")

    def test_of_a_folder_all_tables_are_read_and_the_logs_that_have_none(self):
        self.a_job()
        expected = self.run_job("tables")[1]["findings"]
        for number in range(4):  # whatever they are called
            (self.folder / "tables" / f"{number}.vsl.jsonl").rename(self.folder / f"{number + 1}.jsonl")
        _, job = self.run_job(".")
        self.assertEqual(([process["number"] for process in job["processes"]], job["verdict_reasons"]), (list(range(6)), []))
        self.assertEqual(job["findings"], expected)
        self.assertEqual(self.vramscope("reduce", "-o", "tables/all.jsonl", "."), (0, "", ""))
        for number in range(4):
            (self.folder / f"{number + 1}.jsonl").unlink()
        (self.folder / "tables" / "all.jsonl").rename(self.folder / "all.jsonl")
        _, job = self.run_job(".")  # a table of many is one of each log
        self.assertEqual((job["findings"], job["verdict_reasons"]), (expected, []))
        (self.folder / "metrics.jsonl").write_text('{"step":1}\n')
        (self.folder / "deep.jsonl").mkdir()
        (self.folder / "deep.jsonl" / "x").touch()
        for command in (["job"], ["reduce", "-o", "again.json"], ["export", "--to", "sqlite", "-o", "job.db"]):
            status, _, stderr = self.vramscope(*command, ".")
            self.assertEqual(status, 0, stderr)
            self.assertEqual(stderr, "vramscope: ./deep.jsonl and 1 other file of its folder are no reduced tables, and are left out\n")
        (self.folder / "metrics.jsonl").unlink()
        shutil.rmtree(self.folder / "deep.jsonl")
        (self.folder / "9.jsonl").touch()  # of what is empty nobody knows what it was
        text, _ = self.run_job(".", status=111)
        self.assertIn("  not read: ./9.jsonl is no reduced table\n", text)

    def test_a_worker_finds_the_files_that_a_folder_stands_for(self):
        self.a_job()
        driver = {"__name__": "driver"}
        exec((SOURCE / "tools" / "python" / "vramscope" / "dask_job.py").read_text(), driver)

        def found(folder):
            return [os.path.basename(path) for path, _ in driver["find_files"]([str(folder)])]

        self.assertEqual(found(self.folder), [f"{number}.vsl" for number in range(6)])
        (self.folder / "tables" / "2.vsl.jsonl").rename(self.folder / "x.jsonl")
        (self.folder / "y.jsonl").write_text('{"step":1}\n')
        (self.folder / "z.jsonl").touch()
        self.assertEqual(self.vramscope("pack", "--rm", "3.vsl")[0], 0)
        self.assertEqual(found(self.folder), ["x.jsonl", "z.jsonl", "0.vsl", "1.vsl", "3.vsl.zst", "4.vsl", "5.vsl"])
        (self.folder / "tables" / "3.vsl.jsonl").rename(self.folder / "3.vsl.jsonl")
        self.assertEqual(found(self.folder), ["3.vsl.jsonl", "x.jsonl", "z.jsonl", "0.vsl", "1.vsl", "4.vsl", "5.vsl"])

    def test_a_pipe_does_not_block(self):
        self.rank(0, size=1)
        os.mkdir(self.folder / "odd")
        for name in ("pipe.jsonl", "pipe.vsl"):
            os.mkfifo(self.folder / "odd" / name)
            for command in (["job"], ["reduce"], ["export", "--to", "sqlite", "-o", "job.db"], ["export", "--to", "csv-tables", "-o", "csv"]):
                status, stdout, stderr = self.vramscope(*command, f"odd/{name}")
                self.assertEqual((status, stdout), (120, ""), command)
                self.assert_one_line(stderr, f"odd/{name} is no regular file")
        (self.folder / "odd" / "link.vsl").symlink_to("../0.vsl")
        self.assertEqual(self.vramscope("reduce", "-o", "0.jsonl", "odd/link.vsl"), (0, "", ""))
        (self.folder / "odd" / "link.jsonl").symlink_to("../0.jsonl")
        status, stdout, stderr = self.vramscope("job", "odd")
        self.assertEqual((status, stderr), (111, "vramscope: odd/pipe.jsonl is no reduced table, and is left out\n"))
        self.assertIn("1 rank of live", stdout)
        self.assertIn("  not read: odd/pipe.vsl is no regular file\n", stdout)

    def test_one_log_that_is_given_again_is_one_process(self):
        self.rank(0, size=1)
        (self.folder / "link.vsl").symlink_to("0.vsl")
        self.assertEqual(self.vramscope("pack", "0.vsl")[0], 0)
        for again, told in (("./0.vsl", ""), ("link.vsl", "the same file as 0.vsl"), ("0.vsl.zst", "of the same process as 0.vsl")):
            status, stdout, stderr = self.vramscope("reduce", "0.vsl", again)
            self.assertEqual((status, stdout.count('{"type":"process"')), (0, 1), again)
            self.assertEqual(stderr, told and f"vramscope: {again} is left out: it is {told}\n")

    def test_a_table_that_is_cut_at_the_end_of_a_line_is_never_whole(self):
        self.a_job()
        whole = (self.folder / "tables" / "4.vsl.jsonl").read_text().splitlines(keepends=True)
        for lines in range(len(whole)):
            (self.folder / "cut.jsonl").write_text("".join(whole[:lines]))
            status, stdout, stderr = self.vramscope("job", "cut.jsonl")
            self.assertEqual((status, stdout), (120, ""), lines)
            self.assert_one_line(stderr, "cut.jsonl")
        self.assert_one_line(stderr, f"cut.jsonl is cut: it has {lines} lines, ")
        (self.folder / "tables" / "4.vsl.jsonl").write_text("".join(whole[:2]))
        text, job = self.run_job("tables", status=111)
        self.assertIn("  not read: tables/4.vsl.jsonl is cut: it has 2 lines, ", text)
        self.assertEqual((job["verdict"], job["missing"], len(job["processes"])), ("inconclusive", [4], 5))
        (self.folder / "tables" / "4.vsl.jsonl").write_text("".join(whole))
        self.assertEqual(self.vramscope("reduce", "-o", "all.jsonl", "tables"), (0, "", ""))
        joined = (self.folder / "all.jsonl").read_text()
        (self.folder / "all.jsonl").write_text(joined[:joined.rindex('{"type":"process"')])
        status, stdout, stderr = self.vramscope("job", "all.jsonl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "all.jsonl is cut: ")
        status, stdout, stderr = self.vramscope("reduce", "-o", "never.jsonl", "all.jsonl")
        self.assertEqual((status, stdout, (self.folder / "never.jsonl").exists()), (120, "", False))
        self.assert_one_line(stderr, "all.jsonl is cut: ")

    def test_a_tree_of_joins_is_one_join(self):
        self.a_job()
        names = [f"tables/{name}" for name in self.tables()]
        for output, files in (("all.jsonl", names), ("reversed.jsonl", names[::-1]), ("left.jsonl", [names[5], names[0]]),
                              ("right.jsonl", names[4:0:-1]), ("tree.jsonl", ["right.jsonl", "left.jsonl"]),
                              ("logs.jsonl", [f"{number}.vsl" for number in (3, 1, 0, 2, 5, 4)])):
            self.assertEqual(self.vramscope("reduce", "-o", output, *files), (0, "", ""))
        whole = (self.folder / "all.jsonl").read_text()
        for output in ("reversed", "tree", "logs"):
            self.assertEqual((self.folder / f"{output}.jsonl").read_text(), whole, output)
        self.assertEqual(self.run_job("tree.jsonl"), self.run_job("tables"))
        self.assert_follows_schema("reduced", "tree.jsonl")
        (self.folder / "bad.jsonl").write_text(whole + '{"type":')
        status, stdout, stderr = self.vramscope("reduce", "-o", "never.jsonl", "all.jsonl", "bad.jsonl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "bad.jsonl: line ")
        self.assertFalse((self.folder / "never.jsonl").exists())

    def reduce_with_cache(self, *options):
        """The table, and whether names came from the cache."""
        status, table, stderr = self.vramscope("reduce", "--verbose", *options, "0.vsl", env={"XDG_CACHE_HOME": str(self.folder / "cache")})
        self.assertEqual(status, 0, stderr)
        return table, ".names has" in stderr

    def test_names_are_kept_for_the_next_log(self):
        self.rank(0, size=1)
        kept = self.folder / "cache" / "vramscope" / "names"
        table, known = self.reduce_with_cache("--no-cache")
        self.assertFalse(known or kept.exists())
        self.assertEqual(self.reduce_with_cache(), (table, False))
        self.assertEqual({path.stat().st_mode & 0o7777 for path in kept.iterdir()}, {0o600})
        self.assertEqual(self.reduce_with_cache(), (table, True))
        before = {path: path.read_bytes() for path in kept.iterdir()}
        self.assertEqual({path.read_bytes()[:8] for path in before}, {b"VSNAMES1"})
        for damage in (lambda whole: b"", lambda whole: whole[:-1], lambda whole: whole[:40] + b"\x7f" + whole[41:], lambda whole: b"x" * 4096):
            for path, whole in before.items():
                path.write_bytes(damage(whole))
            self.assertEqual(self.reduce_with_cache()[0], table)
            self.assertEqual({path: len(path.read_bytes()) for path in kept.iterdir()}, {path: len(whole) for path, whole in before.items()})
        kept.chmod(0o777)  # others could have written there
        self.assertEqual(self.reduce_with_cache(), (table, False))

    def test_views_know_the_names_that_are_kept_too(self):
        self.rank(0, "hold 1048576 3 ", size=1)
        kept = self.folder / "cache" / "vramscope" / "names"

        def shown(view, *options):
            status, text, stderr = self.vramscope(view, "--verbose", *options, "0.vsl", env={"XDG_CACHE_HOME": str(self.folder / "cache")})
            self.assertEqual(status, 0, stderr)
            return text, ".names has" in stderr

        text, known = shown("leaks", "--no-cache")
        self.assertIn("hold(unsigned long, int)  ", text)
        self.assertFalse(known or kept.exists())
        self.assertEqual(shown("leaks"), (text, False))
        self.assertEqual(shown("leaks"), (text, True))
        self.assertEqual(shown("leaks", "--no-cache"), (text, False))
        self.assertEqual(shown("report")[1], True)

    def test_a_rank_finds_the_names_of_the_one_before(self):
        for number in (0, 1):
            self.rank(number, size=2, options=["--reduced", "tables"], env={"XDG_CACHE_HOME": str(self.folder / "cache")})
        self.assertTrue(list((self.folder / "cache" / "vramscope" / "names").iterdir()))
        sites = [[line for line in self.lines(f"tables/{number}.vsl.jsonl") if line["type"] in ("texts", "frames", "sites")] for number in (0, 1)]
        self.assertEqual(*sites)

    def test_without_distributed_one_line_says_what_is_missing(self):
        self.script("python3", "#!/bin/sh\nexec /usr/bin/python3 -I -S \"$@\"\n")  # without packages
        status, stdout, stderr = self.vramscope("job", "--dask", "tcp://127.0.0.1:9", "0.vsl", env={"PATH": f"{self.folder}:/usr/bin:/bin"})
        self.assertEqual((status, stdout), (125, ""))
        self.assert_one_line(stderr, "vramscope: error: --dask: ", "distributed")

    def test_of_ranks_that_crash_alike_the_first_is_named(self):
        for number in (1, 0):
            done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", PROGRAMS / "ends", "SIGSEGV"], cwd=self.folder,
                                  capture_output=True, timeout=120, env=self.environment(RANK=str(number), WORLD_SIZE="2"))
            self.assertEqual(done.returncode, 139)
        text, job = self.run_job("0.vsl", "1.vsl")
        self.assertIn("  all 2 ranks: was killed by signal 11 (SIGSEGV), rank 1 the first\n", text)
        self.assertEqual([(end["ranks"], end["first"], end["crashed"]) for end in job["ends"]], [([0, 1], 1, True)])

    def test_what_failed_or_did_wrong_is_named_and_never_clean(self):
        for number, orders in enumerate((USUAL, USUAL + "twice 1 ", USUAL + "hold 4294967296 1 ", USUAL)):
            self.rank(number, orders, size=4, options=["--reduced", "tables"], status=3 if number == 2 else 0)
        text, job = self.run_job("tables")
        self.assertRegex(text, r"^INCONCLUSIVE: 4 ranks of live, .*; 1 failed, 1 with findings, 2 clean\n"
                               r"  the program failed on 1 rank\n"
                               r"  1 of 4 ranks \(2\): exited with status 3\n"
                               r"  1 of 4 ranks \(2\): Out of memory: hold\(.* wanted 4 GiB; [^:]*"
                               r"  1 of 4 ranks \(1\): Wrong frees: 1 call, a double-free, at free_again")
        self.assertEqual([(one["kind"], one["ranks"]) for one in job["headlines"]], [("out-of-memory", [2]), ("misuse", [1])])
        self.assertEqual([(end["ranks"], end["failed"]) for end in job["ends"]], [([2], True)])
        self.assertEqual([(process["exit_status"], process["found"]) for process in job["processes"]],
                         [(0, False), (0, True), (3, True), (0, False)])
        self.assert_follows_schema("job", "job.json")
        self.assert_follows_schema("reduced", "tables/2.vsl.jsonl")
        text, job = self.run_job("tables/1.vsl.jsonl")
        self.assertTrue(text.startswith("INCONCLUSIVE: "), text)  # of four ranks
        self.rank(0, USUAL + "twice 1 ", size=1, options=["-f", "--reduced", "alone"])
        text, job = self.run_job("alone")
        self.assertTrue(text.startswith("WRONG FREES: 1 rank of live, "), text)
        self.assertEqual(job["verdict"], "clean")  # it leaks nothing

    def test_what_failed_is_told_before_what_was_killed_for_it(self):
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "0.vsl", "--reduced", "tables", PROGRAMS / "ends", "SIGKILL"],
                              cwd=self.folder, capture_output=True, text=True, timeout=120, env=self.environment(RANK="0", WORLD_SIZE="2"))
        self.assertEqual(done.returncode, 137, done.stderr)
        self.rank(1, USUAL + "hold 4294967296 1 ", size=2, options=["--reduced", "tables"], status=3, job="")
        text, job = self.run_job("tables")
        self.assertRegex(text, r"\n  1 of 2 ranks \(1\): exited with status 3\n"  # that it was the first, nobody knows
                               r"  1 of 2 ranks \(1\): Out of memory: [\s\S]*status 3\n"
                               r"  1 of 2 ranks \(0\): was killed by signal 9 \(SIGKILL\)\n"
                               r"  1 of 2 ranks \(0\): held at the end 48.8 KiB, at peak 48.8 KiB\s+at ")
        self.assertEqual({(finding["kind"], *finding["ranks"], finding["leaked_bytes"]) for finding in job["findings"]
                          if finding["held_bytes"] > 0}, {("held", 0, 0)})
        self.assert_follows_schema("job", "job.json")

    def test_rules_for_leaks_are_refused_for_tables(self):
        self.rank(0, "host 4096 1 ", size=1, options=["--reduced", "tables"])
        (self.folder / "rules").write_text("leak:hold_on_host\n")
        for command in (["job"], ["reduce"]):
            for rules in (["--suppressions", "rules"], ["--no-builtin-suppressions"]):
                status, stdout, stderr = self.vramscope(*command, *rules, "0.vsl", "tables")
                self.assertEqual((status, stdout), (125, ""), command)
                self.assert_one_line(stderr, f"{rules[0]}: tables/0.vsl.jsonl is a reduced table, ", "`vramscope reduce` of its log")
        self.assertEqual(self.run_job("--suppressions", "rules", "0.vsl")[1]["verdict"], "clean")
        self.assertEqual(self.run_job("tables")[1]["verdict"], "leaks")

    def test_a_launcher_hides_no_rank_that_is_missing(self):
        for number in (0, 2):
            self.rank(number, size=3, options=["--reduced", "tables"])
        done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "launcher.vsl", "--reduced", "tables", PROGRAMS / "live"],
                              cwd=self.folder, input="hold 4096 1 end ", capture_output=True, text=True, timeout=120, env=self.environment())
        self.assertEqual(done.returncode, 0, done.stderr)
        text, job = self.run_job("tables")
        self.assertRegex(text, r"^INCONCLUSIVE: 2 ranks of live, job 77, .*\n  nothing was found of 1 rank\n  missing: rank 1\n"
                               r"  process \d+ \(launcher.vsl\) has no rank: Leaks: 4 KiB in 1 block ")
        self.assertEqual((job["ranked"], job["missing"], [process["number"] for process in job["processes"]]), (True, [1], [0, 2]))
        (outsider,) = job["without_rank"]
        self.assertEqual((outsider["verdict"], outsider["exit_status"], len(outsider["findings"])), ("leaks", 0, 1))
        self.assert_follows_schema("job", "job.json")

    def test_a_process_that_a_rank_starts_is_of_that_rank(self):
        for number in range(2):
            done = subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "%r.vsl", "--reduced", "tables", PROGRAMS / "ends",
                                   "fork_before_cuda"], cwd=self.folder, capture_output=True, text=True, timeout=120,
                                  env=self.environment(RANK=str(number), WORLD_SIZE="2"))
            self.assertEqual(done.returncode, 0, done.stderr)
        text, job = self.run_job("tables")
        self.assertEqual((job["verdict"], job["verdict_reasons"]), ("leaks", []), text)
        self.assertTrue(text.startswith("LEAKS: 2 ranks (4 processes) of ends, "), text)
        self.assertEqual([len(process["other_logs"]) for process in job["processes"]], [1, 1])
        self.assertEqual({(finding["kind"], *finding["ranks"]) for finding in job["findings"]}, {("all", 0, 1)})
        self.assertEqual(sum(finding["leaked_bytes"] for finding in job["findings"]), 2 * 94000)
        self.assert_follows_schema("job", "job.json")
        _, check, _ = self.vramscope("check", ".")
        self.assertIn(" FAILED in rank 0, rank 1\n", check)
        logs = [f"{number}.vsl{again}" for number in range(2) for again in ("", ".1")]
        self.assertEqual(self.run_job(*logs, "tables")[1]["processes"], job["processes"])  # a log and its table are one process

    def test_a_page_takes_the_place_of_the_text(self):
        self.rank(0, size=1)
        if not self.has_pages():
            self.skipTest("built without pages")
        self.assertEqual(self.vramscope("job", "-o", "job.html", "0.vsl"), (0, "", "vramscope: page: job.html\n"))
        self.assertTrue((self.folder / "job.html").read_text().startswith("<!doctype html>"))
        (self.folder / "mine.html").write_text("mine")
        status, _, stderr = self.vramscope("job", "--html", "mine.html", "0.vsl")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "mine.html")
        self.assertEqual((self.folder / "mine.html").read_text(), "mine")

    def test_one_command_with_many_ranks_writes_a_table_of_each(self):
        script = self.script("launch", f"""#!/bin/bash
for rank in 0 1 2; do
  echo "hold 4096 $((rank + 1)) end" | RANK=$rank WORLD_SIZE=3 {PROGRAMS}/live >/dev/null &
done
wait
""")
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "-o", "%r.vsl", "--reduced", "tables", script)
        self.assertEqual(status, 0, stderr)
        self.assertEqual(self.tables(), ["0.vsl.jsonl", "1.vsl.jsonl", "2.vsl.jsonl"])
        _, job = self.run_job("tables")
        self.assertEqual([process["leaked_bytes"] for process in job["processes"]], [4096, 8192, 12288])

    def test_tables_go_only_where_they_may(self):
        (self.folder / "file").write_text("mine")
        status, _, stderr = self.vramscope("run", "--reduced", "file", "true")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "--reduced file: ")
        self.rank(0, size=1, options=["--reduced", "tables"])
        table = self.folder / "tables" / "0.vsl.jsonl"
        table.write_text("mine")
        (self.folder / "0.vsl").unlink()
        self.assertIn("tables/0.vsl.jsonl", self.rank(0, size=1, options=["--reduced", "tables"], status=125))
        self.assertEqual(table.read_text(), "mine")

    def test_a_table_of_another_process_is_never_replaced(self):
        running = []
        for number in range(5):
            (self.folder / str(number)).mkdir()
            command = [VRAMSCOPE, "run", "-f", "--simulate", "1GiB", "-o", "run.vsl", "--reduced", "../tables", PROGRAMS / "live"]
            running.append(subprocess.Popen(command, cwd=self.folder / str(number), stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                            stderr=subprocess.PIPE, text=True, env=self.environment(RANK=str(number), WORLD_SIZE="5", SLURM_JOB_ID="77")))
        for process in running:  # all of them end at once
            process.stdin.write(USUAL + "end\n")
            process.stdin.close()
        told = set()
        for process in running:
            told.update(line.rpartition("/")[2] for line in process.stderr.read().splitlines() if line.startswith("vramscope: table: "))
            process.stderr.close()
            self.assertEqual(process.wait(timeout=120), 0)
        names = ["run.vsl.1.jsonl", "run.vsl.2.jsonl", "run.vsl.3.jsonl", "run.vsl.4.jsonl", "run.vsl.jsonl"]
        self.assertEqual((self.tables(), sorted(told)), (names, names))
        _, job = self.run_job("tables")
        self.assertEqual(([process["number"] for process in job["processes"]], job["verdict_reasons"]), ([0, 1, 2, 3, 4], []))

    def test_two_jobs_and_one_rank_are_told_in_few_words(self):
        for job in ("77", "78"):
            for number in range(5):
                self.rank(number, USUAL if job == "77" else f"hold 4096 {number + 1} ", size=5, job=job, options=["-f", "--reduced", "tables"])
        text, job = self.run_job("tables")
        self.assertEqual((job["name"], job["verdict"], len(job["verdict_reasons"])), ("77", "inconclusive", 5))
        self.assertIn("  these look like two jobs: 5 of 5 ranks are there more than once\n"
                      "  rank 0 is there twice: tables/0.vsl.jsonl is taken, and tables/0.vsl.1.jsonl is left out\n", text)
        self.assertIn("\n  ... and 2 more ranks\n", text)
        again = [f"tables/{number}.vsl.1.jsonl" for number in range(5)]
        self.assertRegex(self.run_job(*again)[0], r"\n  all 5 ranks: leaked 12 KiB on average(, .*)?\s+at hold\(")
        text, _ = self.run_job(again[2])
        self.assertRegex(text, r"\n  rank 2: leaked 12 KiB(, .*)? at hold\(")

    def test_a_run_again_leaves_the_table_before(self):
        self.rank(0, size=1, options=["--reduced", "tables"])
        before = (self.folder / "tables" / "0.vsl.jsonl").read_text()
        self.assertIn("\nvramscope: table: tables/0.vsl.1.jsonl\n", self.rank(0, size=1, options=["-f", "--reduced", "tables"]))
        self.assertEqual(self.tables(), ["0.vsl.1.jsonl", "0.vsl.jsonl"])
        self.assertEqual((self.folder / "tables" / "0.vsl.jsonl").read_text(), before)

    def test_processes_of_a_hundred_are_found_by_xargs(self):
        self.a_job()
        shutil.rmtree(self.folder / "tables")
        os.mkdir(self.folder / "tables")
        done = subprocess.run(f"ls *.vsl | xargs -P 2 -I{{}} {VRAMSCOPE} reduce -o tables/{{}}.jsonl {{}}", shell=True, cwd=self.folder,
                              capture_output=True, text=True, timeout=120, env=self.environment())
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        text, job = self.run_job("--all", "tables")
        self.assertEqual([finding["ranks"] for finding in job["findings"]], [[4]])
        self.assertEqual(len([line for line in text.splitlines() if line.endswith(".vsl")]), 6)


if __name__ == "__main__":
    unittest.main()
