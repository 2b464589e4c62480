#!/usr/bin/env python3
# tests/tools/plan_test.py — `plan`: the answer, its exit status, and its word kept
# by the simulated GPU.
import json
import unittest

from cli import CliTest, PROGRAMS

MIB = 1 << 20
# 40 MiB at the peak, 5 blocks of which live on.
ORDERS = f"hold {4 * MIB} 10 drop 5 end\n"


class PlanTest(CliTest):
    def live(self, orders=ORDERS, log="run.vsl", *options):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "--force", "-o", log, *options, PROGRAMS / "live",
                                           stdin=orders)
        self.assertEqual(status, 0, stderr)
        return log

    def plan(self, *arguments, status=0):
        found, stdout, stderr = self.vramscope("plan", *arguments)
        self.assertEqual((found, stderr), (status, ""), stdout)
        return stdout

    def plan_json(self, *arguments, status=0):
        found = json.loads(self.plan("--json", "-", *arguments, status=status))
        self.assertEqual(found["exit_status"], status)
        return found

    def judged(self, *arguments, status=0):
        return self.plan_json(*arguments, status=status)["processes"][0]["devices"][0]["policies"][0]


class Answer(PlanTest):
    def test_the_smallest_card_comes_first(self):
        text = self.plan(self.live())
        self.assertRegex(text, r"^NEEDS: the smallest card that fits has 40 MiB \(cache, as recorded\)\n")
        self.assertIn("No knob helps: at the peak 40 MiB are live", text)
        self.assertRegex(text, r"\n +100\.0 % +40 MiB  hold\(.*\) live\.cpp:\d+\n")

    def test_what_does_not_fit_ends_100_and_says_where(self):
        text = self.plan(self.live(), "--card", "32MiB", "--card", "1GiB", status=100)
        self.assertRegex(text, r"^DOES NOT FIT on 32 MiB: ")
        self.assertRegex(text, r"lower hold\(.*\) live\.cpp:\d+ by 8 MiB")
        self.assertRegex(text, r"On 32 MiB: out of memory at .* for 4 MiB: all that is free together are 0 B; hold")
        self.assertRegex(text, r"room, if 1 block of 4 MiB had been freed: hold")
        self.assertRegex(self.plan("run.vsl", "--card", "1GiB"), r"^FITS on 1 GiB: ")

    def test_a_policy_that_is_named_is_judged(self):
        policy = self.judged(self.live(), "--policy", "torch:expandable_segments:True")
        self.assertEqual((policy["name"], policy["recorded"]), ("torch:expandable_segments:True", False))
        names = [row["name"] for row in self.plan_json("run.vsl", "--policy", "none")["processes"][0]["devices"][0]["policies"]]
        self.assertEqual(names, ["no-allocator", "cache"])

    def test_the_recorded_policy_is_that_of_the_run(self):
        self.live(ORDERS, "split.vsl", "--pool", "split")
        self.assertEqual(self.judged("split.vsl")["name"], "split")
        self.live(ORDERS, "off.vsl", "--pool", "off")
        self.assertEqual(self.judged("off.vsl")["name"], "no-allocator")

    def test_the_recorded_policy_has_the_settings_of_the_run(self):
        self.live(ORDERS, "run.vsl", "--set", "max_cached=0", "--set", "wait_from=off", "--set", "poison=0xa5", "--set", "pool_sync=strict")
        device = self.plan_json("run.vsl")["processes"][0]["devices"][0]
        self.assertEqual(device["policies"][0]["name"], "cache:sync:strict,wait_from:off,max_cached:0")
        self.assertNotIn("which is not replayed", " ".join(device["unknown"]))
        self.live(ORDERS, "run.vsl", "--pool", "split", "--set", "pool_sync=strict", "--set", "guard=on")
        device = self.plan_json("run.vsl")["processes"][0]["devices"][0]
        self.assertEqual(device["policies"][0]["name"], "split:sync:strict")
        self.assertIn("guard:on, which is not replayed", " ".join(device["unknown"]))

    def test_a_program_that_ran_out_of_memory_is_not_known_to_fit(self):
        self.vramscope("run", "--simulate", "32MiB", "--force", "-o", "oom.vsl", PROGRAMS / "live", stdin=ORDERS)
        found = self.plan_json("oom.vsl", "--card", "1GiB", status=111)
        self.assertEqual(found["verdict"], "unknown")
        self.assertIn("failed for want of memory", found["processes"][0]["doubts"][-1])
        failure = found["processes"][0]["devices"][0]["recorded_failure"]
        self.assertFalse(failure["fits"])
        self.assertEqual(failure["first_shortage"]["would_make_room"][0]["bytes"], 4 * MIB)

    def test_json_follows_its_schema(self):
        self.live()
        self.live(f"hold {8 * MIB} 10 drop 5 end\n", "two.vsl")
        self.plan("run.vsl", "two.vsl", "--card", "16MiB", "--scale", "batch=1,2", "--json", "plan.json", status=100)
        self.assert_follows_schema("plan", "plan.json")


