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

    def options_with_values(self, command):
        """As people write them: {"--json": 1}, with how many values each has."""
        rows = re.findall(r"(?m)^  (?:(-\w), )?(--?[\w-]+) ([A-Z][\w.=/]*(?: [A-Z]+)*)(?: {2}|$)",
                          "".join(self.vramscope(command, how, env={"COLUMNS": "200"})[1] for how in ("--help", "--help-all")))
        return {name: len(value.split()) for short, long, value in rows for name in (short, long) if name}

    def test_an_empty_value_is_refused_by_every_option_of_every_command(self):
        seen = set()
        for command in sum(self.commands().values(), []):
            for option, values in self.options_with_values(command).items():
                more = ["x"] * (values - 1)
                ways = [[option, "", *more, "4711"]]  # a process, a log, a program
                if option.startswith("--"):
                    ways.append([f"{option}=", *more, "4711"])
                for arguments in ways:
                    with self.subTest(command=command, arguments=arguments):
                        self.assert_refused([command, *arguments], "--output" if option == "-o" else option)
                seen.add(option)
        for option in ("-o", "-n", "--json", "--max-peak", "--log-file", "--on", "--simulate", "--to", "--name", "--interval", "--card"):
            self.assertIn(option, seen)

    def test_an_empty_value_is_not_the_next_argument(self):
        for name in ("a.vsl", "b.vsl"):
            (self.folder / name).write_text("precious")
        self.assert_refused(["report", "-f", "--json=", "a.vsl", "b.vsl"], "--json: its value is empty: write FILE (see `vramscope report --help`)")
        self.assert_refused(["check", "--max-peak", "", "a.vsl"], "--max-peak: its value is empty: write BYTES")
        self.assert_refused(["run", "-o", "", "touch", "ran"], "--output: its value is empty: write LOG")
        self.assert_refused(["check", "--one-device=2", "a.vsl"], "--one-device takes no value: '--one-device=2'")
        self.assert_refused(["memcheck", "--log-file=", "touch", "ran"], "--log-file: its value is empty")
        self.assert_refused(["run", "--on", "", "true", "touch", "ran"], "--on: its value is empty: write EVENT COMMAND")
        self.assert_refused(["run", "--on=", "true", "touch", "ran"], "--on")
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual({(self.folder / name).read_text() for name in ("a.vsl", "b.vsl")}, {"precious"})

    def test_what_is_no_number_is_refused(self):
        for value in ("-1", "0", "1.5", "x"):
            self.assert_refused(["top", "--count", value, "4711"], f"--count: write a whole number above 0, not '{value}'")
        self.assert_refused(["top", "--interval", "x"], "--interval = x: no number, or too large a one")

    def test_the_arguments_of_a_program_and_values_may_look_like_one(self):
        self.assertEqual(self.vramscope("run", "echo", "--json=", "-o", "", "--")[:2], (0, "--json= -o  --\n"))
        self.assertEqual(self.vramscope("run", "--pool", "off", "--", "echo", "--json=", "")[:2], (0, "--json= \n"))
        self.assertEqual(self.vramscope("run", "--set", "poison=", "--set=poison=", "echo", "ran")[:2], (0, "ran\n"))
        # A regular expression, and not an option of ours: it is the log that is missing.
        status, _, stderr = self.vramscope("leaks", "--match", "--json=", "none.vsl")
        self.assertEqual(status, 120, stderr)

    def commands(self):
        """By the headings of `vramscope --help`."""
        groups = re.findall(r"(?m)^([A-Z].*):\n((?:  .*\n)+)", self.vramscope("--help")[1])
        return {heading: re.findall(r"(?m)^  ([a-z]+) ", rows) for heading, rows in groups if heading not in ("Options", "Examples")}

    def test_the_commands_stand_in_three_groups(self):
        first, more, tools = self.commands().values()
        self.assertEqual(first, ["run", "report", "leaks", "peak", "plan", "export", "check", "diff", "snapshot", "top", "doctor"])
        self.assertIn("timeline", more)
        self.assertEqual(tools[-1], "help")

    def test_every_help_shows_examples(self):
        commands = sum(self.commands().values(), [])
        self.assertIn("doctor", commands)
        for command in [[], *([name] for name in commands)]:
            with self.subTest(command=command):
                status, stdout, stderr = self.vramscope(*command, "--help")
                self.assertEqual((status, stderr), (0, ""))
                self.assertIn("Examples:\n  vramscope", stdout)
                self.assertNotRegex(stdout, r"(?<!%)[a-z]\{|Needs:|Excludes:|\n\n\n| TEXT|INT|REQUIRED")
                self.assertEqual(self.vramscope("help", *command), (0, stdout, ""))
        self.assert_refused(["help", "laeks"], "unknown command 'laeks': did you mean 'leaks'?")

    def test_a_long_help_is_short_and_says_where_all_of_it_is(self):
        short = self.vramscope("run", "--help")[1]
        self.assertIn("--simulate SPEC", short)
        self.assertIn("vramscope run --help-all has more: Known leaks, Names of frames, With --check, While it runs, all settings.", " ".join(short.split()))
        whole = self.vramscope("run", "--help-all")[1]
        for option in ("--suppressions FILE", "--sysroot DIR", "--max-peak BYTES", "VRAMSCOPE_LIMIT=off"):
            self.assertNotIn(option, short)
            self.assertIn(option, whole)
        self.assertNotIn("--help-all", self.vramscope("mark", "--help")[1])
        self.assert_refused(["mark", "--help-all"], "unknown option '--help-all'")

    def test_help_is_as_wide_as_the_terminal(self):
        commands = [["--help"], *([name, "--help"] for name in sum(self.commands().values(), [])), ["run", "--help-all"]]
        for columns in (60, 80, 120):
            for arguments in commands:
                lines = self.vramscope(*arguments, env={"COLUMNS": str(columns)})[1].splitlines()
                long = [line for line in lines if len(line) > columns and not line.startswith(("  vramscope ", "    cmake", "Usage:")) and "https://" not in line]
                self.assertEqual(long, [], (arguments, columns))
        self.assertEqual(self.vramscope("run", "--help"), self.vramscope("run", "--help", env={"COLUMNS": "80"}))
        shown = self.on_terminal("run", "--help", width=60)[1]
        self.assertEqual(shown.replace("\r\n", "\n"), self.vramscope("run", "--help", env={"COLUMNS": "60"})[1])

    def test_version(self):
        for option in ("--version", "-V"):
            status, stdout, stderr = self.vramscope(option)
            self.assertEqual((status, stderr), (0, ""))
            self.assertRegex(stdout, r"^vramscope \d+\.\d+\.\d+\n$")


if __name__ == "__main__":
    unittest.main()
