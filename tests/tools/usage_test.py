#!/usr/bin/env python3
# tests/tools/usage_test.py — wrong usage: one clear line, status 125, nothing run.
import re
import unittest

from cli import CliTest


class Usage(CliTest):
    def assert_refused(self, arguments, *parts):
        status, stdout, stderr = self.vramscope(*arguments)
        self.assertEqual((status, stdout), (125, ""), stderr)
        self.assert_one_line(stderr, "vramscope: error: ", *parts)

    def test_wrong_commands_and_options(self):
        self.assert_refused(["frobnicate"], "unknown command 'frobnicate' (see `vramscope --help`)")
        self.assert_refused(["--frobnicate"])
        self.assert_refused(["run"], "PROGRAM is required", "vramscope run --help")
        self.assert_refused(["run", "--"], "PROGRAM is required")
        self.assert_refused(["run", "--frobnicate", "true"], "--frobnicate")
        self.assert_refused(["run", "--simulate"], "--simulate")
        self.assert_refused(["leaks"], "LOG is required", "vramscope leaks --help")
        self.assert_refused(["report"], "LOG is required")
        self.assert_refused(["leaks", "--frobnicate", "x.vsl"], "--frobnicate")
        self.assert_refused(["doctor", "one", "two"], "two")

    def test_the_name_alone_is_answered_with_how_to_begin(self):
        status, stdout, stderr = self.vramscope()
        self.assertEqual((status, stdout), (125, ""))
        commands = re.findall(r"(?m)^  vramscope (\w+)", stderr)
        self.assertEqual(commands, ["run", "report", "doctor"])
        self.assertIn("vramscope --help", stderr)
        self.assertLess(max(map(len, stderr.splitlines())), 110)

    def test_a_mistyped_name_is_answered_with_the_nearest(self):
        for word, name in {"laeks": "leaks", "reprot": "report", "chek": "check", "snap": "snapshot", "docter": "doctor",
                           "rn": "run", "Leaks": "leaks", "exports": "export"}.items():
            self.assert_refused([word, "x.vsl"], f"unknown command '{word}': did you mean '{name}'?")
        for command, option, name in [("leaks", "--jsn", "json"), ("leaks", "--jsn=x", "json"), ("leaks", "-json", "json"),
                                      ("check", "--max-leak", "max-leaked"), ("run", "--simulat", "simulate"),
                                      ("export", "--divice", "device"), ("diff", "--tolerence", "tolerance")]:
            self.assert_refused([command, option, "x", "y"], f"unknown option '{option}': did you mean '--{name}'?",
                                f"vramscope {command} --help")
        self.assert_refused(["leaks", "--zzzzzz", "x"], "unknown option '--zzzzzz' (see `vramscope leaks --help`)")

    def test_a_size_is_the_same_everywhere(self):
        (self.folder / "none.vsl").write_bytes(b"")
        sizes = {"1.5GiB": True, "1610612736": True, "2g": True, "512M": True, "0.5T": True, "1.5gB": True, "4194304KiB": True,
                 "24Gib": False, "1.5": False, "1,5GiB": False, "1.GiB": False, ".5GiB": False, "1 GiB": False, "+1GiB": False,
                 "-1GiB": False, "1e9": False, "0x40000000": False, "1Gi": False, "1P": False, "99999999TiB": False}
        for text, is_one in sizes.items():
            (self.folder / "size.budget").write_text(f'{{"max-peak": "{text}"}}')
            for arguments, refusal in [(["check", f"--max-peak={text}", "none.vsl"], "write bytes"),
                                       (["check", f"--max-growth={text}/s", "none.vsl"], "write bytes"),
                                       (["check", "--budget", "size.budget", "none.vsl"], "write bytes"),
                                       (["plan", f"--card={text}", "none.vsl"], "write a size"),
                                       (["run", f"--set=limit={text}", "true"], "use a size"),
                                       (["run", f"--set=max_cached={text}", "true"], "use a size"),
                                       (["run", f"--simulate={text}", "true"], "write a size")]:
                with self.subTest(arguments):
                    _, _, stderr = self.vramscope(*arguments)
                    self.assertEqual(refusal not in stderr, is_one, stderr)

    def test_wrong_sizes_of_the_simulated_gpu(self):
        for spec in ["", "24", "0GiB", "24GiBs", "17x1GiB", "0x1GiB", "-1GiB", "3TiB", "2x", "x2GiB", "\x1b[31m"]:
            with self.subTest(spec=spec):
                if spec:
                    self.assert_refused(["run", f"--simulate={spec}", "touch", "ran"], "write a size")
                self.assertFalse((self.folder / "ran").exists())

    def test_wrong_settings(self):
        for option, value, part in [
                ("--pool", "on", "VRAMSCOPE_POOL=on is not valid: use cache, split or off"),
                ("--set", "limit=lots", "VRAMSCOPE_LIMIT=lots is not valid: use a size"),
                ("--set", "poison", "write NAME=VALUE"), ("--set", "speed=11", "there is no such setting; there are max_log, stack_depth"),
                ("--set", "run=x", "no such setting"), ("--set", "log=x", "no such setting"), ("--set", "", "NAME=VALUE")]:
            with self.subTest(value=value):
                self.assert_refused(["run", option, value, "touch", "ran"], part)
                self.assertFalse((self.folder / "ran").exists())

    def test_every_help_shows_examples(self):
        commands = re.findall(r"^  ([a-z]+) ", self.vramscope("--help")[1].partition("Subcommands:")[2].partition("Examples:")[0], re.M)
        self.assertIn("doctor", commands)
        for command in [[], *([name] for name in commands)]:
            with self.subTest(command=command):
                status, stdout, stderr = self.vramscope(*command, "--help")
                self.assertEqual((status, stderr), (0, ""))
                self.assertIn("Examples:\n  vramscope", stdout)
                self.assertNotRegex(stdout, r"(?<!%)[a-z]\{|Needs:|Excludes:|\n\n\n| TEXT|INT|REQUIRED")

    def test_version(self):
        status, stdout, stderr = self.vramscope("--version")
        self.assertEqual((status, stderr), (0, ""))
        self.assertRegex(stdout, r"^vramscope \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
