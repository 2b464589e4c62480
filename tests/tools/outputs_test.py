#!/usr/bin/env python3
# tests/tools/outputs_test.py — what commands write: never over what they read, and over nobody
# else's file without -f.
import gzip
import json
import os
import pathlib
import resource
import signal
import subprocess
import unittest

from cli import PROGRAMS, VRAMSCOPE, CliTest

VIEWS = ("report", "leaks", "peak", "timeline", "frag", "churn")
FORMATS = ("jsonl", "heaptrack", "pprof", "speedscope", "folded", "trace", "sanitizer", "csv", "blocks", "openmetrics",
           "sqlite")


class OutputTest(CliTest):
    def setUp(self):
        super().setUp()
        status, _, errors = self.simulate(PROGRAMS / "training_demo", "1")
        self.assertEqual(status, 0, errors)
        self.log = (self.folder / "run.vsl").read_bytes()

    def call(self, *arguments, descriptors=(), stdout=subprocess.PIPE):
        done = subprocess.run([VRAMSCOPE, *map(str, arguments)], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE,
                              timeout=120, env=self.environment(), pass_fds=descriptors)
        return done.returncode, done.stdout, done.stderr.decode()

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}

    def assert_refused(self, *arguments, parts=(), **how):
        before = self.files()
        status, stdout, errors = self.call(*arguments, **how)
        self.assertEqual((status, stdout or b""), (125, b""), (arguments, errors))
        self.assert_one_line(errors, "vramscope: error: ", *parts)
        self.assertEqual(self.files(), before, arguments)


class AnInput(OutputTest):
    """Is never an output, under whatever name."""

    def setUp(self):
        super().setUp()
        (self.folder / "soft").symlink_to("run.vsl")
        (self.folder / "softer").symlink_to(self.folder / "soft")
        (self.folder / "hard").hardlink_to(self.folder / "run.vsl")
        self.open = os.open(self.folder / "run.vsl", os.O_RDWR)
        self.addCleanup(os.close, self.open)
        self.names = ["run.vsl", "./run.vsl", "soft", "softer", "hard", f"/proc/self/fd/{self.open}",
                      f"/dev/fd/{self.open}", str(self.folder / "run.vsl")]

    def assert_kept(self, *arguments):
        """With OTHER in the place of the output, and in the place of the input; with and without -f."""
        for name in self.names:
            for log, output in (("run.vsl", name), (name, "run.vsl")):
                for force in ([], ["-f"]):
                    named = [{"LOG": log, "OUT": output}.get(argument, argument) for argument in arguments]
                    with self.subTest(named, force=force):
                        self.assert_refused(*named, *force, descriptors=(self.open,), parts=["choose another"])

    def test_of_an_export(self):
        for name in FORMATS:
            self.assert_kept("export", "--to", name, "-o", "OUT", "LOG")

    def test_of_a_view(self):
        for view in VIEWS:
            self.assert_kept(view, "--json", "OUT", "LOG")
        if self.has_pages():
            self.assert_kept("report", "--html", "OUT", "LOG")

    def test_of_check_and_diff(self):
        (self.folder / "other.vsl").write_bytes(self.log)
        for option in ("--json", "--sarif", "--junit", "--gitlab"):
            self.assert_kept("check", option, "OUT", "LOG")
        self.assert_kept("diff", "--json", "OUT", "other.vsl", "LOG")
        if self.has_pages():
            self.assert_kept("diff", "--html", "OUT", "LOG", "other.vsl")
            self.assert_kept("check", "--html", "OUT", "LOG")
        self.assert_kept("diff", "--json", "OUT", "LOG", "other.vsl")

    def test_of_suppress(self):
        self.assert_kept("suppress", "-o", "OUT", "LOG")

    def test_in_a_folder_of_logs(self):
        self.assert_refused("report", "-f", "--json", "soft", ".")

    def test_that_is_no_log(self):
        (self.folder / "known.supp").write_text("leak:nobody\n")
        (self.folder / "budget.json").write_text("{}\n")
        self.assert_refused("leaks", "-f", "--json", "known.supp", "--suppressions", "known.supp", "run.vsl")
        self.assert_refused("check", "-f", "--json", "budget.json", "--budget", "budget.json", "run.vsl")
        self.script("program", "#!/bin/sh\ntouch ran\n")
        for output in ("--json", "-o"):
            self.assert_refused("run", "-f", output, "known.supp", "--suppressions", "known.supp", "touch", "ran")
            self.assert_refused("run", "-f", output, "budget.json", "--check", "--budget", "budget.json", "touch", "ran")
            self.assert_refused("run", "-f", output, "program", "./program")

    def test_is_not_added_to_by_stdout(self):
        for arguments in (("report", "run.vsl"), ("export", "--to", "jsonl", "run.vsl"), ("leaks", "--json", "-", "soft"),
                          ("suppress", "hard"), ("leaks", "--json", "/dev/stdout", "run.vsl")):
            with open(self.folder / "run.vsl", "ab") as log:
                self.assert_refused(*arguments, stdout=log, parts=["where stdout goes"])


