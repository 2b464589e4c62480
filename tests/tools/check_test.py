#!/usr/bin/env python3
# tests/tools/check_test.py — `check` and `run --check`: every exit status, seen from outside, and
# budgets that are wrong.
import json
import os
import signal
import subprocess
import unittest

from cli import CliTest, PROGRAMS, SOURCE, VRAMSCOPE

MIB = 1 << 20
CLEAN = f"hold {MIB} 2 drop 2 end\n"
LEAKY = f"hold {MIB} 3 drop 1 end\n"
RANKS = f"""#!/bin/bash
export OMPI_COMM_WORLD_SIZE=3
for rank in 0 1 2; do
  OMPI_COMM_WORLD_RANK=$rank
  export OMPI_COMM_WORLD_RANK
  if [ $rank = "$1" ]; then {PROGRAMS}/ends $2; else echo hold 4096 1 drop 1 end | {PROGRAMS}/live > /dev/null; fi
done
exit 0
"""


class CheckTest(CliTest):
    def live(self, orders, log="run.vsl"):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "--force", "-o", log, PROGRAMS / "live",
                                           stdin=orders)
        self.assertEqual(status, 0, stderr)
        return log

    def check(self, *arguments, status=0):
        found, stdout, stderr = self.vramscope("check", *arguments)
        self.assertEqual((found, stderr), (status, ""), stdout)
        return stdout

    def check_json(self, *arguments, status=0):
        found = json.loads(self.check("--json", "-", *arguments, status=status))
        self.assertEqual(found["exit_status"], status)
        return found

    def ends(self, way):
        self.vramscope("run", "--simulate", "1GiB", "--force", "-o", "run.vsl", PROGRAMS / "ends", way)
        return "run.vsl"


