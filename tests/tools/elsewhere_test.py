#!/usr/bin/env python3
# tests/tools/elsewhere_test.py — a log from a container: --sysroot and --path-map, and files that
# are not those traced.
#
# The program runs in a folder that is then moved: what the log names is there no more, as after a
# container's end.
import json
import os
import re
import shutil
import unittest

from cli import BUILD, PROGRAMS, CliTest, ProgramTest

NEXT = "--sysroot DIR and --path-map OLD=NEW say where"


class Elsewhere(CliTest):
    def setUp(self):
        super().setUp()
        ProgramTest.cache = os.devnull  # names come from files, not from an earlier look at the log
        self.inside = self.folder / "inside"  # the program's path; a name of the container's
        self.inside.mkdir()
        shutil.copy(PROGRAMS / "training_demo", self.inside / "train")
        status, _, stderr = self.simulate(self.inside / "train", "2")
        self.assertEqual(status, 0, stderr)
        # The root of the container: all paths are below it.
        self.root = self.folder / "root"
        self.home = self.root / str(self.inside).lstrip("/")
        self.home.parent.mkdir(parents=True)
        self.inside.rename(self.home)

    def report(self, *options, command=("leaks",)):
        status, stdout, stderr = self.vramscope(*command, *options, "--json", "-", "run.vsl")
        self.assertEqual(status, 0, stderr)
        return json.loads(stdout)

    def functions(self, *options):
        """Of each leak, the function that is its innermost frame."""
        return [leak["stack"][0]["function"] for leak in self.report(*options)["leaks"]]

    def assert_named(self, *options):
        self.assertEqual([name.split("(")[0] for name in self.functions(*options)], ["load_labels", "log_loss"])
        self.assertFalse([note for note in self.report(*options)["notices"] if "train" in note])

    def assert_unnamed(self, why, *options):
        self.assertEqual(set(self.functions(*options)), {None})
        [note] = [note for note in self.report(*options)["notices"] if note.startswith(f"{self.inside}/train: ")]
        self.assertIn(why, note)


class ALogOfAContainer(Elsewhere):
    def test_is_named_by_its_root_or_by_where_its_folder_is(self):
        self.assert_unnamed("no such file")
        self.assert_named("--path-map", f"{self.inside}={self.home}")
        self.assert_named("--path-map", f"{self.inside}/train={self.home}/train")
        self.assert_named("--path-map", f"/={self.root}")
        # The simulated GPU's files and libc are not below it: only the program's frames count.
        self.assertEqual([name.split("(")[0] for name in self.functions("--sysroot", self.root)],
                         ["load_labels", "log_loss"])

    def test_what_is_missing_is_said_once_with_the_next_step(self):
        for command in [("report",), ("leaks",), ("peak",), ("frag",), ("churn",), ("plan",),
                        ("check", "--max-leaked", "1GiB")]:
            status, stdout, stderr = self.vramscope(*command, "run.vsl")
            self.assertEqual((status, stderr), (0, ""), command)
            text = " ".join(stdout.split())
            self.assertEqual(text.count("no such file"), 1, text)
            self.assertEqual(text.count(f"Note: {self.inside}/train: no such file; its frames are shown as "
                                        "module+offset"), 1, text)
            self.assertEqual(text.count(NEXT), 1, text)
        for command in [("export", "--to", "jsonl", "-o", "out"), ("export", "--to", "heaptrack", "-f", "-o", "out"),
                        ("export", "--to", "pprof", "-f", "-o", "out"), ("suppress", "-f", "-o", "out")]:
            status, _, stderr = self.vramscope(*command, "run.vsl")
            self.assertEqual(status, 0)
            self.assert_one_line(stderr, f"vramscope: warning: {self.inside}/train: no such file", NEXT)
            status, _, stderr = self.vramscope(*command, "-f", "--path-map", f"{self.inside}={self.home}", "run.vsl")
            self.assertEqual((status, stderr), (0, ""))

    def test_of_a_comparison_either_side_is_looked_at(self):
        status, stdout, _ = self.vramscope("diff", "run.vsl", "run.vsl")
        self.assertEqual(status, 0)
        self.assertEqual(" ".join(stdout.split()).count("no such file"), 1, stdout)
        stdout = self.vramscope("diff", "--path-map", f"{self.inside}={self.home}", "run.vsl", "run.vsl")[1]
        self.assertNotIn("no such file", stdout)

    def test_the_next_command_is_given_the_same_places(self):
        place = f"{self.inside}={self.home}"
        stdout = self.vramscope("leaks", "--sysroot", "/", "--path-map", place, "run.vsl")[1]
        self.assertIn(f"Next: vramscope report --sysroot / --path-map {place} run.vsl", stdout)

    def test_many_files_share_a_line(self):
        stdout = self.vramscope("report", "--all-frames", "--path-map", "/=/nowhere", "run.vsl")[1]
        text = " ".join(stdout.split())
        self.assertEqual(text.count("no such file"), 1, text)
        self.assertRegex(text, r"Note: \S+ \(\S+\), \S+ \(\S+\).*: no such file; their frames")