class SmallestCard(PlanTest):
    """The simulated GPU is as large as the plan says, or 2 MiB smaller."""
    PROGRAMS = {"one size": f"hold {4 * MIB} 20 drop 5 end\n",
                "small ones": "hold 70000 900 drop 300 hold 200000 100 drop 50 end\n",
                "grows": f"hold {MIB} 8 drop 8 hold {3 * MIB} 8 drop 8 hold {9 * MIB} 8 drop 2 end\n",
                "odd sizes": f"hold {5 * MIB + 1} 7 drop 3 hold {11 * MIB + 4096} 4 drop 4 hold 1000 50 end\n"}

    SETTINGS = (("max_cached=0",), ("max_cached=off", "wait_from=off"), ("pool_sync=strict",), ("roundup_power2_divisions=4",))

    def runs_on(self, size, orders, mode, settings=()):
        options = [option for setting in settings for option in ("--set", setting)]
        self.vramscope("run", "--simulate", str(size), "--pool", mode, *options, "--force", "-o", "again.vsl", "--json",
                       "again.json", PROGRAMS / "live", stdin=orders)
        return not self.read_json("again.json")["out_of_memory"]

    def test_so_it_is_with_each_setting_of_the_pool(self):
        for mode in ("cache", "split"):
            for settings in self.SETTINGS:
                with self.subTest(mode=mode, settings=settings):
                    orders = self.PROGRAMS["grows"]
                    self.live(orders, "run.vsl", "--pool", mode, *(part for setting in settings for part in ("--set", setting)))
                    need = self.judged("run.vsl")["smallest_card_bytes"]
                    self.assertTrue(self.runs_on(need, orders, mode, settings), f"{need} bytes")
                    self.assertFalse(self.runs_on(need - 2 * MIB, orders, mode, settings), f"{need} bytes less 2 MiB")

    def test_the_program_runs_on_it_and_not_on_one_of_2_mib_less(self):
        for mode in ("cache", "split", "off"):
            for name, orders in self.PROGRAMS.items():
                with self.subTest(mode=mode, program=name):
                    self.live(orders, "run.vsl", "--pool", mode)
                    need = self.judged("run.vsl")["smallest_card_bytes"]
                    self.assertTrue(self.runs_on(need, orders, mode), f"{need} bytes")
                    self.assertFalse(self.runs_on(need - 2 * MIB, orders, mode), f"{need} bytes less 2 MiB")


class Scale(PlanTest):
    def test_a_line_through_the_peaks_gives_the_largest_batch(self):
        for batch in (1, 2, 4):
            self.live(f"hold {4 * MIB} {batch} end\n", f"{batch}.vsl")
        found = self.plan_json("1.vsl", "2.vsl", "4.vsl", "--scale", "batch=1,2,4", "--card", "64MiB")["scale"]
        self.assertEqual(found["live_bytes"], [4 * MIB, 8 * MIB, 16 * MIB])
        self.assertAlmostEqual(found["live_line"]["each_bytes"], 4 * MIB, places=3)
        self.assertAlmostEqual(found["live_line"]["fixed_bytes"], 0, places=3)
        self.assertEqual(found["cards"][0]["largest"], 16)
        self.assertIn("Largest batch on 64 MiB: 16", self.plan("1.vsl", "2.vsl", "4.vsl", "--scale", "batch=1,2,4",
                                                               "--card", "64MiB"))
        two = ["1.vsl", "2.vsl", "--scale", "batch=1,2", "--card", "64MiB"]
        [card] = self.plan_json(*two)["scale"]["cards"]
        self.assertEqual((card["largest"], card["least"], card["most"]), (16, None, None))
        self.assertIn("two runs do not tell", " ".join(self.plan(*two).split()))

    def test_runs_that_lie_on_no_line_are_said_to(self):
        for batch, blocks in ((1, 1), (2, 12), (4, 3)):
            self.live(f"hold {4 * MIB} {blocks} end\n", f"{batch}.vsl")
        runs = ["1.vsl", "2.vsl", "4.vsl", "--scale", "batch=1,2,4", "--card", "64MiB"]
        found = self.plan_json(*runs)["scale"]
        self.assertEqual((found["card_line"]["straight"], found["cards"][0]["largest"]), (False, None))
        self.assertIn("Largest batch on 64 MiB: not known: these runs lie on no line", " ".join(self.plan(*runs).split()))


class Usage(PlanTest):
    def assert_refused(self, *arguments, part):
        status, stdout, stderr = self.vramscope("plan", *arguments)
        self.assertEqual((status, stdout), (125, ""), stderr)
        self.assert_one_line(stderr, part)

    def test_wrong_words_are_one_line(self):
        self.live()
        self.assert_refused("run.vsl", "--card", "24Gib", part="write a size such as 24GiB")
        self.assert_refused("run.vsl", "--card", "0", part="write a size such as 24GiB")
        self.assert_refused("run.vsl", "--policy", "tcmalloc", part="tcmalloc")
        self.assert_refused("run.vsl", "--policy", "torch:max_split=1", part="max_split")
        self.assert_refused("run.vsl", "--scale", "batch", part="batch=8,16,32")
        self.assert_refused("run.vsl", "--scale", "batch=8,16", part="2 numbers for 1 logs")
        self.assert_refused("run.vsl", "run.vsl", "--scale", "batch=8,8", part="two different numbers")

    def test_a_file_that_is_no_log_ends_120(self):
        (self.folder / "no.vsl").write_text("no log")
        status, stdout, stderr = self.vramscope("plan", "no.vsl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "no.vsl")


if __name__ == "__main__":
    unittest.main()