class TwoOutputs(OutputTest):
    def test_of_a_run_are_two_files(self):
        (self.folder / "link.json").symlink_to("both")
        for log, report in (("both", "both"), ("both", "./both"), ("./both", str(self.folder / "both")),
                            ("both", "link.json"), ("run.vsl", "run.vsl")):
            for force in ([], ["-f"]):
                self.assert_refused("run", *force, "-o", log, "--json", report, "touch", "ran")

    def test_of_a_view_are_two_files(self):
        if not self.has_pages():
            self.skipTest("built without pages")
        self.assert_refused("report", "--json", "both", "--html", "both", "run.vsl")
        self.assert_refused("check", "--sarif", "both", "--html", "both", "run.vsl")
        self.assert_refused("report", "--json", "-", "--html", "-", "run.vsl", parts=["cannot both go to stdout"])
        status, page, errors = self.call("leaks", "--json", "leaks.json", "--html", "-", "run.vsl")
        self.assertEqual((status, errors), (0, ""))
        self.assertTrue(page.startswith(b"<!doctype html>") and page.endswith(b"</html>\n"), page[-200:])
        json.loads((self.folder / "leaks.json").read_text())

    def test_of_a_run_are_many_and_each_is_another_file(self):
        (self.folder / "tables").mkdir()
        (self.folder / "old").write_bytes(b"")
        (self.folder / "older").hardlink_to(self.folder / "old")
        same = {"one": "./one", "tables/z.vsl.jsonl": "tables/z.vsl.jsonl", "old": "older"}
        outputs = {"-o": [], "--json": [], "--metrics": [], "--sarif": ["--check"], "--junit": ["--check"], "--gitlab": ["--check"]}
        if self.has_pages():
            outputs["--html"] = []
        for name, other in same.items():
            for first, needs in outputs.items():
                for second, needs_too in outputs.items():
                    if first == second or (name == "old" and "-o" in (first, second)):
                        continue  # a log that is there is refused anyhow, and with -f it is made anew
                    for force in ([], ["-f"]):
                        with self.subTest((first, name, second, other), force=force):
                            self.assert_refused("run", *force, *{*needs, *needs_too}, first, name, second, other, "touch", "ran",
                                                parts=["choose another name"])
        for option in ("--json", "--metrics"):
            self.assert_refused("run", "-f", "-o", "z.vsl", "--reduced", "tables", option, "tables/z.vsl.jsonl", "touch", "ran",
                                parts=["choose another name"])
        (self.folder / "known.supp").write_text("leak:nobody\n")
        (self.folder / "tables/known.vsl.jsonl").symlink_to("../known.supp")
        self.assert_refused("run", "-f", "--suppressions", "known.supp", "-o", "known.vsl", "--reduced", "tables", "touch", "ran",
                            parts=["choose another name"])

    def test_of_a_run_whose_program_does_not_start_are_not_written(self):
        for arguments, status in ((["no-such-program"], 127), (["-o", "run.vsl", "touch", "ran"], 125)):
            before = self.files()
            self.assertEqual(self.call("run", "--metrics", "m.prom", "--json", "m.json", *arguments)[0], status)
            self.assertEqual(self.files(), before)

    def test_of_a_run_with_a_log_for_each_process(self):
        status, _, errors = self.call("run", "--simulate", "1GiB", "-o", "%p.vsl", "--json", "%p.vsl",
                                      PROGRAMS / "training_demo", "1")
        self.assertEqual(status, 0, errors)
        json.loads((self.folder / "%p.vsl").read_text())

    def test_a_log_that_appeared_meanwhile_is_not_written_over(self):
        # The second process finds the log's name taken, and has the next one.
        demo = PROGRAMS / "training_demo"
        status, _, errors = self.call("run", "--simulate", "1GiB", "-o", "one.vsl", "--json", "one.vsl.1",
                                      "sh", "-c", f"{demo} 1 && {demo} 1")
        self.assertEqual(status, 125, errors)
        self.assertIn("one.vsl.1 is needed by this command otherwise", errors.replace(f"{self.folder}/", ""))
        self.assertEqual((self.folder / "one.vsl.1").read_bytes()[:8], self.log[:8])

    def test_a_file_that_the_program_made_is_its_own(self):
        for force, expected in (([], 125), (["-f"], 0)):
            status, _, errors = self.call("run", *force, "--json", "made", "sh", "-c", "echo precious >made")
            self.assertEqual((status, "made exists" in errors), (expected, not force), errors)
            self.assertEqual((self.folder / "made").read_bytes() == b"precious\n", not force)
            (self.folder / "made").unlink()

    def test_the_json_is_not_where_stdout_goes(self):
        with open(self.folder / "text", "wb") as text:
            self.assert_refused("report", "--json", "text", "run.vsl", stdout=text, parts=["where stdout goes"])


