# tests/e2e/frameworks/python_logs_test.py — vramscope.load(): logs as tables, on every Python at hand.
import json
import os
import pathlib
import shutil
import textwrap
import unittest

from framework import BUILD, GPU, PROGRAMS, VRAMSCOPE, EndToEndTest, on_each_python, simulated_only

MODULE = BUILD / "lib" / "vramscope" / "python"
# Members that are null in the log of the test, or that only some logs have.
NOT_IN_IT = {"processes": {"rank"}, "peak": {"phase"}, "leaks": {"phase"}, "growth": {"phase"}}


@simulated_only
class LogsTest(EndToEndTest):
    def load(self, python, text, *arguments, module=MODULE, **env):
        """What a program of its own prints that reads logs."""
        path = self.folder / "reads.py"
        path.write_text("import json, sys, vramscope\n" + textwrap.dedent(text), encoding="utf-8")
        done = self.execute(python, path, *arguments, **{"PYTHONPATH": str(module), **env})
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def run_demo(self, name="run.vsl", program=("training_demo",), status=0):
        done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", name, "--", PROGRAMS / program[0], *program[1:])
        self.assertEqual(done.returncode, status, done.stderr)
        return json.loads(self.execute(VRAMSCOPE, "report", "--json", "-", name).stdout)


class OnEachPython(LogsTest):
    ALL = """
        run = vramscope.load(sys.argv[1])
        names = "processes devices findings leaks growth peak timeline sites marks blocks".split()
        print(json.dumps({"verdict": run.verdict, "totals": run.totals, "report": run.json, "repr": repr(run),
                          **{name: getattr(run, name) for name in names}}))
        assert run.blocks is run.blocks and "pandas" not in sys.modules
        """

    @on_each_python
    def test_tables_add_up_to_the_report(self, python):
        report = self.run_demo()
        run = json.loads(self.load(python, self.ALL, "run.vsl"))
        (self.folder / "run.vsl").unlink()
        self.assertEqual((run["report"], run["verdict"], run["totals"]), (report, "leaks", report["totals"]))
        self.assertEqual(run["repr"].splitlines(), ["run.vsl: leaks", *(row["sentence"] for row in report["findings"])])
        leaked = [row for row in run["blocks"] if row["end"] in ("alive", "context")]
        self.assertEqual([len(run["blocks"]), sum(row["bytes"] for row in run["blocks"]), len(leaked), sum(row["bytes"] for row in leaked)],
                         [report["totals"][name] for name in ("allocations", "allocated_bytes", "leaked_blocks", "leaked_bytes")])
        self.assertEqual([row["allocated_ns"] for row in run["blocks"]], sorted(row["allocated_ns"] for row in run["blocks"]))
        self.assertTrue(all((row["freed_ns"] is None) == (row["end"] == "alive") for row in run["blocks"]))
        self.assertEqual(sum(row["bytes"] for row in run["leaks"]), report["totals"]["leaked_bytes"])
        self.assertEqual([(row["function"], row["line"]) for row in run["growth"]],
                         [(row["stack"][0]["function"], row["stack"][0]["line"]) for row in report["growth"]])
        self.assertEqual(run["growth"][0]["bytes_per_step"], 65536)
        (device,) = report["processes"][0]["device_memory"]
        self.assertEqual(sum(row["bytes"] for row in run["peak"]), device["requested_bytes"]["peak"])
        self.assertEqual(max(row["peak_allocated_bytes"] for row in run["timeline"]), run["devices"][0]["peak_allocated_bytes"])
        self.assertEqual(sum(row["allocations"] for row in run["sites"]), report["totals"]["allocations"])

    @on_each_python
    def test_every_column_is_a_member_that_is_there(self, python):
        """A member that was given another name would be None in all rows."""
        self.run_demo()
        done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", "marks.vsl", "--", PROGRAMS / "phases", "nvtx")
        self.assertEqual(done.returncode, 0, done.stderr)
        demo, marks = (json.loads(self.load(python, self.ALL, log)) for log in ("run.vsl", "marks.vsl"))
        for name in (name for name in demo if isinstance(demo[name], list)):
            rows = demo[name] + marks[name]
            self.assertGreater(len(rows), 0, name)
            empty = {column for column in rows[0] if all(row[column] is None for row in rows)}
            self.assertLessEqual(empty, NOT_IN_IT.get(name, set()), name)

    @on_each_python
    def test_what_cannot_be_read_is_told_by_the_commands_own_line(self, python):
        (self.folder / "no.vsl").write_text("nothing")
        out = self.load(python, """
            for logs in (["no.vsl"], ["missing.vsl"], []):
                try:
                    vramscope.load(*logs)
                except vramscope.CommandError as error:
                    print(error.status, error)
            """)
        lines = out.splitlines()
        self.assertRegex(lines[0], r"^120 'no.vsl' is no log of vramscope: ")
        self.assertRegex(lines[1], r"^120 cannot open 'missing.vsl': No such file")
        self.assertRegex(lines[2], r"^125 .*LOG")
        self.assertEqual(len(lines), 3)


