#!/usr/bin/env python3
# tests/tools/manual_test.py — manual pages and completion know every command, option and value;
# shells read the latter.
import os
import pty
import re
import select
import shutil
import subprocess
import time
import unittest

from cli import VRAMSCOPE, CliTest

COMMANDS = re.findall(r"^  ([a-z]+)  +\S", subprocess.run([VRAMSCOPE, "--help"], capture_output=True, text=True,
                                                          check=True).stdout, re.M)


class ManualTest(CliTest):
    def printed(self, *arguments):
        status, stdout, stderr = self.vramscope(*arguments)
        self.assertEqual((status, stderr), (0, ""))
        return stdout

    def options_of(self, command):
        whole = "--help-all" if "\n  --help-all " in self.printed(command, "--help") else "--help"
        return re.findall(r"^  (?:-\w, )?(--[a-z-]+)", self.printed(command, whole), re.M)

    def needs(self, program):
        if not shutil.which(program):
            self.skipTest(f"there is no {program} here")


class Manual(ManualTest):
    def test_every_option_is_in_the_page_of_its_command(self):
        self.assertGreater(len(COMMANDS), 17)
        for command in COMMANDS:
            page = self.printed("manual", command).replace("\\-", "-")
            for option in self.options_of(command):
                self.assertIn(f"\\fB{option}\\fR", page, command)

    def test_the_first_page_lists_the_others(self):
        page = self.printed("manual").replace("\\-", "-")
        for command in COMMANDS:
            self.assertIn(f"\\fBvramscope-{command}\\fR(1)", page)

    def test_troff_has_nothing_to_say_of_them(self):
        self.needs("groff")
        for command in ["", *COMMANDS]:
            page = self.printed("manual", *filter(None, [command]))
            checked = subprocess.run(["groff", "-man", "-ww", "-z", "-"], input=page, capture_output=True, text=True)
            self.assertEqual((checked.returncode, checked.stderr), (0, ""), command)
        wrong = subprocess.run(["groff", "-man", "-ww", "-z", "-"], input=".PP\n.ft NONE\n", capture_output=True, text=True)
        self.assertNotEqual(wrong.stderr, "")  # it would have said so

    def test_wrong_names(self):
        self.assertEqual(self.vramscope("manual", "frobnicate")[0], 125)
        self.assertEqual(self.vramscope("completion", "tcsh")[0], 125)
        self.assertEqual(self.vramscope("completion")[0], 125)
        self.assert_one_line(self.vramscope("completion")[2], "SHELL is required", "vramscope completion --help")


class Completion(ManualTest):
    def completed(self, shell, line):
        """What the shell offers at the end of this line."""
        script = self.folder / f"completion.{shell}"
        script.write_text(self.printed("completion", shell))
        return {"bash": self.by_bash, "fish": self.by_fish, "zsh": self.by_zsh}[shell](script, line)

    def by_bash(self, script, line):
        words = line.split(" ")
        words = [part for word in words for part in (re.split("(=)", word) if word.startswith("--") else [word]) if part or word == ""]
        call = 'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMP_LINE="$*"; "_${1//-/_}" 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"'
        return self.execute("bash", "-c", call, "bash", script, *words).stdout.split()

    def by_fish(self, script, line):
        self.needs("fish")
        done = self.execute("fish", "-N", "-c", f"source {script}; complete -C '{line}'", HOME=str(self.folder))
        return [offered.split("\t")[0] for offered in done.stdout.splitlines()]

    def by_zsh(self, script, line):
        """Types the line and two tabs into a terminal, and takes what is then on it."""
        self.needs("zsh")
        child, terminal = pty.fork()
        if child == 0:
            os.chdir(self.folder)
            os.execve(shutil.which("zsh"), ["zsh", "-f", "-i"], self.environment(TERM="dumb", HOME=str(self.folder), COLUMNS="200"))
        os.write(terminal, f"autoload -Uz compinit; compinit -u -D; unsetopt zle_bracketed_paste; source {script}; echo re''ady\n".encode())
        self.shown(terminal, "ready")
        os.write(terminal, f"{line}\t\t".encode())
        text = self.shown(terminal, None)
        os.close(terminal)
        os.waitpid(child, 0)
        return re.split(r"[\s]+", text)

    def shown(self, terminal, until):
        """What the terminal shows up to this text; None: until it shows nothing more for a while."""
        text, end = "", time.monotonic() + 60
        while time.monotonic() < end and not (until and until in text):
            if select.select([terminal], [], [], 60 if until or not text else 2)[0]:
                text += os.read(terminal, 65536).decode(errors="replace")
            elif not until:
                return text
        return text

    def check(self, shell):
        offered = self.completed(shell, "vramscope ")
        self.assertLessEqual(set(COMMANDS), set(offered))
        for command in COMMANDS:
            self.assertIn("--help", "".join(self.completed(shell, f"vramscope {command} --he")), command)
        self.assertIn("doctor", "".join(self.completed(shell, "vramscope doc")))
        self.assertLessEqual({"cache", "split", "off"}, set(self.completed(shell, "vramscope run --pool ")))
        self.assertIn("--pool=cache" if shell == "fish" else "cache", " ".join(self.completed(shell, "vramscope run --pool=ca")))
        self.assertIn("events", self.completed(shell, "vramscope schema "))
        self.assertLessEqual({"torch", "rmm-pool", "ideal"}, set(self.completed(shell, "vramscope plan --policy ")))
        self.assertLessEqual({"pprof", "openmetrics"}, set(self.completed(shell, "vramscope export --to ")))
        self.assertIn("snapshot", self.completed(shell, "vramscope help "))
        self.assertIn("--log-file", "".join(self.completed(shell, "vramscope-memcheck --log")))
        (self.folder / "one_log.vsl").touch()
        self.assertIn("one_log.vsl", "".join(self.completed(shell, "vramscope report one_l")))
        self.assertIn("one_log.vsl", "".join(self.completed(shell, "vramscope run --suppressions one_l")))
        (self.folder / "our_program").write_text("#!/bin/sh\n")
        (self.folder / "our_program").chmod(0o755)
        self.assertIn("our_program", "".join(self.completed(shell, "vramscope run --pool off ./our_p")))
        self.assertNotIn("--pool", " ".join(self.completed(shell, "vramscope run ./our_program --po")).replace(" --po ", ""))

    def test_bash(self):
        self.check("bash")
        self.needs("shellcheck")
        checked = self.execute("shellcheck", "-s", "bash", self.folder / "completion.bash")
        self.assertEqual((checked.returncode, checked.stdout), (0, ""))

    def test_fish(self):
        self.check("fish")

    def test_zsh(self):
        self.needs("zsh")
        self.completed("zsh", "vramscope doc")  # its first start is slow
        for line, expected in {"vramscope doct": "doctor", "vramscope run --pool ": "split", "vramscope schema e": "events",
                               "vramscope run --max-frag": "--max-fragmentation", "vramscope check --fail-on dam": "damage"}.items():
            self.assertIn(expected, "".join(self.completed("zsh", line)), line)

    def test_every_option_is_in_every_script(self):
        for shell, option_text in {"bash": "{}", "zsh": "{}", "fish": "-l {}"}.items():
            script = self.printed("completion", shell)
            for command in COMMANDS:
                for option in self.options_of(command):
                    name = option_text.format(option if shell != "fish" else option[2:])
                    self.assertRegex(script, re.escape(name) + r"\b", (shell, command))


if __name__ == "__main__":
    unittest.main()
