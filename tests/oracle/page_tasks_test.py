#!/usr/bin/env python3
# tests/oracle/page_tasks_test.py — what readers come to the page of --html for, in headless Chromium: each task with the
# mouse alone, and with the keyboard alone.
import csv
import json
import re
import sys
import unittest

from oracle import GPU, NOT_HERE, PROGRAMS, SOURCE, VRAMSCOPE, OracleTest
from pages import Pages, why_no_pages

HANDS = ("mouse", "keyboard")
FORMULAS = ("=1+1", "+1", "-1", "@SUM(A1)", " =1", "＝1")


class PageTasksTest(Pages, OracleTest):
    def play(self, task, page, **asked):
        """What the page told, by each hand; it must be the same."""
        answers = []
        for hand in HANDS:
            told = self.ask_browser(json.dumps({"play": task, "hand": hand, "file": str(page), **asked}))
            self.assertEqual((told["errors"], told["requests"]), ([], []), hand)
            answers.append(told["answer"])
        self.assertEqual(*answers)
        return answers[0]

    def page_of_demo(self, **how):
        log, _ = self.trace_log("training_demo")
        return self.page_of(log, **how)

    def test_one_search_finds_a_function_in_all_views(self):
        answer = self.play("search", self.page_of_demo(), word="training_demo.cu log_loss")
        self.assertRegex(answer["says"], r"^\d+ rows in 4 lists$")
        self.assertEqual([title.split("\n")[0].strip() for title in answer["lists"]], ["Leaks", "Growth", "At the peak", "Allocations"])
        self.assertRegex(answer["address"], r"^#leaks&leak=\d$")
        self.assertEqual((answer["open"], answer["dialogs"]), (["log_loss(…)"], 0))
        self.assertIn("log_loss(…)", answer["focus"])

    def test_keys_are_listed_and_are_letters_in_a_field(self):
        answer = self.play("keys", self.page_of_demo())
        self.assertIn("/", answer["keys"])
        self.assertEqual((answer["closed"], answer["typed"], answer["opened"]), (0, "/?", 0))

    def test_a_leak_leads_to_its_line_in_the_sources(self):
        url = "https://host/{file}?at={line}#{path}"
        page = self.page_of_demo(view="check", options=("--source", "--source-url", url, "--source-root", SOURCE), status=100)
        answer = self.play("source", page)
        source = SOURCE / "tests" / "programs" / "training_demo.cu"
        path, at = re.fullmatch(rf"https://host/(.*)\?at=(\d+)#{re.escape(str(source))}", answer["link"]).groups()
        self.assertEqual(path, str(source.relative_to(SOURCE)))
        [lines] = answer["lines"]
        shown = [line.split(" ", 1) for line in lines.split("\n")]
        self.assertEqual([int(number) for number, _ in shown], list(range(int(at) - 2, int(at) + 3)))
        self.assertEqual(shown[2][1].strip(), source.read_text().splitlines()[int(at) - 1].strip())

    def test_the_callers_of_a_function_are_shown(self):
        answer = self.play("callers", self.page_of_demo(), name="log_loss")
        self.assertRegex(answer["says"], r"^Callers of log_loss\(…\): [0-9.]+ MiB, 35\.\d %, in 1 call stack\.$")
        self.assertEqual(answer["frames"], ["all", "log_loss(…)", "train(…)", "main"])
        self.assertEqual(answer["after"], ["all", "main", "train(…)", "load_labels()", "log_loss(…)"])

    def test_the_call_stacks_are_shown_by_thread(self):
        program = PROGRAMS.parent / "corpus" / "leak_exit_in_thread"
        if not program.exists():
            self.skip("the corpus is not built")
        frames = self.play("threads", self.page_of(self.run_simulated(program)))
        threads = [frame for frame in frames if frame.startswith("thread ")]
        self.assertEqual((len(set(threads)), [frame for frame in frames if frame not in threads]), (2, ["all", "main", "worker()"]))

    def test_of_a_range_of_time_is_told_what_came_what_stayed_and_what_left(self):
        """Which line allocated what lived between the two marks?"""
        log = self.run_simulated(sys.executable, SOURCE / "tests" / "programs" / "python" / "spans.py", settings=("--set", "pool=off"))
        [process] = self.report_of(log)["processes"]
        begin, end = process["device_memory"][0]["timeline"][0]["ns"], process["duration_ns"]
        marks = [mark["ns"] for mark in process["marks"]]
        # In the middle of what is before each mark, where nothing happened.
        times = [(begin + marks[0]) // 2, (marks[0] + marks[1]) // 2]
        chosen = [{"ns": ns, "part": (ns - begin) / (end - begin)} for ns in times]
        answer = self.play("range", self.page_of(log), **dict(zip(("from", "to"), chosen)), name="lasting")
        kept, alive, left, new, top = (answer["stacks"][kind] for kind in answer["kinds"][:5])
        self.assertEqual(answer["kinds"][:5], ["New and kept", "At its end", "Freed in it", "All new", "Its peak"])
        self.assertEqual([kept[0], alive[0], left[0], new[0], top[0]],
                         ["all, 18 MiB", "all, 20 MiB", "all, 8 MiB", "all, 26 MiB", "all, 20 MiB"])
        self.assertIn("lasting, 16 MiB, 88.9 %", kept)
        self.assertFalse(any("passing" in node or "late" in node for node in kept), kept)
        self.assertIn("passing, 8 MiB, 100.0 %", left)
        self.assertRegex(answer["said"], r"26 MiB were allocated in 4 blocks, 8 MiB freed; at its end 20 MiB were alive, 18 MiB of them new")
        self.assertEqual(answer["kinds"][5:7], ["Host, kept", "Host, at its end"])
        self.assertRegex(answer["said"], r"Host memory, .*: 5 MiB were allocated in 1 block, 0 B freed; at its end 6 MiB were alive, 5 MiB of them new")
        self.assertRegex(answer["owner"], r"^(lasting spans\.py:\d+: 16|early spans\.py:\d+: 4) MiB of 20 MiB alive at ")
        self.assertEqual(answer["leaks"], [["allocate_host", "5 MiB in it"], ["early", "2 MiB in it"]])
        self.assertRegex(answer["peak"], r": 20 MiB at ")
        self.assertEqual(answer["sizes"].count("MiB –"), 4, answer["sizes"])
        self.assertEqual(len(set(answer["colours"])), 1, answer["colours"])
        self.assertIsNotNone(answer["colours"][0])
        self.assertEqual((answer["kept"], answer["cleared"], answer["back"]), (True, [], True))

    def test_a_comparison_says_what_became_worse_leaks_first(self):
        base, now = self.two_logs(["training_demo", "30"], ["training_demo", "50"])
        answer = self.play("compare", self.page_of(base, now, view="diff"))
        self.assertRegex(answer["lead"], r"^Worse: log_loss\(…\) leaks [0-9.]+ MiB → [0-9.]+ MiB; ")
        self.assertRegex(answer["worse"][0], r"^leak at log_loss\(…\) training_demo\.cu:\d+\t.* in 60 blocks\t→ .* in 100 blocks\t\+2\.5 MiB$")
        self.assertEqual(answer["frames"], ["+ all", "+ main", "+ train(…)", "+ log_loss(…)"])

    def test_of_a_comparison_what_is_less_has_a_sign(self):
        more, fewer = self.two_logs(["training_demo", "50"], ["training_demo", "30"])
        answer = self.play("compare", self.page_of(more, fewer, view="diff"))
        self.assertEqual(answer["frames"], ["− all", "− main", "− train(…)", "− log_loss(…)"])

    def test_a_process_unlike_the_others_is_marked_and_shown_alone(self):
        for rank, steps in enumerate((20, 20, 60, 20)):
            self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", f"rank{rank}.vsl", "--", PROGRAMS / "training_demo", steps,
                         RANK=str(rank))
        answer = self.play("rank", self.page_of(self.folder), name="rank 2")
        self.assertEqual((answer["first"], answer["apart"]), ("ranks", ["rank 2"]))
        self.assertEqual((len(answer["all"][0]), answer["all"][1]), (8, 0))
        self.assertEqual(answer["alone"], [["load_labels()", "log_loss(…)"], 1])
        self.assertEqual(answer["back"], answer["all"])

    def test_of_a_job_a_rank_is_chosen_in_the_map(self):
        for rank in range(6):
            self.execute(VRAMSCOPE, "run", "--simulate", "1GiB", "-o", f"rank{rank}.vsl", PROGRAMS / "live", RANK=str(rank), WORLD_SIZE="6",
                         stdin="hold 4096 3 drop 3 " + ("host 2097152 1 " if rank == 4 else "") + "end ")
        page = self.page_of(self.folder, view="job")
        answer = self.play("job", page, at=4, by="Not freed")
        self.assertEqual((answer["all"], answer["alone"]), (["1 of 6 ranks (4)"], ["1 of 6 ranks (4)"]))
        self.assertRegex(answer["readout"], r"^rank 4\s+Leaks\s+peak 12 KiB · not freed 2 MiB · .* of 1 GiB left · exited with status 0 · ")
        self.assertEqual(answer["marked"], 1)
        self.assertRegex(answer["address"], r"^#map&.*by=leaked")
        self.assertIn("rank=4", answer["address"])
        self.assertEqual((answer["after"], answer["chips"]), (answer["all"], 0))

    def test_segments_are_one_map_in_the_order_of_addresses(self):
        log = self.run_simulated(PROGRAMS / "training_demo", 20, settings=("--set", "pool=split"))
        answer = self.play("dense", self.page_of(log))
        lowest = self.lowest_segment(log)
        self.assertIn(f"{lowest['address']} + 0 B", answer["readout"])
        [owner] = answer["looked"]
        self.assertIn(owner, answer["readout"])
        self.assertTrue(answer["faded"])
        colours = answer["colours"]
        self.assertGreater(len(colours["list"]), 1)
        self.assertEqual(colours["list"].items() - colours["chart"].items(), set())
        self.assertEqual(colours["map"], [colours["list"][owner.split()[0]]])

    def lowest_segment(self, log):
        done = self.execute(VRAMSCOPE, "report", "--json", "-", log)
        [device] = json.loads(done.stdout)["processes"][0]["pool"]["devices"]
        return min(device["at_peak"]["segments"], key=lambda segment: int(segment["address"], 16))

    def test_what_is_open_is_printed_with_its_bars_in_the_colours_of_paper(self):
        answer = self.play("print", self.page_of_demo())
        self.assertGreater(answer.pop("bars"), 3)
        self.assertEqual(answer, {"drawn": True, "background": "rgb(252, 252, 251)", "header": "none", "stack": 3, "whole": True})

    def saved_table(self, page, part, table, folded=False):
        """By a reader of CSV: the name of the file, its heads, its rows."""
        answer = self.play("csv", page, part=part, table=table, folded=folded)
        heads, *rows = csv.reader(answer["text"].splitlines())
        return answer["name"], heads, rows

    def test_a_table_is_saved_for_a_spreadsheet_with_whole_numbers(self):
        log, report = self.trace_log("training_demo")
        name, heads, rows = self.saved_table(self.page_of(log), "peak", "Call stacks at the peak")
        self.assertEqual((name, heads), ("Call-stacks-at-the-peak.csv", ["Bytes (B)", "Share (%)", "Blocks", "Where"]))
        [device] = report["processes"][0]["device_memory"]
        self.assertEqual([int(row[0]) for row in rows], sorted((row["bytes"] for row in device["peak"]["stacks"]), reverse=True))
        self.assertTrue(any(row[3].startswith("log_loss(std::vector<float*, ") for row in rows), rows)

    def test_the_timeline_is_saved_in_whole_bytes_and_ns(self):
        log, report = self.trace_log("training_demo")
        _, heads, rows = self.saved_table(self.page_of(log), "timeline", "The timeline as a table", folded=True)
        self.assertEqual(heads, ["From (ns)", "Allocated, most (B)", "Least (B)", "Reserved, most (B)", "Pending (B)", "Used on device (B)"])
        [device] = report["processes"][0]["device_memory"]
        self.assertEqual(int(rows[-1][0]), device["timeline"][0]["ns"])
        self.assertEqual(max(int(row[1]) for row in rows), device["at_peak"]["waterfall"]["allocated"])

    def test_a_name_is_no_formula_in_a_spreadsheet(self):
        program = SOURCE / "tests" / "programs" / "python" / "formula_names.py"
        log = self.run_simulated(sys.executable, program, *FORMULAS, 'a "b", c')
        _, _, rows = self.saved_table(self.page_of(log), "peak", "Memory at each mark")
        self.assertEqual([row[1] for row in reversed(rows)], [*(f"'{name}" for name in FORMULAS), 'a "b", c'])


if __name__ == "__main__":
    if why_no_pages():
        print(f"SKIPPED: {why_no_pages()}")
        sys.exit(NOT_HERE)
    unittest.main()