class WhatIsThere(OutputTest):
    def setUp(self):
        super().setUp()
        self.commands = [["export", "--to", name, "-o", "OUT", "run.vsl"] for name in FORMATS]
        self.commands += [[view, "--json", "OUT", "run.vsl"] for view in (*VIEWS, "check", "plan")]
        if self.has_pages():
            self.commands += [["report", "--html", "OUT", "run.vsl"], ["check", "--html", "OUT", "run.vsl"],
                              ["diff", "--html", "OUT", "run.vsl", "run.vsl"],
                              ["run", "--simulate", "1GiB", "--html", "OUT", PROGRAMS / "training_demo", "1"]]
        self.commands += [["diff", "--json", "OUT", "run.vsl", "run.vsl"],
                          ["run", "--simulate", "1GiB", "--json", "OUT", PROGRAMS / "training_demo", "1"]]

    def written(self, command, output, *force):
        status, _, errors = self.call(command[0], *force, *(output if word == "OUT" else word for word in command[1:]))
        self.assertIn(status, (0, 100), (command, errors))
        return (self.folder / output).read_bytes()

    def test_is_kept_if_it_is_not_ours(self):
        foreign = {"text": b"precious", "json": b'{\n  "verdict": "precious"\n}\n', "log": self.log,
                   "gzip": gzip.compress(b"precious"), "heaptrack": b"v 10400 1\nX precious\n", "budget": b'{"max-leaked": 0}\n',
                   "other": b'{\n  "schema_version": "1.0",\n  "name": "precious"\n}\n',
                   "line": b'{"schema_version":"1.0","name":"precious"}\n'}
        for command in self.commands:
            for name, text in foreign.items():
                (self.folder / name).write_bytes(text)
                named = [name if word == "OUT" else word for word in command]
                with self.subTest(named):
                    self.assert_refused(*named, parts=[f"{name} exists", "-f overwrites it"])
            self.assertNotEqual(self.written(command, "text", "-f"), b"precious")

    def test_is_replaced_if_it_is_ours_or_empty(self):
        for command in self.commands:
            with self.subTest(command):
                (self.folder / "out").write_bytes(b"")
                first = self.written(command, "out")
                self.assertGreater(len(first), 100)
                self.written(command, "out")
        for command in self.commands:
            self.written(command, "out")

    def test_is_a_link_and_stays_one(self):
        (self.folder / "there").write_bytes(b"")
        for name in ("there", "missing"):
            (self.folder / "link").unlink(missing_ok=True)
            (self.folder / "link").symlink_to(name)
            self.written(self.commands[0], "link")
            self.assertTrue((self.folder / "link").is_symlink())
            self.assertTrue((self.folder / name).read_bytes().startswith(b'{"type":"header"'))

    def test_is_a_link_of_another_users_in_a_common_folder(self):
        if os.getuid() != 0 or pathlib.Path("/proc/sys/fs/protected_symlinks").read_text() != "1\n":
            self.skipTest("needs root, and a kernel that protects links")
        common = self.folder / "common"
        common.mkdir()
        common.chmod(0o1777)
        for name in ("there", "missing"):
            (self.folder / "there").write_bytes(b"")
            (common / name).symlink_to(self.folder / name)
            os.lchown(common / name, 65534, 65534)
            self.assert_refused(*(f"common/{name}" if word == "OUT" else word for word in self.commands[0]),
                                parts=[f"cannot write common/{name}: Permission denied"])
            self.assertFalse((self.folder / "missing").exists())

    def test_is_no_regular_file(self):
        expected = self.call("export", "--to", "jsonl", "run.vsl")[1]
        self.assertEqual(self.call("export", "--to", "jsonl", "-o", "/dev/null", "run.vsl"), (0, b"", ""))
        self.assertFalse(pathlib.Path("/dev/null").is_file())
        for name in ("/dev/stdout", "/proc/self/fd/1", "-"):
            self.assertEqual(self.call("export", "--to", "jsonl", "-o", name, "run.vsl"), (0, expected, ""))
        with open(self.folder / "file", "wb") as file:
            file.write(b"before\n")
            file.flush()
            self.assertEqual(self.call("export", "--to", "jsonl", "-o", "/dev/stdout", "run.vsl", stdout=file)[0], 0)
        self.assertEqual((self.folder / "file").read_bytes(), b"before\n" + expected)

    def test_is_a_folder(self):
        for command in self.commands:
            self.assert_refused(*("." if word == "OUT" else word for word in command), parts=["Is a directory"])

    def test_cannot_be_made(self):
        for command in self.commands:
            self.assert_refused(*("no/such/out" if word == "OUT" else word for word in command),
                                parts=["cannot write no/such/out: No such file or directory"])