class AnotherRoot(CliTest):
    def test_what_ran_in_it_is_named_outside(self):
        root = self.folder / "root"
        preload = BUILD / "lib" / "libvramscope.so"
        simgpu = BUILD / "lib" / "vramscope" / "simgpu"
        train = PROGRAMS / "training_demo"
        listed = self.execute("ldd", train, preload, LD_LIBRARY_PATH=str(simgpu)).stdout
        for library in {*re.findall(r"(/\S+) \(0x", listed), str(preload), *map(str, simgpu.glob("*.so.*"))}:
            (root / library[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(library, root / library[1:])
        for folder in ("app", "logs", "proc"):
            (root / folder).mkdir()
        shutil.copy(train, root / "app" / "train")
        run = 'mount --rbind /proc "$0/proc" && exec chroot "$0" /app/train 2'
        done = self.execute("unshare", "--user", "--map-root-user", "--mount", "sh", "-c", run, root,
                            LD_PRELOAD=str(preload), LD_LIBRARY_PATH=str(simgpu), VRAMSCOPE_SIMULATE="1GiB",
                            VRAMSCOPE_LOG="/logs/run.vsl")
        if not (root / "logs" / "run.vsl").exists() and not done.stdout:
            self.skipTest(f"no other root can be entered here: {done.stderr}")
        functions = {}
        for options in ([], ["--sysroot", root], ["--path-map", f"/app={PROGRAMS}", "--path-map", f"/app/train={train}"]):
            status, stdout, stderr = self.vramscope("leaks", *options, "--json", "-", root / "logs" / "run.vsl")
            self.assertEqual(status, 0, stderr)
            stacks = [leak["stack"] for leak in json.loads(stdout)["leaks"]]
            self.assertIn("/app/train", {frame["module"] for frame in stacks[0]})
            functions[str(options)] = [(stack[0]["function"] or "").split("(")[0] for stack in stacks]
        self.assertEqual([*functions.values()], [["", ""], ["load_labels", "log_loss"], ["load_labels", "log_loss"]])


class FilesThatAreNotThoseTraced(Elsewhere):
    def test_another_build_is_refused_and_told(self):
        shutil.copy(PROGRAMS / "pool_stats", self.home / "train")
        self.assert_unnamed("not the one that was traced (its build-id differs)",
                            "--path-map", f"{self.inside}={self.home}")
        text = self.vramscope("leaks", "--path-map", f"{self.inside}={self.home}", "run.vsl")[1]
        self.assertRegex(" ".join(text.split()), rf"Note: \S+/train \({self.home}/train: build-id [0-9a-f]+, traced was "
                         r"[0-9a-f]+\): the file is not the one that was traced")

    def test_a_link_is_followed_inside_the_root_and_never_out_of_it(self):
        real = self.root / "opt" / "real"
        real.parent.mkdir()
        (self.home / "train").rename(real)
        (self.home / "train").symlink_to("/opt/real")
        self.assertEqual(len([name for name in self.functions("--sysroot", self.root) if name]), 2)
        outside = self.folder / "outside"
        real.rename(outside)
        for target in (outside, os.path.relpath("/", self.home) + str(outside)):
            (self.home / "train").unlink()
            (self.home / "train").symlink_to(target)
            self.assertTrue((self.home / "train").exists())
            self.assert_unnamed("no such file", "--sysroot", self.root)


class WrongUsage(CliTest):
    def test_is_one_line_before_anything_is_read(self):
        for command in ["report", "leaks", "churn", "plan", "check", "suppress", "export --to jsonl", "diff none.vsl",
                        "run"]:
            for option, value, why in [("--sysroot", "nowhere", "there is no such folder"),
                                       ("--path-map", "/app", "write OLD=NEW"),
                                       ("--path-map", "app=/x", "write OLD=NEW"),
                                       ("--path-map", "/app=", "write OLD=NEW")]:
                status, stdout, stderr = self.vramscope(*command.split(), option, value, "none.vsl")
                self.assertEqual((status, stdout), (125, ""), command)
                self.assert_one_line(stderr, f"{option} {value}: {why}")


if __name__ == "__main__":
    unittest.main()
