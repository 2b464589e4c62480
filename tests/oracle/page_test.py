#!/usr/bin/env python3
# tests/oracle/page_test.py — headless Chromium, axe and html-validate judge the page of --html, made from real logs.
import json
import pathlib
import shutil
import subprocess
import sys
import time
import unittest

from oracle import BUILD, GPU, NOT_HERE, PROGRAMS, SOURCE, VRAMSCOPE, OracleTest
from pages import Pages, why_no_pages

PYTHON = SOURCE / "tests" / "programs" / "python"
LONG = ("--pool", "split", "--threads", "4", "--live", "20000", "--stacks", "3000")
HOSTILE = '<img src=x onerror=alert(1)>"\'&\u202e'


def size_of(text):
    number, unit = text.replace(",", "").split()
    return float(number) * 1024 ** ["B", "KiB", "MiB", "GiB"].index(unit)


class PageTest(Pages, OracleTest):
    def test_answers_and_is_used_by_keyboard_alone(self):
        log, _ = self.trace_log("training_demo")
        told = self.drive(self.page_of(log))
        self.assertEqual(told["verdict"], "Leaks")
        self.assertRegex(told["lead"], r"^[0-9.]+ MiB in [0-9]+ blocks were not freed, from 2 call stacks\.")
        self.assertEqual(told["title"], "training_demo · vramscope")
        self.assertEqual(told["leaks"], ["load_labels()", "log_loss(…)"])
        self.assertEqual(told["opened"]["expanded"], "true")
        self.assertIn("load_labels()", told["opened"]["stack"])
        self.assertIn("alive from load_labels()", " ".join(told["opened"]["legend"]))
        self.assertEqual(told["opened"]["marked"], ["main", "train(…)", "load_labels()"])
        self.assert_sorts(told["sorted"])
        self.assertEqual((told["found"]["name"], told["found"]["nodes"]), ("load_labels", ["load_labels()"]))
        self.assertRegex(told["found"]["share"], r"^11\.4 MiB, 64\.\d %, in 1 call stack$")
        self.assertEqual(told["found"]["begins"], [["main"], ["load_labels()", "log_loss(…)"]])
        self.assertGreater(min(told["colours"]), 5)
        self.assertTrue(told["zoomed"] and told["back"])
        self.assertGreater(len(told["times"]), 20)
        self.assertEqual(len(set(told["times"])), len(told["times"]))
        self.assertEqual((told["theme_after"], told["found_nothing"]), ("dark", 0))
        place, rows = told["found_place"]
        self.assertRegex(place, r"^training_demo\.cu:\d+$")
        self.assertEqual(rows, 1, "a line is found")
        self.assert_shows_a_moment(told)

        told = self.drive(self.page_of(log, options=("--until", "1h")))
        self.assertEqual((told["verdict"], told["made_of"]), ("Held 17.7 MiB at 60 min 00 s", []))

    def test_what_is_open_and_chosen_can_be_given_on(self):
        log, _ = self.trace_log("training_demo")
        given = self.drive(self.page_of(log))["given"]
        self.assertEqual(given["before"]["open"], [])
        self.assertEqual(given["after"]["open"], ["log_loss(…)"])
        for what in ("order", "search", "moment", "theme", "stacks"):
            self.assertNotEqual(given["before"][what], given["after"][what], what)
        self.assertEqual(given["again"], given["after"])
        self.assertLess(abs(given["part"]), 100)
        self.assertEqual((given["back"]["open"], given["back"]["order"]), ([], given["before"]["order"]))
        self.assertRegex(given["copied"], r"^\*\*[0-9.]+ MiB in 100 blocks, log_loss\(…\) training_demo\.cu:[0-9]+\*\*\n\n- Kind: ")
        self.assertRegex(given["copied"], r"\n```\nlog_loss\(.*\)  /\S*/training_demo\.cu:[0-9]+\n(.*\n)*main  .*\n```\n$")

    def assert_sorts(self, looks):
        self.assertEqual([order for order, _ in looks], [None, "descending", "ascending", None])
        unsorted, largest_first, smallest_first, again = [[size_of(text) for text in texts] for _, texts in looks]
        self.assertEqual(largest_first, sorted(unsorted, reverse=True))
        self.assertEqual(smallest_first, sorted(unsorted))
        self.assertNotIn(unsorted, (largest_first, smallest_first))
        self.assertEqual(again, unsorted)

    def assert_no_rows_look_alike(self, told):
        rows = list(zip(told["leaks"], told["places"], strict=True))
        self.assertEqual(len(set(rows)), len(rows), rows)

    def assert_shows_a_moment(self, told):
        moment = told["moment"]
        self.assertRegex(moment["status"], r"^At [0-9.]+ .?s, [0-9.]+ [KMG]iB were alive in [0-9,]+ blocks?: the highest")
        self.assertRegex(moment["clicked"], "^At ")
        self.assertTrue(moment["kinds"][0].startswith("At "), moment["kinds"])
        self.assertEqual(moment["pressed"], moment["kinds"][:1])
        self.assertTrue(moment["then"] and all(text.endswith(" then") for text in moment["then"]), moment["then"])
        self.assertIn(moment["root"].removeprefix("all, "), moment["status"])
        self.assertEqual(moment["after"], ["Leaked"])

    def test_shows_hostile_names_as_text(self):
        program = self.folder / HOSTILE
        shutil.copy(PROGRAMS / "training_demo", program)
        told = self.drive(self.page_of(self.run_simulated(program, "2")))
        self.assertEqual(told["markup"], 0)
        self.assertIn("<img src=x onerror=alert(1)>", told["title"])
        self.assertNotIn("\u202e", told["title"])

    def test_shows_hostile_names_of_a_log_as_text(self):
        """Of a function and its file, a test and a mark; with an owner of the blocks in a map."""
        log = self.run_simulated(sys.executable, PYTHON / "hostile_names.py", settings=("--set", "pool=split"))
        told = self.drive(self.page_of(log))
        self.assertEqual(told["markup"], 0)
        self.assertIn("</script><script>alert(1)</script><img", told["tests"][0])
        for [name] in (told["leaks"], told["tests"], told["map"]["owners"]):
            self.assertIn("alert(", name)
            self.assertNotIn("\u202e", name)
            self.assertLess(len(name), 2000)

    def test_opens_pooled_crashed_and_clean_runs(self):
        corpus = PROGRAMS.parent / "corpus"
        runs = {"frag_checkerboard": "pool=split", "oom_lacking": "limit=64MiB", "crash_abort": "pool=split",
                "growth_freed_at_exit": "pool=cache"}
        for name, setting in runs.items():
            if not (corpus / name).exists():
                self.skip("the corpus is not built")
            with self.subTest(name):
                log = self.run_simulated(corpus / name, settings=("--set", setting))
                told = self.drive(self.page_of(log))
                self.assertEqual(told["sections"][:2], ["overview", "timeline"])
                self.assertEqual(told["sections"][-1], "coverage")
                self.assertEqual("shortages" in told["sections"], name == "oom_lacking")
                self.assert_no_rows_look_alike(told)
                if name == "crash_abort":
                    self.assertRegex(told["made_of"][0], "^What was asked for; rounded up it takes 240 B more, 10 KiB in all")
                    self.assertIn("from main crash_abort.cu:", told["places"][0])
                self.assertIn("reserved", " ".join(told["waterfall"]))
                self.assertGreater(told["strips"], 0)
                self.assertRegex(told["map"]["first"], "allocated|free|pending")

    def test_shows_a_python_program_over_an_allocator_like_pytorchs(self):
        log = self.run_simulated(sys.executable, PYTHON / "torch_train.py", PROGRAMS / "libtorch_allocator.so", "20",
                                 settings=("--set", "pool=off"))
        told = self.drive(self.page_of(log))
        self.assertEqual(told["verdict"], "Leaks")
        self.assertRegex(told["lead"], "^5.9 MiB in ")
        self.assertEqual(told["leaks"], ["keep_loss"])
        self.assertIn("kept by allocators", " ".join(told["waterfall"]))
        self.assertGreater(told["strips"], 0)
        self.assertIn("keep_loss", told["map"]["owners"])
        self.assert_shows_a_moment(told)

    def test_shows_what_each_test_leaked_and_whether_it_kept_its_budget(self):
        log = self.run_simulated(PROGRAMS / "gtest_suite", settings=("--set", "pool=off"))
        told = self.drive(self.page_of(log, view="check", options=("--max-leaked", "2MiB"), status=100))
        self.assertEqual((told["verdict"], told["checked"]), ("Check failed", ["over budget"]))
        self.assertEqual(told["tests"][0], "Pool.Leaks")
        self.assertIn("3 MiB in 1 block from cuMemAlloc", told["opened_test"][0])

    def test_shows_the_processes_of_a_job_side_by_side(self):
        for steps in (2, 4):
            self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", f"run{steps}.vsl", "--", PROGRAMS / "training_demo", steps)
        told = self.drive(self.page_of(self.folder))
        self.assertIn("ranks", told["sections"])
        self.assertIn("process ", told["places"][0])
        self.assert_no_rows_look_alike(told)

    def test_of_two_runs_shows_both_on_one_axis(self):
        base, now = self.two_logs(["training_demo", "4"], ["training_demo", "8"])
        told = self.drive(self.page_of(base, now, view="diff"))
        self.assertEqual(told["sections"][:2], ["overview", "diff"])
        self.assertRegex(told["verdict"], "^It became worse|^Nothing changed")
        self.assertIn("allocated in the run before", " ".join(told["opened"]["legend"]))

    def test_of_a_running_program_says_what_it_holds(self):
        log = self.folder / "run.vsl"
        running = subprocess.Popen([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", log, PROGRAMS / "live"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with running:
            self.tell(running, "hold 4194304 10")
            [pid] = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            told = self.drive(self.page_of(pid, view="snapshot"))
            running.stdin.write("end\n")
        self.assertEqual(told["verdict"], "Holds 40 MiB now")

    def test_of_a_collected_log_says_from_when_on_it_knows_who_had_the_memory(self):
        log = self.folder / "run.vsl"
        running = subprocess.Popen([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", log, PROGRAMS / "live"], text=True,
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        with running:
            self.tell(running, "hold 4194304 10", "churn 20000 1")
            time.sleep(1.1)  # what happened before is collected
            [pid] = pathlib.Path(f"/proc/{running.pid}/task/{running.pid}/children").read_text().split()
            subprocess.run([VRAMSCOPE, "collect", pid, "--once"], check=True, capture_output=True, timeout=60)
            self.tell(running, "hold 1048576 4", "drop 1")
            running.stdin.write("end\n")
        page = self.page_of(log)
        told = self.drive(page)
        self.assertEqual(told["verdict"], "Leaks")
        self.assertRegex(json.dumps(self.read(page)["timeline"]), r"was collected: who had the memory is known from [0-9.]+ .?s on")

    @staticmethod
    def tell(process, *orders):
        for order in orders:
            process.stdin.write(order + "\n")
            process.stdin.flush()
            process.stdout.readline()  # "done"

    def live(self, name, orders, *options):
        log = self.folder / name
        subprocess.run([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", log, *options, PROGRAMS / "live"], input=orders, text=True,
                       capture_output=True, timeout=60)
        return log

    def plan_of(self, *logs, options=(), status=0):
        return self.drive(self.page_of(*logs, view="plan", options=options, status=status))

    def test_of_a_plan_says_the_answer_first(self):
        log = self.live("run.vsl", "hold 70000 900 drop 300 hold 200000 100 drop 50 hold 5242881 7 drop 3 end\n", "--pool", "split")
        told = self.plan_of(log, options=("--card", "64MiB"), status=100)
        self.assertEqual((told["verdict"], told["title"]), ("Does not fit on 64 MiB", "live · plan · vramscope"))
        self.assertRegex(told["lead"], r"^The smallest card that fits has \d+ MiB with split, as recorded\. Best knob: ")
        self.assertEqual(told["policies"][0], "split, as recorded")
        self.assertEqual(len(told["on_cards"]), len(told["policies"]))
        self.assertTrue(all(text.startswith("out at ") for text in told["on_cards"]), told["on_cards"])
        self.assertEqual(told["sections"], ["overview", "policies", "shortages", "peak", "pins", "coverage"])
        self.assertEqual(told["pins"], ["End"])

    def test_of_a_plan_over_runs_of_several_sizes_shows_the_line(self):
        sizes = (8, 16, 32)
        logs = [self.live(f"b{size}.vsl", f"hold {size << 19} 10 hold 3145728 4 drop 5 end\n") for size in sizes]
        told = self.plan_of(*logs, options=("--scale", "<b>batch=8,16,32", "--card", "128MiB"), status=100)
        self.assertEqual((told["sections"][1], told["markup"]), ("scale", 0))
        self.assertEqual(told["scale"], ["Largest <b>batch on 128 MiB: 22"])
        self.assertGreater(told["colours"][0], 3)

    def test_of_a_plan_shows_hostile_names_as_text(self):
        program = self.folder / HOSTILE
        shutil.copy(PROGRAMS / "training_demo", program)
        told = self.plan_of(self.run_simulated(program, "2"))
        self.assertEqual(told["markup"], 0)
        self.assertIn("<img src=x onerror=alert(1)>", told["title"])

    def test_of_a_plan_without_a_request_says_so(self):
        program = PROGRAMS.parent / "corpus" / "leak_pinned"
        if not program.exists():
            self.skip("the corpus is not built")
        told = self.plan_of(self.run_simulated(program), status=110)
        self.assertEqual((told["verdict"], told["sections"]), ("No log asked for device memory", ["overview", "coverage"]))

    def rank(self, number, *command, orders="", size=8):
        self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", f"rank{number}.vsl", *command, stdin=orders, RANK=str(number),
                     WORLD_SIZE=str(size))

    def test_of_a_job_says_what_is_missing_and_which_rank_is_different(self):
        for number in range(6):
            self.rank(number, PROGRAMS / "live", orders="hold 1048576 3 drop 3 " + ("host 2097152 1 " if number == 4 else "") + "end\n")
        self.rank(7, PROGRAMS / "ends", "SIGSEGV")
        (self.folder / "cut.vsl").write_text(HOSTILE)
        told = self.drive(self.page_of(*sorted(self.folder.glob("*.vsl")), view="job", status=111))
        self.assertEqual((told["verdict"], told["title"]), ("Inconclusive", "live · job · vramscope"))
        self.assertEqual(told["sections"], ["overview", "ends", "map", "alone", "held", "headroom", "part"])
        self.assertRegex(told["lead"], r"^1 of 7 ranks \(4\): leaked 2 MiB at hold_on_host\(…\) live\.cpp:\d+\.$")
        self.assertEqual(told["markup"], 0)
        read = self.read(self.page_of(*sorted(self.folder.glob("*.vsl")), view="job", status=111))
        self.assertRegex(read["ends"], r"Not read\s+'\S*/cut\.vsl' is no log ")
        self.assertRegex(read["ends"], r"Missing\s+rank 6\n")
        self.assertRegex(read["ends"], r"Crashed\s+1 of 7 ranks \(7\): was killed by signal 11 \(SIGSEGV\)")
        self.assertRegex(read["map"], r"missing[\s\S]*rank 7\s+Inconclusive")

    def test_of_a_job_says_what_failed_and_what_reports_tell(self):
        for number, orders in enumerate(("", "hold 4096 1 drop 1 twice 1 ", "hold 4294967296 1 ")):
            self.rank(number, PROGRAMS / "live", orders=f"{orders}hold 4096 1 drop 1 end\n", size=3)
        self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "launcher.vsl", PROGRAMS / "live", stdin="hold 4096 1 end\n")
        page = self.page_of(*sorted(self.folder.glob("*.vsl")), view="job")
        told = self.drive(page)
        self.assertEqual((told["verdict"], told["sections"]), ("Inconclusive", ["overview", "ends", "reported", "map", "headroom", "part"]))
        self.assertRegex(told["lead"], r"^1 of 3 ranks \(2\): Out of memory: hold\(.* wanted 4 GiB")
        read = self.read(page)
        self.assertRegex(read["ends"], r"Failed\s+1 of 3 ranks \(2\): exited with status 3")
        self.assertRegex(read["reported"], r"Wrong frees\s+1 of 3 ranks \(1\): Wrong frees: 1 call, a double-free")
        self.assertRegex(read["reported"], r"No rank\s+process \d+ \(\S*launcher.vsl\) has no rank: Leaks: 4 KiB in 1 block")
        self.assertRegex(read["map"], r"rank 0\s+Clean[\s\S]*rank 1\s+Findings[\s\S]*rank 2\s+Failed")

    def test_of_a_job_has_all_of_a_thousand_ranks(self):
        self.rank(0, PROGRAMS / "training_demo")
        table = self.execute(VRAMSCOPE, "reduce", "rank0.vsl").stdout
        for number in range(1000):
            as_rank = table.replace('"rank":0,', f'"rank":{number},').replace('"world_size":8,', '"world_size":1001,')
            (self.folder / f"{number}.jsonl").write_text(as_rank)
        page = self.page_of(self.folder, view="job")
        self.assertLess(page.stat().st_size, 1_000_000)
        told = self.drive(page)
        self.assertEqual(told["sections"], ["overview", "ends", "map", "all", "headroom"])
        read = self.read(page)
        self.assertTrue("rank 999\tLeaks" in read["map"])
        self.assertRegex(read["headroom"], r"Runs out first: rank 0, which grows by \S+ [KMG]iB per second: its \S+ MiB of headroom last about")

    def test_of_a_long_run_is_small_and_opens_at_once(self):
        log = self.folder / "long.vsl"
        done = self.execute(BUILD / "bin" / "tests" / "log_generator", 300_000, log, *LONG)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.drive(self.page_of(log))


if __name__ == "__main__":
    if why_no_pages():
        print(f"SKIPPED: {why_no_pages()}")
        sys.exit(NOT_HERE)
    unittest.main()