class OfALog(CheckTest):
    def test_what_is_clean_ends_0(self):
        self.assertEqual(self.check(self.live(CLEAN)), "PASSED: leaked 0 B, at most 0 B\n"
                         "  leaked                      0 B  at most 0 B             ok\n"
                         "Next: vramscope report run.vsl\n")
        self.assertEqual(self.check_json("run.vsl")["verdict"], "passed")

    def test_what_leaks_ends_100_and_is_named(self):
        text = self.check(self.live(LEAKY), status=100)
        self.assertRegex(text, r"^FAILED: leaked 2 MiB, at most 0 B\n")
        self.assertRegex(text, r"\n +2 MiB in 2 blocks +cuMemAlloc  hold\(.*\) live\.cpp:\d+\n")
        self.assertRegex(text, r"\nNext: vramscope leaks run\.vsl\n$")
        self.assertEqual(self.check_json("run.vsl", status=100)["verdict"], "failed")

    def test_budgets_come_from_options(self):
        self.live(LEAKY)
        self.check("run.vsl", "--max-leaked", "2MiB")
        self.check("run.vsl", "--max-leaked", str(2 * MIB - 1), status=100)
        self.check("run.vsl", "--fail-on", "none")
        self.check("run.vsl", "--fail-on", "none", "--max-peak", "3MiB")
        self.check("run.vsl", "--fail-on", "none", "--max-peak", "2.5MiB", status=100)
        self.check("run.vsl", "--fail-on", "none", "--max-reserved", "1MiB", status=100)
        self.check("run.vsl", "--fail-on", "none", "--max-driver-calls", "3")
        self.check("run.vsl", "--fail-on", "none", "--max-driver-calls", "2", status=100)

    def test_budgets_come_from_a_file_and_options_go_before_it(self):
        self.live(LEAKY)
        (self.folder / "budget.json").write_text(json.dumps(
            {"max-leaked": "1MiB", "max-peak": 8 * MIB, "fail-on": ["leaks", "misuse"], "allow-inconclusive": False}))
        found = self.check_json("run.vsl", "--budget", "budget.json", status=100)
        self.assertEqual([(row["budget"], row["limit"], row["state"]) for row in found["budgets"]],
                         [("max-leaked", MIB, "failed"), ("max-peak", 8 * MIB, "ok"), ("misuse", 0, "ok")])
        self.check("run.vsl", "--budget", "budget.json", "--max-leaked", "2MiB")

    def test_findings_fail_where_they_are_asked_for(self):
        self.simulate(PROGRAMS / "misuse", "double_free")
        self.check("run.vsl", "--fail-on", "leaks,out-of-memory,damage")
        text = self.check("run.vsl", "--fail-on", "misuse", status=100)
        self.assertRegex(text, r"^FAILED: misuse 3, none allowed\n")
        self.assertRegex(text, r"\n +.* in 3 calls +cuMemFree  double_free\(\) misuse\.cpp:\d+\n")
        self.simulate("--set", "limit=64MiB", PROGRAMS / "pool_memory", "each")
        self.check("run.vsl", "--fail-on", "oom", status=100)

    def test_growth_fails_beyond_its_budget(self):
        self.simulate(PROGRAMS / "training_demo", "40")  # 64 KiB in each of 80 steps
        none = ["run.vsl", "--fail-on", "none"]
        self.check(*none, "--max-growth", "64KiB/step")
        text = self.check(*none, "--max-growth", "63KiB/step", status=100)
        self.assertRegex(text, r"^FAILED: growth 64 KiB/step, at most 63 KiB/step\n")
        self.assertRegex(text, r"\n +.* cudaMalloc  log_loss\(.*training_demo\.cu:\d+\n")
        self.check(*none, "--max-growth", "1GiB/s")
        self.check(*none, "--max-growth", "1/s", status=100)
        self.check("run.vsl", "--fail-on", "growth", status=100)
        (self.folder / "known.supp").write_text("leak:log_loss\n")
        self.check("run.vsl", "--fail-on", "growth", "--suppressions", "known.supp")
        self.live("churn 2000 1 end\n")
        self.check("run.vsl", "--fail-on", "growth,leaks", "--max-growth", "0")

    def test_a_suppressed_leak_passes_and_is_told(self):
        self.live(LEAKY)
        (self.folder / "known.supp").write_text("leak:^(anonymous namespace)::hold(\n")
        text = self.check("run.vsl", "--suppressions", "known.supp")
        self.assertIn("\n  suppressed: 2 MiB in 2 blocks, by 1 rule\n", text)
        (self.folder / "known.supp").write_text("leak:nobody\n" + (self.folder / "known.supp").read_text())
        self.assertIn("\n  not used: leak:nobody (known.supp:1)\n", self.check("run.vsl", "--suppressions", "known.supp"))

    def test_a_crash_ends_111_unless_that_is_allowed(self):
        for way in ["SIGKILL", "SIGSEGV", "abort"]:
            text = self.check(self.ends(way), status=111)
            self.assertRegex(text, r"^INCONCLUSIVE: .*\n  because the program was killed by signal \d+ \(SIG[A-Z]+\)")
            self.check("run.vsl", "--allow-inconclusive")
        self.check("run.vsl", "--max-peak", "1", "--allow-inconclusive", status=100)
        self.check("run.vsl", "--max-peak", "1", status=100)

    def test_a_program_that_failed_by_itself_ends_111_and_100_if_it_leaks(self):
        self.check(self.ends("exit"), status=100)
        text = self.check("run.vsl", "--max-leaked", "1GiB", status=111)
        self.assertIn("  because the program failed: it exited with status 7\n", text)

    def test_a_cut_log_ends_111(self):
        self.live(CLEAN)
        log = self.folder / "run.vsl"
        os.truncate(log, log.stat().st_size - 40_000)
        self.assertIn("because the log is cut", self.check("run.vsl", status=111))
        found = self.check_json("run.vsl", status=111)
        self.assertEqual((found["verdict"], found["budgets"][0]["state"]), ("inconclusive", "unknown"))

    def test_a_damaged_log_ends_111_or_120(self):
        self.live(CLEAN)
        damaged = bytearray((self.folder / "run.vsl").read_bytes())
        end = len(damaged.rstrip(b"\0"))
        damaged[end - 8:end] = b"\xff" * 8
        (self.folder / "damaged.vsl").write_bytes(damaged)
        self.assertIn("the log is damaged", self.check("damaged.vsl", status=111))
        (self.folder / "garbage.vsl").write_bytes(b"x" * 10_000)
        status, stdout, stderr = self.vramscope("check", "garbage.vsl")
        self.assertEqual((status, stdout), (120, ""))
        self.assert_one_line(stderr, "garbage.vsl")

    def test_lost_events_end_111(self):
        self.live(CLEAN)
        log = bytearray((self.folder / "run.vsl").read_bytes())
        log[120] = 3  # the first of the header's counters of lost events: the log could not grow
        (self.folder / "run.vsl").write_bytes(log)
        self.assertIn("3 events were not recorded: the log could not grow", self.check("run.vsl", status=111))

    def test_nothing_seen_ends_110_unless_that_is_allowed(self):
        self.live("hold 1 0 end\n")
        text = self.check("run.vsl", status=110)
        self.assertRegex(text, r"^INCONCLUSIVE: no CUDA memory call was seen\n")
        self.check("run.vsl", "--allow-inconclusive")

    def test_a_running_program_ends_111(self):
        running = subprocess.Popen([VRAMSCOPE, "run", "--simulate", "1GiB", "-o", "live.vsl", PROGRAMS / "live"],
                                   cwd=self.folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL, env=self.environment())
        try:
            running.stdin.write(b"hold 1024 1\n")
            running.stdin.flush()
            self.assertEqual(running.stdout.readline(), b"done\n")
            self.assertIn("still running", self.check("live.vsl", status=111))
        finally:
            running.communicate(b"drop 1 end\n")
        self.check("live.vsl")

    def test_json_follows_its_schema(self):
        self.live(LEAKY)
        self.ends("SIGKILL")
        self.live(LEAKY, log="leaky.vsl")
        for name, arguments in {"a": ["leaky.vsl", "--max-peak", "1GiB", "--max-growth", "1MiB/step"],
                                "b": ["run.vsl"], "c": ["leaky.vsl", "run.vsl", "--fail-on", "leaks,growth,out-of-memory,misuse"]
                                }.items():
            self.vramscope("check", *arguments, "--json", f"{name}.json")
            self.assert_follows_schema("check", f"{name}.json")