class Whatever(LogsTest):
    PYTHON = "/usr/bin/python3"

    def wheel_like(self, command):
        """The module as a wheel has it, beside another command."""
        module = self.folder / "venv/lib/python3.9/site-packages"
        shutil.copytree(MODULE / "vramscope", module / "vramscope")
        script = self.folder / "venv/bin/vramscope"
        script.parent.mkdir()
        script.write_text(command)
        script.chmod(0o755)
        return module

    def test_blocks_are_read_when_they_are_asked_for_by_the_command_beside_the_module(self):
        self.run_demo()
        module = self.wheel_like(f'#!/bin/sh\necho "$1" >>asked\nexec {VRAMSCOPE} "$@"\n')
        out = self.load(self.PYTHON, """
            run = vramscope.load("run.vsl")
            print(len(run.leaks), open("asked").read().split())
            print(len(run.blocks), len(run.blocks), open("asked").read().split())
            """, module=module)
        self.assertEqual(out, "2 ['report']\n310 310 ['report', 'export']\n")

    def test_a_missing_command_is_told(self):
        module = self.wheel_like("")
        os.unlink(self.folder / "venv/bin/vramscope")
        out = self.load(self.PYTHON, """
            try:
                vramscope.load("run.vsl")
            except vramscope.CommandError as error:
                print(error.status, error)
            """, module=module, PATH="/nowhere")
        self.assertRegex(out, r"^127 there is no vramscope command beside this module .* nor on PATH")

    def test_a_run_that_is_inconclusive_is_told_like_any_other(self):
        report = self.run_demo(program=("ends", "SIGKILL"), status=137)
        self.assertEqual(report["verdict"], "inconclusive")
        out = self.load(self.PYTHON, """
            run = vramscope.load("run.vsl")
            print(run.verdict, len(run.verdict_reasons), len(run.blocks), run.processes[0]["end"])
            print(repr(run).splitlines()[0])
            """)
        self.assertRegex(out, r"^inconclusive [1-9]\d* [1-9]\d* was killed by signal 9.*\nrun.vsl: inconclusive; ")

    def test_several_logs_and_a_folder_are_as_the_command_has_them(self):
        (self.folder / "logs").mkdir()
        self.run_demo("logs/a.vsl")
        self.run_demo("logs/b.vsl", ("memory_kinds", "managed"))
        report = json.loads(self.execute(VRAMSCOPE, "report", "--json", "-", "logs").stdout)
        out = self.load(self.PYTHON, """
            import os, pathlib
            run = vramscope.load("logs")
            same = vramscope.load(pathlib.Path("logs/a.vsl"), "logs/b.vsl")
            os.chdir("/")
            print(json.dumps([[row["program"] for row in run.processes], sorted({row["process"] for row in run.blocks}),
                              len(run.blocks), run.blocks == same.blocks, run.leaks == same.leaks]))
            """)
        self.assertEqual(json.loads(out), [["training_demo", "memory_kinds"], [0, 1], report["totals"]["allocations"], True, True])

    def test_a_program_that_is_traced_reads_its_own_log(self):
        shutil.copy(pathlib.Path(__file__).parents[2] / "programs/python/driver.py", self.folder)
        path = self.folder / "traced.py"
        path.write_text(textwrap.dedent("""
            import vramscope
            from driver import start, allocate
            start()
            with vramscope.range("part"):
                kept = allocate(2)
            run = vramscope.load("own.vsl")
            print(run.verdict, [(row["bytes"] >> 20, row["phase"], row["function"], row["end"]) for row in run.blocks])
            """))
        done = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "-o", "own.vsl", self.PYTHON, path)
        self.assertEqual(done.stdout, "inconclusive [(2, 'part', 'allocate', 'alive')]\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
