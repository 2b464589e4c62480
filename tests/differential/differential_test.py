# tests/differential/differential_test.py — a few thousand random sequences; and the tester, which
# must be able to fail.
#
# VRAMSCOPE_BUILD names the build folder; ctest sets it.
import copy
import dataclasses
import os
import pathlib
import re
import sys
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
from sequences import Batch, Comparison, Player, batches, disagreements, parse_batch, uncalled  # noqa: E402

BUILD = pathlib.Path(os.environ.get("VRAMSCOPE_BUILD", "build/dev")).resolve()
SEQUENCES = {"off": 3300, "cache": 2500, "split": 2000, "split+guard": 600, "split+strict": 300, "split+limit": 400,
             "cache+strict": 300, "cache+limit": 300}
BROKEN = BUILD / "lib" / "libdifferential_broken.so"


class DifferentialTest(unittest.TestCase):
    maxDiff = None

    def comparison(self, **how):
        made = Comparison(Player(BUILD, **how))
        self.addCleanup(made.close)
        return made

    def assert_no_failures(self, failures):
        self.assertEqual("", "\n".join(f"{failure.what}\n--replay '{failure.batch}'\n{failure.text}" for failure in failures))


class SequencesTest(DifferentialTest):
    def test_the_program_cannot_tell_that_it_is_traced(self):
        comparison = self.comparison()
        for pool, sequences in SEQUENCES.items():
            with self.subTest(pool):
                for batch in batches(sequences=sequences, seed=1, size=1000, pool=pool):
                    self.assert_no_failures(comparison.run(batch))
        self.assertEqual(uncalled(comparison.rows), [], "no sequence calls these rows of the hook table")

    def test_sequences_that_failed_once(self):
        comparison = self.comparison()
        lines = [line for line in (HERE / "seeds.txt").read_text().splitlines() if line and not line.startswith("#")]
        for line in lines:
            options, _, what = line.partition("#")
            with self.subTest(what.strip()):
                self.assert_no_failures(comparison.run(parse_batch(options)))


    def test_questions_are_those_that_the_hooks_ask(self):
        source = HERE.parents[1]
        asked = re.findall(r'take\(\w+, "(\w+)"\)', (source / "interpose" / "hooks" / "driver.cpp").read_text())
        lists = re.findall(r"(k\w+)\[\] = \{(.*?)\}", (HERE / "player" / "questions.hpp").read_text(), re.DOTALL)
        listed = {name: re.findall(r'"(cu\w+)"', text) for name, text in lists}
        self.assertEqual(sorted(asked), sorted(listed["kQuestions"] + listed["kPoolCalls"]))


class BrokenTest(DifferentialTest):
    """An interposer that does harm is seen."""

    def broken(self, how):
        return self.comparison(preloads=[BROKEN], environment={"VRAMSCOPE_BROKEN": how})

    def failure(self, how, pool="off"):
        failures = self.broken(how).run(Batch(seed=1, first=0, count=400, pool=pool), most=1)
        self.assertEqual(len(failures), 1, "not seen")
        return failures[0]

    def changed(self, failure):
        lines = failure.text.splitlines()
        return ([line[2:] for line in lines if line.startswith("- ")], [line[2:] for line in lines if line.startswith("+ ")])

    def test_the_library_is_harmless_of_itself(self):
        comparison = self.comparison(preloads=[BROKEN])
        self.assert_no_failures(comparison.run(Batch(seed=1, first=0, count=400)))

    def test_another_result(self):
        plain, traced = self.changed(self.failure("result"))
        self.assertIn("= 2", plain[0])
        self.assertIn("= 999", traced[0])

    def test_a_null_pointer_not_written_on_failure(self):
        plain, traced = self.changed(self.failure("out"))
        self.assertNotIn("untouched", plain[0])
        self.assertIn("untouched", traced[0])

    def test_calls_in_another_order(self):
        plain, traced = self.changed(self.failure("order"))
        self.assertIn("[cuMemFree_v2=", plain[0])
        self.assertNotIn("[cuMemFree_v2=", traced[0])

    def test_a_call_too_many(self):
        plain, traced = self.changed(self.failure("extra"))
        self.assertNotIn("[cuDeviceGetCount", plain[0])
        self.assertIn("[cuDeviceGetCount", traced[0])

    def test_errno_lost(self):
        plain, traced = self.changed(self.failure("errno"))
        self.assertNotIn("errno", plain[0])
        self.assertIn("errno 0", traced[0])

    def test_with_a_pool_the_answers_still_count(self):
        for pool in ("cache", "split"):
            for how, seen in {"result": "= 999", "out": "untouched", "errno": "errno 0"}.items():
                with self.subTest(pool, how=how):
                    plain, traced = self.changed(self.failure(how, pool))
                    self.assertNotRegex(plain[0], seen)
                    self.assertRegex(traced[0], seen)

    def test_a_step_that_is_needed_no_more_once_a_later_one_is_gone_is_left_out(self):
        def fails(batch):
            return 24 in batch.keep and (2 in batch.keep or 3 not in batch.keep)
        self.assertEqual(Comparison._shorter(Batch(seed=1, first=0, count=1), fails).keep, (24,))

    def test_what_is_found_is_made_small(self):
        small = self.failure("result").batch
        self.assertEqual(small.count, 1)
        self.assertLessEqual(len(small.keep), 4)  # of 30: one that fails, and what that needs, say a fault, a context, a thread
        for step in small.keep:
            fewer = tuple(other for other in small.keep if other != step)
            self.assert_no_failures(self.broken("result").run(dataclasses.replace(small, keep=fewer)))


class OracleTest(DifferentialTest):
    """A report that says something else than the program counted is seen."""

    def played(self, **how):
        comparison = self.comparison(**how)
        log = comparison.folder / "log.vsl"
        played = comparison.player.play(Batch(seed=1, first=0, count=200), log=log)
        return played.summary["totals"], comparison.player.report(log, comparison.folder / "report.json")

    def test_memory_that_the_program_did_not_ask_for(self):
        counted, report = self.played(preloads=[BROKEN], environment={"VRAMSCOPE_BROKEN": "leak"})
        self.assertIn("allocations: the program counted", "\n".join(disagreements(counted, report)))

    def test_each_number(self):
        counted, report = self.played()
        self.assertEqual(disagreements(counted, report), [])
        numbers = [("totals", name) for name in ("allocations", "frees", "allocated_bytes", "address_reservations",
                                                 "reserved_address_bytes")]
        numbers += [("coverage", name) for name in ("missed_frees", "unmatched_frees", "undefined_events", "lost_events",
                                                    "damaged_chunks", "graph_allocations", "truncated")]
        for part, name in numbers:
            other = copy.deepcopy(report)
            other[part][name] += 1
            self.assertEqual(len(disagreements(counted, other)), 1, name)
        for leak in range(len(report["leaks"])):
            for name in ("bytes", "blocks"):
                other = copy.deepcopy(report)
                other["leaks"][leak][name] += 1
                self.assertEqual(len(disagreements(counted, other)), 1, other["leaks"][leak])

    def test_a_row_that_nothing_calls(self):
        rows = {"cuMemAlloc_v2": [5, 6, 7, 9], "cuNew": [4, 0, 3, 0]}
        self.assertEqual(uncalled(rows), ["cuNew by dlsym"])


if __name__ == "__main__":
    unittest.main()