class OfManyRanks(CheckTest):
    def run_ranks(self, rank, way):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "-o", f"{way}/%p.vsl",
                                           self.script("mpirun", RANKS), rank, way)
        return stderr

    def test_the_one_that_crashed_decides(self):
        (self.folder / "SIGKILL").mkdir()
        self.run_ranks("1", "SIGKILL")
        text = self.check("SIGKILL", status=111)
        self.assertRegex(text, r"  because process \d+: the program was killed by signal 9 \(SIGKILL\)|unseen")
        ranks = [process["rank"] for process in self.check_json("SIGKILL", status=111)["processes"]]
        self.assertEqual(sorted(ranks), [0, 1, 2])

    def test_the_one_that_leaks_decides_and_is_named(self):
        (self.folder / "exit").mkdir()
        self.run_ranks("2", "exit")
        self.assertRegex(self.check("exit", status=100), r"^FAILED: leaked .*, at most 0 B in rank 2\n")

    def test_the_one_without_a_log_is_missed(self):
        (self.folder / "exit").mkdir()
        self.run_ranks("none", "exit")
        self.check("exit")
        sorted((self.folder / "exit").glob("*.vsl"))[0].unlink()
        self.assertIn("there is no log of rank ", self.check("exit", status=111))


class OfARun(CheckTest):
    def run_check(self, *arguments, stdin=None, env=None):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "--force", "-o", "run.vsl", "--check",
                                           *arguments, stdin=stdin, env=env)
        return status, stderr

    def test_ends_as_check_would_where_the_program_does_not_fail(self):
        status, stderr = self.run_check(PROGRAMS / "live", stdin=CLEAN)
        self.assertEqual(status, 0)
        self.assertEqual(stderr.splitlines()[-1], "vramscope: check PASSED: leaked 0 B, at most 0 B")
        status, stderr = self.run_check(PROGRAMS / "live", stdin=LEAKY)
        self.assertEqual(status, 100)
        self.assertEqual(stderr.splitlines()[-1], "vramscope: check FAILED: leaked 2 MiB, at most 0 B")
        self.assertEqual(self.run_check("--max-leaked", "2MiB", PROGRAMS / "live", stdin=LEAKY)[0], 0)
        self.assertEqual(self.run_check("--max-leaked=2MiB", "--max-peak", "1", "--", PROGRAMS / "live",
                                        stdin=LEAKY)[0], 100)

    def test_ends_as_the_program_did_where_that_failed_by_itself(self):
        for way, own in {"exit": 7, "SIGKILL": 128 + signal.SIGKILL, "SIGSEGV": 128 + signal.SIGSEGV}.items():
            status, stderr = self.run_check(PROGRAMS / "ends", way)
            self.assertEqual(status, own)
            self.assertRegex(stderr.splitlines()[-1], r"^vramscope: check (FAILED|INCONCLUSIVE): ")

    def test_a_child_that_crashed_is_not_within_budget_though_its_parent_ended_well(self):
        script = self.script("hides", f"#!/bin/bash\n{PROGRAMS}/ends SIGKILL 2> /dev/null\nexit 0\n")
        self.assertEqual(self.run_check(script)[0], 111)
        self.assertEqual(self.run_check("--allow-inconclusive", script)[0], 0)

    def test_a_program_without_cuda_ends_110(self):
        status, stderr = self.run_check("/bin/true")
        self.assertEqual(status, 110)
        self.assertEqual(stderr.splitlines()[-1], "vramscope: check INCONCLUSIVE: no CUDA memory call was seen")
        self.assertEqual(self.run_check("--allow-inconclusive", "/bin/true")[0], 0)
        self.assertEqual(self.run_check("/bin/false")[0], 1)

    def test_a_log_that_could_not_be_made_is_not_within_budget(self):
        # Both run as one job; the log of the second has no place.
        script = self.script("two", f"#!/bin/bash\necho hold 1024 1 drop 1 end | {PROGRAMS}/live\n"
                                    f"export VRAMSCOPE_LOG=/no/such/folder/x.vsl\n"
                                    f"echo hold 1024 1 drop 1 end | {PROGRAMS}/live\n")
        status, stderr = self.run_check(script)
        self.assertEqual(status, 111, stderr)
        self.assertIn("cannot create the log", stderr)

    def test_a_wrong_budget_is_found_before_the_program_runs(self):
        status, stderr = self.run_check("--max-peak", "lots", "/bin/touch", "ran")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "--max-peak 'lots'")
        self.assertFalse((self.folder / "ran").exists())
        status, _, stderr = self.vramscope("run", "--max-peak", "1GiB", "/bin/touch", "ran")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "--check")
        self.assertFalse((self.folder / "ran").exists())


