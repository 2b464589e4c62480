# tests/e2e/live/reach_oracle_test.py — what is said of each way to keep an object of Python, judged by its own collector.
#
# kept.py asks gc.get_referrers for each step of each chain, and says what gc.collect() freed.
import json
import re
import unittest

from live import SOURCE, LiveTest, simulated_only
from reach_python_test import KNOWN, interpreters

PROGRAM = SOURCE / "tests" / "programs" / "python" / "kept.py"
GARBAGE = {"cycle", "cycle_of_two", "below_a_cycle", "cycle_of_a_frame"}
DROPPED = {"dropped_of_deque"}
WRONG_AT_MOST = 0.05  # of all chains


@simulated_only
class ReachOracle(LiveTest):
    @staticmethod
    def ask(process, question):
        process.stdin.write(json.dumps(question) + "\n")
        process.stdin.flush()
        return json.loads(process.stdout.readline())

    def search(self, process, names):
        """{name: (verdict, chain)}"""
        groups = [group for row in self.reach(process)["rows"] for group in row["groups"]]
        said = {names[group["sum"]["bytes"]]: (group["verdict"], [re.sub(r"thread \d+", "thread N", step)
                                                                 for step in group["chain"]]) for group in groups}
        said.pop("first")
        self.assertEqual(set(said), set(names.values()) - {"first"})
        return said

    def judge(self, python):
        """How many chains there are, and those that are not as the collector has them."""
        process, names = self.start_python(python, PROGRAM)
        said = self.search(process, names)
        self.assertEqual(self.search(process, names), said, "a second search says the same")
        kept = said.keys() - GARBAGE - DROPPED
        # A word that was left over may lead to what is kept before its own way does, or to what is not kept.
        weaker = {name for name in said if (said[name][0] == "held") != (name in kept) and not said[name][1][0].startswith("a temporary of")}
        true = self.ask(process, {name: [said[name][1]] for name in kept})
        freed = self.ask(process, "collect")
        collectable = {name for name, (verdict, chain) in said.items() if "gc.collect()" in " ".join(chain)}
        self.assertLessEqual(collectable, set(freed))
        self.assertLessEqual(set(freed), GARBAGE)
        self.end_python(process)
        self.assertEqual(process.returncode, 0)
        self.log.unlink()
        self.assertEqual({name for name in kept if said[name][0] == "lost"}, set(), said)
        return len(kept), {name: said[name][1] for name in weaker | {name for name in kept if true.get(name) != [True]}}

    def test_the_collector_says_that_chains_are_true(self):
        count, wrong = 0, []
        for version in KNOWN:
            for python in interpreters(version)[:1] or [None]:
                with self.subTest(python=python or version):
                    if python is None:
                        self.skipTest(f"no Python {version} is here")
                    chains, of_them = self.judge(python)
                    count += chains
                    wrong += of_them.items()
        self.assertLessEqual(len(wrong), WRONG_AT_MOST * count, wrong)


if __name__ == "__main__":
    unittest.main()
