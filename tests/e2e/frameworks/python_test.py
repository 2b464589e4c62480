# tests/e2e/frameworks/python_test.py — functions of Python in call stacks, held against what the
# program says of itself.
#
import gzip
import json
import re
import subprocess
import sys
import unittest

from framework import PRELOAD, SIMGPU, SOURCE, VRAMSCOPE, EndToEndTest, on_each_python, simulated_only, version_of

FOLDER = SOURCE / "tests" / "programs" / "python"


def marked(name):
    return {match[1]: number for number, line in enumerate((FOLDER / name).read_text().splitlines(), start=1)
            if (match := re.search(r"# MARK (\w+)$", line))}


@simulated_only
class PythonTest(EndToEndTest):
    def traced(self, python, *arguments, **env):
        done = self.execute(python, *arguments, LD_PRELOAD=str(PRELOAD), LD_LIBRARY_PATH=str(SIMGPU),
                            VRAMSCOPE_LOG="log.%p.vsl", VRAMSCOPE_POOL="off", VRAMSCOPE_SIMULATE="1GiB", **env)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def stacks_of(self, log):
        """{size of an allocation: its functions of Python, innermost first}"""
        lines = [json.loads(line) for line in
                 self.execute(VRAMSCOPE, "export", "--to", "jsonl", "-o", "-", log).stdout.splitlines()]
        stacks = {line["id"]: [[frame["file"], frame["line"], frame["function"]] for frame in line["frames"]
                               if frame.get("python")] for line in lines if line["type"] == "stack"}
        return {line["bytes"]: stacks.get(line["stack"]) for line in lines if line["type"] == "alloc"}

    def assert_as_said(self, name):
        said = json.loads((self.folder / name).read_text())
        seen = self.stacks_of(self.folder / f"log.{said['pid']}.vsl")
        wanted = {int(size): stack for size, stack in said["stacks"].items()}
        self.assertEqual(seen.keys(), wanted.keys())
        for size, stack in wanted.items():
            self.assertEqual(seen[size], stack, f"{name}: allocation of {size} bytes")

    @on_each_python
    def test_every_stack_is_what_the_program_says(self, python):
        self.traced(python, FOLDER / "scenes.py", "expected")
        self.assert_as_said("expected")
        self.assert_as_said("expected.child")

    @on_each_python
    def test_in_a_greenlet_it_is_its_own(self, python):
        if subprocess.run([python, "-c", "import greenlet"], capture_output=True).returncode != 0:
            self.skipTest("no module greenlet (Debian: python3-greenlet)")
        self.traced(python, FOLDER / "greenlets.py", "expected")
        self.assert_as_said("expected")

    @on_each_python
    def test_in_another_interpreter_it_is_that_ones(self, python):
        for inner in self.folder.glob("expected.inner.*"):
            inner.unlink()
        self.traced(python, FOLDER / "subinterpreters.py", "expected")
        self.assert_as_said("expected")

    @on_each_python
    def test_offsets_that_are_not_right_switch_it_off(self, python):
        """Each word of CPython's own table of them, changed alone."""
        if version_of(python) < (3, 13):
            return
        self.traced(python, FOLDER / "forged.py", "said")
        lines = marked("forged.py")
        right = [[str(FOLDER / "forged.py"), lines[mark], name]
                 for mark, name in (("allocate", "allocate"), ("forged", "forged"), ("module", "<module>"))]
        off = {}
        for pid, word in json.loads((self.folder / "said").read_text()).items():
            report = self.report_of(f"log.{pid}.vsl")
            [leak] = report["leaks"]
            stack = [[frame["file"], frame["line"], frame["function"]] for frame in leak["stack"] if frame.get("python")]
            notices = [notice for notice in report["notices"] if "functions of Python" in notice]
            self.assertEqual((stack, len(notices)), ([], 1) if notices else (right, 0), f"word {word}")
            if notices:
                off[word] = notices[0]
        self.assertIn("table of offsets is not one that is known", off[1])
        self.assertIn("free-threaded build", off[2])
        self.assertGreaterEqual(len(off), 12)

    def test_the_headline_is_the_line_that_leaks(self):
        lines = marked("leak.py")
        report = self.trace(sys.executable, FOLDER / "leak.py")
        [leak] = report["leaks"]
        shown = [(frame["function"], frame["line"]) for frame in leak["stack"]]
        self.assertEqual(shown[0][1], lines["leak"])
        self.assertEqual([line for _, line in shown], [lines["leak"], lines["call"]])
        self.assertEqual((leak["api"], leak["bytes"], leak["blocks"]), ("cudaMalloc", 30 << 10, 10))
        text = self.execute(VRAMSCOPE, "leaks", *self.logs()).stdout
        self.assertRegex(text, r"keep\s+\S*leak.py:%d" % lines["leak"])
        everything = self.execute(VRAMSCOPE, "leaks", "--all-frames", *self.logs()).stdout
        self.assertIn("ffi", everything)
        self.assertNotIn("ffi", text)

    def test_growth_rules_and_comparisons_name_the_line(self):
        lines = marked("growing.py")
        for steps in (12, 30):
            self.trace(sys.executable, FOLDER / "growing.py", steps)
            [log] = self.logs()
            log.rename(self.folder / f"{steps}.log")
        report = self.report_of("30.log")
        self.assertEqual([(leak["stack"][0]["function"], leak["stack"][0]["line"], leak["class"], leak["stack"][0]["python"])
                          for leak in report["leaks"]],
                         [("Trainer.step", lines["grows"], "growing", True), ("load", lines["load"], "start-up", True)])
        known = self.execute(VRAMSCOPE, "suppress", "30.log").stdout
        rules = [line for line in known.splitlines() if line.startswith("leak:")]
        self.assertEqual(rules, ["leak:^Trainer.step$", "leak:^load$"])
        for rule, left in ((rules[0], ["load"]), ("leak:growing.py", [])):
            (self.folder / "known.supp").write_text(rule + "\n")
            self.execute(VRAMSCOPE, "leaks", "--json", "left.json", "--suppressions", "known.supp", "30.log")
            leaks = json.loads((self.folder / "left.json").read_text())["leaks"]
            self.assertEqual([leak["stack"][0]["function"] for leak in leaks], left)
        text = self.execute(VRAMSCOPE, "diff", "12.log", "30.log").stdout
        self.assertIn("Leaks: 0 new, 1 grown, 0 shrunk, 0 gone, 1 as before", text)
        self.assertRegex(text, r"grown .* Trainer\.step growing\.py:%d" % lines["grows"])

    @on_each_python
    def test_work_ends_where_the_interpreter_does(self, python):
        """Its end frees what grew, and may take longer than the work: memory that grows grows all the same."""
        for steps, seconds in ((60, 0), (60, 0.5), (400, 1.5)):
            log = f"{steps}-{seconds}.vsl"
            self.execute(python, FOLDER / "ended_by_python.py", steps, seconds, LD_PRELOAD=str(PRELOAD),
                         LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_LOG=log, VRAMSCOPE_SIMULATE="1GiB")
            report = self.report_of(log)
            with self.subTest(log):
                self.assertEqual([finding["kind"] for finding in report["findings"]], ["growth"])
                [row] = report["growth"]
                self.assertEqual((row["freed"], row["rate"]["bytes_per_step"]), (True, 1 << 20))
                self.assertIn(marked("ended_by_python.py")["grows"], [frame["line"] for frame in row["stack"]])
                self.assertEqual(report["verdict"], "clean")

    def test_exports_have_its_functions(self):
        self.trace(sys.executable, FOLDER / "growing.py", 3)
        for target, packed in (("pprof", True), ("heaptrack", False)):
            written = self.folder / target
            done = self.execute(VRAMSCOPE, "export", "--to", target, "-o", written, *self.logs())
            self.assertEqual(done.returncode, 0, done.stderr)
            content = gzip.decompress(written.read_bytes()) if packed else written.read_bytes()
            for word in ("Trainer.step", "load", str(FOLDER / "growing.py")):
                self.assertIn(word.encode(), content, target)


if __name__ == "__main__":
    unittest.main()