class AWriteThatFails(OutputTest):
    """Is a line and 125, for whatever command."""

    def setUp(self):
        super().setUp()
        self.printing = [["report", "run.vsl"], ["leaks", "-q", "run.vsl"], ["plan", "run.vsl"], ["check", "run.vsl"],
                         ["diff", "run.vsl", "run.vsl"], ["job", "run.vsl"], ["suppress", "run.vsl"], ["reduce", "run.vsl"],
                         ["export", "--to", "jsonl", "run.vsl"], ["report", "--json", "-", "run.vsl"], ["doctor", "run.vsl"],
                         ["doctor"], ["schema"], ["manual", "run"], ["completion", "bash"], ["help", "run"], ["--help"],
                         ["run", "--help-all"], ["--version"]]

    def assert_told(self, arguments, done):
        self.assertEqual(done.returncode, 125, (arguments, done.stderr))
        self.assert_one_line(done.stderr.decode(), "vramscope: error: ")

    def test_on_stdout(self):
        for arguments in self.printing:
            with self.subTest(arguments), open("/dev/full", "wb") as full:
                self.assert_told(arguments, subprocess.run([VRAMSCOPE, *arguments], cwd=self.folder, stdout=full, timeout=120,
                                                           stderr=subprocess.PIPE, env=self.environment()))

    def limited(self, arguments, stdout=subprocess.PIPE):
        """With a limit of 8 bytes for each file, as `ulimit -f` sets one."""
        return subprocess.run([VRAMSCOPE, *arguments], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE, timeout=120,
                              env=self.environment(), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (8, 8)))

    def test_beyond_the_limit_of_a_files_size(self):
        writing = [["export", "--to", name, "-o", "out", "run.vsl"] for name in FORMATS if name != "sqlite"]  # that has a file in TMPDIR too
        writing += [[command, "--json", "out", "run.vsl"] for command in (*VIEWS, "check", "plan", "job")]
        writing += [["suppress", "-o", "out", "run.vsl"], ["reduce", "-o", "out", "run.vsl"], ["symbolize", "-o", "out", "run.vsl"],
                    ["pack", "-o", "out", "run.vsl"], ["diff", "--json", "out", "run.vsl", "run.vsl"]]
        for arguments in writing:
            with self.subTest(arguments):
                done = self.limited(arguments)
                self.assert_told(arguments, done)
                self.assertIn("File too large", done.stderr.decode())
                self.assertFalse((self.folder / "out").exists())
        for arguments in self.printing:
            with self.subTest(arguments), open(self.folder / "text", "wb") as text:
                self.assert_told(arguments, self.limited(arguments, stdout=text))

    def test_ends_who_prints_for_nobody_quietly(self):
        reader, nobody = os.pipe()
        os.close(reader)
        done = subprocess.run([VRAMSCOPE, "report", "run.vsl"], cwd=self.folder, stdout=nobody, stderr=subprocess.PIPE, timeout=120,
                              env=self.environment())
        os.close(nobody)
        self.assertEqual((done.returncode, done.stderr), (-signal.SIGPIPE, b""))


if __name__ == "__main__":
    unittest.main()