WITH_ANOTHER = ("unclosed-imports", "growing-objects")  # kinds of finding that have no word of their own


class KindsOfFindings(CheckTest):
    def test_help_refusal_completion_and_rules_have_the_same_words(self):
        """Those of SARIF come from the table itself; it has rules of budgets and tests too, and of kinds that another's word asks for."""
        self.check(self.live(CLEAN), "--sarif", "check.sarif")
        rules = self.read_json("check.sarif")["runs"][0]["tool"]["driver"]["rules"]
        words = [rule["id"] for rule in rules if not rule["id"].startswith("max-") and rule["id"] not in (*WITH_ANOTHER, "rules", "one-device", "test")]
        self.assertEqual(words[:2], ["leaks", "growth"])
        for command in ("check", "run"):
            self.assertIn(f"with commas: {', '.join(words)}; none\n", self.vramscope(command, "--help-all", env={"COLUMNS": "200"})[1])
        refusal = self.vramscope("check", "none.vsl", "--fail-on", "leek")[2]
        self.assertIn(f"write a list of {', '.join(words[:-1])} and {words[-1]}, or none\n", refusal)
        for word in words:
            self.check("run.vsl", "--fail-on", word)
        manual = " ".join((SOURCE / "tools/README.md").read_text().split())
        self.assertIn(f"`fail-on` knows {', '.join(words)}, and `none`", manual)
        schema = json.loads(self.vramscope("schema", "check")[1])
        self.assertLessEqual({*words[1:], *WITH_ANOTHER}, budget_words(schema))


