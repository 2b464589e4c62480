# tests/corpus/checker_test.py — a checker that cannot fail is a defect: wrong truths are missed,
# unplanted rows are false.
#
# One real program is run once; each test changes its truth, or the report, and says what must come
# of it.
import contextlib
import copy
import functools
import io
import json
import pathlib
import subprocess
import tempfile
import unittest

import checker
import corpus_test
import truth

PROGRAMS = pathlib.Path(__file__).parent / "programs"


@functools.cache
def report_of(name):
    """The program, and the report of a run."""
    program = truth.read_program(PROGRAMS / f"{name}.cu")
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report.json"
        subprocess.run(corpus_test.command_of(program, report), cwd=folder, capture_output=True, timeout=60, check=False,
                       env=corpus_test.environment())
        return program, json.loads(report.read_text())


class CheckerTest(unittest.TestCase):
    def failures(self, program, report):
        return [(outcome.kind, outcome.result) for outcome in checker.check(program, report) if outcome.result != "found"]

    def changed(self, name, old, new):
        """The program with another truth."""
        program, report = report_of(name)
        text = program.source.read_text()
        self.assertIn(old, text)
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / f"{name}.cu"
            source.write_text(text.replace(old, new))
            return self.failures(truth.read_program(source), report)

    def ended_with(self, status):
        """What comes of a program that says that its toolkit is too old, and ends so."""
        real, corpus_test.command_of = corpus_test.command_of, lambda *_: ["sh", "-c", f"echo needs CUDA 99; exit {status}"]
        self.addCleanup(setattr, corpus_test, "command_of", real)
        said = io.StringIO()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(said):
            outcomes = corpus_test.run(truth.read_program(PROGRAMS / "leak_device.cu"), pathlib.Path(folder) / "run")
        return said.getvalue(), [outcome.result for outcome in outcomes]

    def test_a_program_that_its_toolkit_is_too_old_for_is_skipped_by_name_and_no_other_is(self):
        self.assertEqual(self.ended_with(77), ("SKIPPED: leak_device: needs CUDA 99\n", []))
        self.assertEqual(self.ended_with(78), ("", ["missed"]))

    def test_the_truth_passes(self):
        self.assertEqual(self.failures(*report_of("leak_device")), [])
        self.assertEqual(self.failures(*report_of("oom_lacking")), [])

    def test_a_wrong_number_is_missed(self):
        for old, new in (("bytes=3000", "bytes=3001"), ("blocks=1", "blocks=2"), ("blocks=1", "blocks=1 rows=2")):
            with self.subTest(new):
                self.assertEqual(self.changed("leak_device", old, new), [("leak leaked-at-exit", "missed")])
        self.assertEqual(self.changed("oom_lacking", "short_by=6MiB", "short_by=8MiB"),
                         [("oom lacking", "missed")])

    def test_a_wrong_end_of_a_context_is_missed(self):
        self.assertEqual(self.failures(*report_of("misuse_free_after_reset")), [])
        for old, new in (("ended_api=cudaDeviceReset", "ended_api=cuCtxDestroy"),
                         ("ended_function=start_again", "ended_function=main")):
            with self.subTest(new):
                self.assertEqual(self.changed("misuse_free_after_reset", old, new),
                                 [("misuse free-after-context", "missed")])

    def test_a_wrong_function_or_kind_is_missed_and_the_row_is_false(self):
        self.assertEqual(self.changed("leak_device", "load_table", "load"),
                         [("leak leaked-at-exit", "missed"), ("leak leaked-at-exit", "false")])
        self.assertEqual(self.changed("leak_device", "leaked-at-exit", "leaked-at-reset"),
                         [("leak leaked-at-reset", "missed"), ("leak leaked-at-exit", "false")])

    def test_a_leak_that_is_not_planted_is_false(self):
        self.assertEqual(self.changed("leak_device", "// truth: leak", "// truth, not: leak"),
                         [("leak leaked-at-exit", "false")])

    def test_a_wrong_verdict_is_missed_and_false(self):
        self.assertEqual(self.changed("leak_device", "verdict leaks", "verdict clean"),
                         [("verdict clean", "missed"), ("verdict leaks", "false")])

    def test_every_list_is_closed(self):
        program, report = report_of("leak_device")
        for name in ("unclosed_imports", "graph_memory", "owners_not_destroyed", "suppressed"):
            with self.subTest(name):
                more = copy.deepcopy(report)
                more[name] = more["leaks"]
                self.assertEqual([result for _, result in self.failures(program, more)], ["false"])

    def test_a_wrong_class_is_missed_and_false(self):
        self.assertEqual(self.changed("leak_per_step", "class=growing per=step slope=4KiB", "class=cache"),
                         [("growth", "false"), ("class cache", "missed"), ("class growing", "false")])
        self.assertEqual(self.changed("leak_per_step", "class=growing per=step slope=4KiB", "api=cudaMalloc"),
                         [("growth", "false"), ("class growing", "false")])
        self.assertEqual(self.changed("leak_per_step", "slope=4KiB", "slope=5KiB"),
                         [("growth", "missed"), ("leak leaked-at-exit", "missed")])
        self.assertEqual(self.changed("leak_per_step", "per=step", "per=epoch"),
                         [("growth", "missed"), ("leak leaked-at-exit", "missed")])

    def test_growth_that_is_freed_is_a_truth_of_its_own(self):
        self.assertEqual(self.changed("growth_freed_at_exit", "// truth: growth", "// truth, not: growth"),
                         [("growth", "false")])
        self.assertEqual(self.changed("growth_freed_at_exit", "freed=true", "freed=false"), [("growth", "missed")])

    def test_the_waterfall_must_add_up_and_be_the_planted_one(self):
        self.assertEqual(self.changed("frag_moments", "pending=16MiB", "pending=8MiB"), [("waterfall", "missed")])
        self.assertEqual(self.changed("frag_moments", "pieces=1", "pieces=2"), [("gaps", "missed")])
        program, report = report_of("leak_device")
        wrong = copy.deepcopy(report)
        wrong["processes"][0]["device_memory"][0]["at_end"]["waterfall"]["stuck"] += 1
        self.assertEqual(self.failures(program, wrong), [("waterfall adds up", "missed")])

    def test_the_peak_and_the_advice_are_closed_where_they_are_planted(self):
        self.assertEqual(self.changed("peak_by_stack", "// truth: peak function=forward", "// truth, not: peak function=forward"),
                         [("peak", "false")])
        self.assertEqual(self.changed("peak_by_stack", "bytes=3*4MiB", "bytes=2*4MiB"), [("peak", "missed")])
        self.assertEqual(self.changed("advice_never_freed", "kind=never-freed", "kind=released-late"),
                         [("advice released-late", "missed"), ("advice never-freed", "false")])
        program, report = report_of("leak_device")
        wrong = copy.deepcopy(report)
        wrong["processes"][0]["device_memory"][0]["peak"]["apis"][0]["bytes"] += 1
        self.assertEqual(self.failures(program, wrong), [("peak adds up", "missed")])

    def test_sums_are_closed_where_they_are_planted(self):
        name = "leak_recursion_per_step"
        self.assertEqual(self.failures(*report_of(name)), [])
        for old, new in (("stacks=40", "stacks=41"), ("slope=1000", "slope=2000")):
            with self.subTest(new):
                self.assertEqual(self.changed(name, f"{old} ", f"{new} "), [("sum", "missed")])
        program, report = report_of(name)
        report = copy.deepcopy(report)
        report["leaks_by_function"] += copy.deepcopy(report["leaks_by_function"])
        self.assertEqual(self.failures(program, report), [("sum", "missed")])
        report["leaks_by_function"][1]["frame"]["function"] = "other"
        self.assertEqual(self.failures(program, report), [("sum", "false")])

    def test_totals_are_those_of_the_rows(self):
        program, report = report_of("leak_device")
        less = copy.deepcopy(report)
        less["totals"]["leaked_bytes"] -= 1
        self.assertEqual(self.failures(program, less), [("total leaked_bytes", "missed")])

    def test_a_truth_that_follows_no_grammar_is_an_error(self):
        for text in ("leek function=f", "leak function=f byte=3", "leak function=f bytes=", "leak function=f function=g",
                     "verdict", "verdict clean leaks"):
            with self.subTest(text), self.assertRaises(truth.BadTruth):
                truth.parse_truth(text, "here", 1)
        for text in ("x", "3KB", "3 4", "", "*3", "3**4", "2+"):
            with self.subTest(text), self.assertRaises(truth.BadTruth):
                truth.number(text)
        self.assertEqual(truth.number("2*64KiB+1"), 2 * 65536 + 1)

    def test_the_exit_status_is_that_of_the_verdict(self):
        for name, status in (("leak_device", 100), ("trap_arena", 0), ("crash_of_child", 111), ("crash_abort", 134),
                             ("trap_nothing_done", 110)):
            self.assertEqual(corpus_test.status_of(truth.read_program(PROGRAMS / f"{name}.cu")), status)

    def test_what_is_known_to_be_wrong_must_be_wrong(self):
        program = truth.read_program(PROGRAMS / "leak_device.cu")
        wrong = [checker.Outcome("growth", "false", "leak_device: growth not planted")]
        self.assertEqual(corpus_test.surprises(wrong, {"leak_device growth false"}, [program]), [])
        self.assertEqual(len(corpus_test.surprises(wrong, set(), [program])), 1)
        self.assertEqual(len(corpus_test.surprises([], {"leak_device growth false"}, [program])), 1)
        self.assertEqual(corpus_test.surprises([], {"other growth false"}, [program]), [])

    def test_the_table_counts_by_kind(self):
        outcomes = [checker.Outcome("leak", "found"), checker.Outcome("leak", "missed"), checker.Outcome("oom", "false")]
        self.assertEqual(checker.counts(outcomes), {"leak": {"planted": 2, "found": 1, "missed": 1, "false": 0},
                                                    "oom": {"planted": 0, "found": 0, "missed": 0, "false": 1}})


if __name__ == "__main__":
    unittest.main()
