#!/usr/bin/env python3
# tests/tools/suppressions_test.py — known leaks: rules on the command line, in the environment, and
# written for a log.
import json
import os
import unittest

from cli import CliTest, PROGRAMS


class OnALog(CliTest):
    def setUp(self):
        super().setUp()
        status, _, stderr = self.simulate(PROGRAMS / "training_demo", "2")
        self.assertEqual(status, 0, stderr)

    def rules(self, *lines, name="known.supp"):
        (self.folder / name).write_text("".join(line + "\n" for line in lines))
        return name

    def leaks(self, *arguments, env=None):
        status, stdout, stderr = self.vramscope("leaks", "--json", "-", "run.vsl", *arguments, env=env)
        self.assertEqual((status, stderr), (0, ""))
        return json.loads(stdout)

    def test_what_is_known_is_told_apart(self):
        before = self.leaks()
        report = self.leaks("--suppressions", self.rules("# known", "leak:load_labels", "leak:nobody"))
        self.assertEqual([leak["stack"][0]["function"].split("(")[0] for leak in report["leaks"]], ["log_loss"])
        self.assertEqual([leak["stack"][0]["function"] for leak in report["suppressed"]], ["load_labels()"])
        self.assertEqual(report["totals"]["leaked_bytes"] + report["totals"]["suppressed_bytes"],
                         before["totals"]["leaked_bytes"])
        self.assertEqual([(rule["rule"], rule["source"], rule["line"], rule["rows"]) for rule in report["suppressions"]],
                         [("leak:load_labels", "known.supp", 2, 1), ("leak:nobody", "known.supp", 3, 0)])
        text = self.vramscope("leaks", "run.vsl", "--suppressions", "known.supp")[1]
        self.assertIn("suppressed: 11.4 MiB in 1 block, by 1 rule\n", text)
        self.assertIn("  not used: leak:nobody (known.supp:3)\n", text)

    def test_nothing_else_leaked_is_clean_and_says_what_was_suppressed(self):
        self.assertEqual(self.leaks("--suppressions", self.rules("leak:train"))["verdict"], "clean")
        text = self.vramscope("leaks", "run.vsl", "--suppressions", "known.supp")[1]
        self.assertRegex(text, r"^CLEAN: nothing else leaked; 21 allocations seen\n"
                               r"  suppressed: 11\.7 MiB in 5 blocks, by 1 rule\n")

    def test_rules_come_from_several_files_and_the_environment(self):
        self.rules("leak:load_labels", name="a.supp")
        self.rules("leak:log_loss", name="b.supp")
        both = ["--suppressions", "a.supp", "--suppressions", "b.supp"]
        self.assertEqual(self.leaks(*both)["verdict"], "clean")
        self.assertEqual(self.leaks(env={"VRAMSCOPE_SUPPRESSIONS": "a.supp:b.supp"})["verdict"], "clean")
        self.assertEqual(self.leaks("--suppressions", "b.supp", env={"VRAMSCOPE_SUPPRESSIONS": "a.supp"})["verdict"],
                         "clean")

    def test_a_file_that_is_none_of_rules_is_refused_with_its_line(self):
        self.rules("leak:a", "race:b")
        for command in [["leaks", "run.vsl"], ["report", "run.vsl"], ["suppress", "run.vsl"],
                        ["run", "--simulate", "1GiB", PROGRAMS / "training_demo", "1"]]:
            status, stdout, stderr = self.vramscope(command[0], "--suppressions", "known.supp", *command[1:])
            self.assertEqual((status, stdout), (125, ""), command)
            self.assert_one_line(stderr, "known.supp:2: this is no suppression")
            self.assertNotIn("race", stderr)  # it may be a file of passwords
        os.mkfifo(self.folder / "fifo.supp")
        for name in ("fifo.supp", "/dev/zero"):
            status, _, stderr = self.vramscope("leaks", "run.vsl", "--suppressions", name)
            self.assertEqual(status, 125)
            self.assert_one_line(stderr, f"cannot read the suppressions {name}: it is no regular file")
        status, _, stderr = self.vramscope("leaks", "run.vsl", "--suppressions", "none.supp")
        self.assertEqual(status, 125)
        self.assert_one_line(stderr, "none.supp", "No such file")

    def test_run_knows_them_too(self):
        self.rules("leak:load_labels")
        status, _, stderr = self.simulate("--suppressions", "known.supp", PROGRAMS / "training_demo", "2")
        self.assertEqual(status, 0)
        self.assertIn("vramscope:   suppressed: 11.4 MiB in 1 block, by 1 rule\n", stderr)
        self.assertEqual(len(self.read_json("run.json")["suppressed"]), 1)

    def test_written_rules_suppress_what_leaked(self):
        status, stdout, stderr = self.vramscope("suppress", "run.vsl")
        self.assertEqual((status, stderr), (0, ""))
        self.assertRegex(stdout, r"\n# 11\.4 MiB in 1 block, cudaMalloc, leaked-at-exit\n"
                                 r"#   load_labels\(\)  .*training_demo\.cu:\d+\n(#.*\n)+leak:\^load_labels\(\)\$\n")
        (self.folder / "known.supp").write_text(stdout)
        report = self.leaks("--suppressions", "known.supp")
        self.assertEqual((report["verdict"], report["leaks"]), ("clean", []))
        self.assertNotIn(0, [rule["rows"] for rule in report["suppressions"]])
        status, stdout, _ = self.vramscope("suppress", "run.vsl", "--suppressions", "known.supp")
        self.assertEqual((status, stdout), (0, "# nothing to suppress: nothing leaked that is not suppressed already\n"))

    def test_written_rules_do_not_replace_a_file(self):
        self.rules("leak:mine")
        status, stdout, stderr = self.vramscope("suppress", "run.vsl", "-o", "known.supp")
        self.assertEqual((status, stdout), (125, ""))
        self.assert_one_line(stderr, "known.supp exists")
        self.assertEqual(self.vramscope("suppress", "run.vsl", "-f", "-o", "known.supp"), (0, "", ""))
        self.assertIn("leak:^log_loss", (self.folder / "known.supp").read_text())

    def test_the_built_in_ones_can_be_seen(self):
        status, stdout, _ = self.vramscope("suppress", "--list-builtin")
        self.assertEqual(status, 0)
        self.assertRegex(stdout, r"\n\^libcublas\.so +# workspaces of its handles\n")


if __name__ == "__main__":
    unittest.main()