def budget_words(schema):
    """Wherever the schema has the names of the lines of a budget."""
    if isinstance(schema, dict):
        if "max-peak" in schema.get("enum", ()):
            return set(schema["enum"])
        schema = list(schema.values())
    return set().union(*map(budget_words, schema)) if isinstance(schema, list) else set()


class WrongBudgets(CheckTest):
    def assert_refused(self, *arguments, parts):
        status, stdout, stderr = self.vramscope("check", "none.vsl", *arguments)
        self.assertEqual((status, stdout), (125, ""), arguments)
        self.assert_one_line(stderr, *parts)

    def test_in_options(self):
        for option, values in {"--max-leaked": ["-1", "1X", "1e3", "lots", "0x10", "99999999TiB", "1 MiB", "nan"],
                               "--max-growth": ["-1", "1/mile", "1MiB/", "/step", "inf"],
                               "--max-fragmentation": ["-1", "101", "half"],
                               "--max-driver-calls": ["-1", "1.5", "1k", "99999999999999999999"],
                               "--fail-on": ["leek", "leaks,", "leaks oom"]}.items():
            for value in values:
                self.assert_refused(f"{option}={value}", parts=[option])

    def test_in_a_file(self):
        wrong = {
            '{"max-leaked": -1}': "max-leaked '-1'", '{"max-leaked": 1.5e300}': "max-leaked '1.5e+300'",
            '{"max-leaked": true}': "max-leaked 'true'", '{"max-leaked": null}': "max-leaked 'null'",
            '{"max-leaked": [1]}': "max-leaked '[1]'", '{"max-peak": "much"}': "max-peak 'much'",
            '{"max-peak": 1000000000000000000000}': "max-peak", '{"max-peek": 1}': "there is no budget 'max-peek'",
            '{"max-fragmentation": 200}': "max-fragmentation '200'", '{"max-driver-calls": 0.5}': "max-driver-calls '0.5'",
            '{"fail-on": []}': "fail-on '[]'", '{"fail-on": ["leaks", "none"]}': 'fail-on \'["leaks","none"]\'',
            '{"fail-on": ["leek"]}': "fail-on 'leek'", '{"fail-on": [1]}': "fail-on '1'", '{"fail-on": {}}': "fail-on '{}'",
            '{"allow-inconclusive": "yes"}': "allow-inconclusive 'yes'",
            '{"max-peak": 1, "max-peak": 2}': "'max-peak' is there twice",
            '[]': "is no JSON object", '7': "is no JSON object", '{"max-peak": 1': "is no JSON, at byte",
            '': "is no JSON", '{"max-peak": 1} x': "is no JSON", "[" * 100_000: "is no JSON",
        }
        for text, part in wrong.items():
            (self.folder / "wrong.budget").write_text(text)
            self.assert_refused("--budget", "wrong.budget", parts=["wrong.budget", part])
        (self.folder / "wrong.budget").write_bytes(b'{"\xff\x1b[31m": 1}')
        self.assert_refused("--budget", "wrong.budget", parts=["wrong.budget"])

    def test_in_no_file(self):
        self.assert_refused("--budget", "no.json", parts=["cannot read the budget no.json: No such file"])
        self.assert_refused("--budget", ".", parts=["cannot read the budget .: Is a directory"])
        self.assert_refused("--budget", "/dev/zero", parts=["cannot read the budget /dev/zero: it is no regular file"])


