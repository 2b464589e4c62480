#!/usr/bin/env python3
# tests/tools/page_commands_test.py — what the pages say that a reader can type works, and prints
# what they show.
#
# The blocks called "console" of every page are played in order, in a folder that looks like a clone
# in which scripts/demo ran: the sources, the command and what it needs as build/release, the demo
# program and its log as build/demo. A line that begins with "$ " is a command of one shell for the
# whole page. Below it is what the command prints, stdout and stderr together, where "..." stands
# for what the page leaves out. If nothing is below it, it prints nothing.
#
# The front page sets PATH itself, in its second command; the other pages rely on that. What differs
# from run to run is not compared: times and what follows from them, dates, numbers of threads and
# processes, the folder, and so where lines break.
#
# With VRAMSCOPE_PLAY_ALL the pages are played in this clone itself, as a reader would: installing,
# building and packing too, which takes minutes, needs root and changes the machine. It is for a root
# of its own: ./scripts/fresh-root bookworm FOLDER sh -c './scripts/setup && \
#   VRAMSCOPE_PLAY_ALL=1 python3 tests/tools/page_commands_test.py'
import os
import re
import shutil
import subprocess
import unittest

from cli import PROGRAMS, SOURCE, VRAMSCOPE, CliTest
from markdown_pages import pages

FRONT = "README.md"
PLAY_ALL = bool(os.environ.get("VRAMSCOPE_PLAY_ALL"))
DEMO = ["run", "--simulate", "24GiB", "--force", "-o", "build/demo/training_demo.vsl", "build/demo/training_demo"]

# How a command that only VRAMSCOPE_PLAY_ALL plays begins, and why. What it prints is not on its page.
PLAYED_ALONE = {
    "./scripts/demo": "installs packages and builds for minutes; tests/scripts/demo_test.py plays it",
    "cmake --preset release": "a release build takes minutes; tests/packages has it installed and packed",
    "cmake --install build/release": "writes below /usr/local; tests/packages installs elsewhere",
    "apt-get install": "changes the machine",
    "(cd build/release && cpack)": "needs a release build; tests/packages makes packages",
    "./scripts/wheel build/release": "needs a release build; tests/packages makes a wheel",
}
# How a command that is never played begins, and why it is not.
NOT_PLAYED = {
    "./scripts/test": "runs for many minutes, this test too; tests/scripts/demo_test.py plays it",
    "vramscope run --check --max-peak 2GiB ./unit_tests": "the reader's own program; tests/e2e/tests_test.py has such a one",
    "vramscope run -o run.vsl python3 tests/torch": "needs PyTorch; tests/torch runs such programs",
    "vramscope leaks run.vsl": "reads a log of PyTorch; tests/torch reads such logs",
}
VARIES = [
    (r"\bstarted \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", "started DATE"),
    (r"\b(thread|pid) \d+", r"\1 NUMBER"),
    (r"\S*/(?=tests/)", ""),
    (r"\brepeated\b", "several"),  # a hint from times: over a tenth of the run
    (r"(?<![\w.])\d+(\.\d+)? (ns|us|ms|s)\b", "TIME"),
]
STATUS = "status-of-this-command"


def blocks(page):
    return re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)


def commands(page):
    """What a reader types, and what the page shows below it."""
    found = []
    for block in blocks(page):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


def begins_as(commands, command):
    return any(command.startswith(start) for start in commands)


def is_played(command):
    return not begins_as(NOT_PLAYED, command) and (PLAY_ALL or not begins_as(PLAYED_ALONE, command))


def words(text):
    """What is to be compared: the words, without what varies."""
    for pattern, word in VARIES:
        text = re.sub(pattern, word, text)
    return " ".join(text.split())


def is_as_shown(printed, shown):
    pieces = re.split(r"(?:^| )\.\.\.(?= |$)", shown)
    return re.fullmatch(" ?.*?".join(re.escape(piece) for piece in pieces), printed) is not None