class OfRules(CheckTest):
    def rules(self, text):
        (self.folder / "rules.txt").write_text(text)
        return "rules.txt"

    def test_what_a_rule_says_in_each_form(self):
        log = self.live(LEAKY)
        rules = self.rules("few: limit count-live 1\nno-helper: forbid alloc thread helper\nall: forbid alloc\n")
        text = self.check(log, "--fail-on", "none", "--rules", rules, "--junit", "j.xml", "--sarif", "s.sarif", status=100)
        self.assertTrue(text.startswith("FAILED: rule few: 3, at most 1; rule all: 3, none allowed\n"), text)
        self.assertIn("rule no-helper: never applied: no call was one that it speaks of", text)
        self.assertIn('name="rule few"', (self.folder / "j.xml").read_text())
        results = json.loads((self.folder / "s.sarif").read_text())["runs"][0]["results"]
        broken = {result["message"]["text"] for result in results if result["ruleId"] == "rules" and result["level"] == "error"}
        self.assertEqual(broken, {"rule few: 3, at most 1", "rule all: 3, none allowed"})
        found = self.check_json(log, "--fail-on", "none", "--rules", rules, status=100)
        self.assertEqual([(row["rule"], row["measured"], row["state"]) for row in found["budgets"]],
                         [("few", 3, "failed"), ("no-helper", 0, "unknown"), ("all", 3, "failed")])

    def test_a_rule_that_never_applied(self):
        log = self.live(CLEAN)
        self.check(log, "--forbid", "alloc in range step*", status=111)
        self.check(log, "--forbid", "alloc in range step*", "--allow-unapplied")
        self.check(log, "--forbid", "alloc after mark end", status=111)

    def test_a_rule_against_what_is_not_there_is_kept(self):
        log = self.live(CLEAN)
        for rule in ("misuse", "graph", "alloc kind managed", "alloc device 1"):
            self.check(log, "--forbid", rule)

    def test_run_holds_them_too(self):
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "--check", "--forbid", "alloc", "--", PROGRAMS / "live", stdin=CLEAN)
        self.assertEqual(status, 100, stderr)
        self.assertIn("forbid alloc: 2, none allowed", stderr)

    def test_owners_are_in_the_views(self):
        log = self.live(LEAKY)
        (self.folder / "owners.txt").write_text('owner "all of it" kind device\n')
        for view in ("report", "leaks", "peak", "timeline", "frag", "churn", "objects"):
            status, stdout, stderr = self.vramscope(view, "--owners", "owners.txt", log)
            self.assertEqual((status, stderr), (0, ""))
            self.assertIn("Memory by owner, device 0\n  all of it       3 MiB at the peak,      2 MiB at the end,      3 MiB in 3 allocations\n", stdout)
        for wrong in ("missing.txt", log):
            status, stdout, stderr = self.vramscope("report", "--owners", wrong, log)
            self.assertEqual((status, stdout, stderr.count("\n")), (125, "", 1), stderr)

    def test_wrong_rules(self):
        log = self.live(CLEAN)
        for text, place in (("a: forbid aloc", "rules.txt:1:11"), ("a: limit peak 5MB5", "rules.txt:1:15"), ("root:x:0:0:", "rules.txt:1:6")):
            status, stdout, stderr = self.vramscope("check", log, "--rules", self.rules(text))
            self.assertEqual((status, stdout), (125, ""))
            self.assertRegex(stderr, rf"^vramscope: error: {place}: [^\n]+\n$")
        self.assertEqual(self.vramscope("check", log, "--rules", "missing.txt")[0], 125)
        os.mkfifo(self.folder / "fifo")
        self.assertEqual(self.vramscope("check", log, "--rules", "fifo")[0], 125)
        self.rules("a: forbid free")
        status, _, stderr = self.vramscope("check", log, "--rules", "rules.txt", "--json", "rules.txt", "--force")
        self.assertEqual(status, 125, stderr)


if __name__ == "__main__":
    unittest.main()