class Comparing(unittest.TestCase):
    def test_a_page_that_leaves_nothing_out_shows_it_all(self):
        self.assertTrue(is_as_shown("a b", "a b"))
        self.assertFalse(is_as_shown("a b c", "a b"))
        self.assertFalse(is_as_shown("a", ""))

    def test_dots_stand_for_what_is_left_out_and_for_nothing_else(self):
        self.assertTrue(is_as_shown("a b c", "a ... c"))
        self.assertTrue(is_as_shown("a b c", "... b ..."))
        self.assertFalse(is_as_shown("a b c", "a ... d"))
        self.assertFalse(is_as_shown("f(...) d", "f(a) d"))
        self.assertTrue(is_as_shown("f(...) d", "f(...) d"))

    def test_what_differs_from_run_to_run_is_not_compared(self):
        self.assertEqual(words("at 2.0 ms, thread 7\n  (a) in /x/y/tests/b.cu:3"),
                         words("at 1.165 s,\n thread 25 (a) in tests/b.cu:3"))
        self.assertNotEqual(words("17.7 MiB in 101 blocks"), words("17.7 MiB in 102 blocks"))


class WhatIsTyped(unittest.TestCase):
    def test_the_front_page_says_where_the_command_is_before_it_is_used(self):
        demo, path = (command for command, _ in commands(SOURCE / FRONT)[:2])
        self.assertTrue(demo.startswith("./scripts/demo "))
        self.assertTrue(path.startswith("export PATH=$PWD/build/release/bin:$PATH "))

    def test_what_is_not_played_stands_on_a_page(self):
        typed = [command for page in pages(SOURCE) for command, _ in commands(page)]
        for start in [*NOT_PLAYED, *PLAYED_ALONE]:
            self.assertTrue(any(command.startswith(start) for command in typed), start)
        played = [command for command in typed if is_played(command)]
        self.assertGreater(len(played), 10)


class Pages(CliTest):
    def setUp(self):
        super().setUp()
        if PLAY_ALL:
            self.folder = SOURCE
            return
        self.folder = self.folder / "vramscope"
        for path in [self.folder / "build/release/bin", self.folder / "build/demo"]:
            path.mkdir(parents=True)
        for path in SOURCE.iterdir():
            if path.name not in {"build", ".git"} and path.suffix != ".vsl":
                (self.folder / path.name).symlink_to(path)
        (self.folder / "build/release/bin/vramscope").symlink_to(VRAMSCOPE)
        shutil.copy(PROGRAMS / "training_demo", self.folder / "build/demo")
        status, _, stderr = self.vramscope(*DEMO)
        self.assertEqual(status, 0, stderr)

    def shell(self, typed, path):
        """The output and the status of each command, of one shell."""
        script = "".join(f"{{ {command}\n}} 2>&1\nstatus=$?; printf '\\n%s %d\\n' {STATUS} $status; (exit $status)\n" for command in typed)
        done = subprocess.run(["bash"], cwd=self.folder, input=script, capture_output=True, text=True,
                              timeout=3600 if PLAY_ALL else 150,
                              env={**self.environment(PATH=path), "PWD": str(self.folder)})
        self.assertEqual(done.stderr, "")
        parts = re.split(rf"\n{STATUS} (\d+)\n", done.stdout)
        return list(zip(parts[0::2], map(int, parts[1::2])))

    def play(self, page):
        typed = [(command, shown) for command, shown in commands(page) if is_played(command)]
        path = os.environ["PATH"]
        if page != SOURCE / FRONT:
            path = f"{self.folder / 'build/release/bin'}{os.pathsep}{path}"
        results = self.shell([command for command, _ in typed], path)
        self.assertEqual(len(results), len(typed))
        for (command, shown), (printed, status) in zip(typed, results):
            with self.subTest(page=str(page.relative_to(SOURCE)), command=command):
                if begins_as(PLAYED_ALONE, command):
                    self.assertEqual(status, 0, printed[-2000:])
                    continue
                printed = words(printed)
                if not is_as_shown(printed, words(shown)):
                    self.assertEqual(printed, words(shown))
                not_kept = re.match("FAILED|DOES NOT FIT", shown)
                self.assertEqual(status, 100 if not_kept else 0)

    def test_each_page_works_as_it_stands(self):
        with_commands = [page for page in pages(SOURCE) if commands(page)]
        with_commands.sort(key=lambda page: page != SOURCE / FRONT)  # which builds what the others use
        self.assertEqual(with_commands[0], SOURCE / FRONT)
        for page in with_commands:
            self.play(page)


if __name__ == "__main__":
    unittest.main()
