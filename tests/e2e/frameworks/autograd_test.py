# tests/e2e/frameworks/autograd_test.py — allocations of a backward pass have the line of Python
# that made their node.
import json
import sys
import unittest

from framework import PRELOAD, PROGRAMS, SIMGPU, SOURCE, VRAMSCOPE, EndToEndTest, on_each_python, simulated_only

PROGRAM = SOURCE / "tests" / "programs" / "python" / "autograd.py"
WORD = "backward of "


@simulated_only
class AutogradTest(EndToEndTest):
    def traced(self, python, library):
        done = self.execute(python, PROGRAM, PROGRAMS / f"lib{library}.so", "expected", LD_PRELOAD=str(PRELOAD),
                            LD_LIBRARY_PATH=str(SIMGPU), VRAMSCOPE_LOG="log.%p.vsl", VRAMSCOPE_POOL="off", VRAMSCOPE_SIMULATE="1GiB")
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "42 0\n" * 2))
        said = [json.loads((self.folder / name).read_text()) for name in ("expected", "expected.child")]
        return {f"log.{process['pid']}.vsl": process["stacks"] for process in said}

    def stacks(self, log):
        """{size of an allocation: the functions of Python that ran, and those whose backward it is, innermost first}"""
        text = self.execute(VRAMSCOPE, "export", "--to", "jsonl", "-o", "-", log).stdout
        lines = [json.loads(line) for line in text.splitlines()]
        stacks = {}
        for line in lines:
            if line["type"] == "stack":
                python = [frame for frame in line["frames"] if frame.get("python")]
                ran, made = ([[frame["file"], frame["line"], frame["function"].removeprefix(WORD)] for frame in python
                              if frame["function"].startswith((WORD, "gradient of")) == origin] for origin in (False, True))
                stacks[line["id"]] = [ran, made]
        return {line["bytes"]: stacks[line["stack"]] for line in lines if line["type"] == "alloc"}

    @on_each_python
    def test_each_node_has_its_own_line(self, python):
        for log, expected in self.traced(python, "autograd").items():
            made = self.report_of(log)["processes"][0]["autograd"]
            self.assertEqual(made, {"nodes": 42, "nodes_with_origin": 42})
            seen = self.stacks(log)
            for size, stack in expected.items():
                self.assertEqual(seen[int(size)], stack, f"{log}: allocation of {size} bytes")

    def test_the_headline_says_whose_backward_it_is(self):
        self.traced(sys.executable, "autograd")
        text = self.execute(VRAMSCOPE, "leaks", *self.logs()).stdout
        self.assertRegex(text, r"backward of layer\s+\S*autograd.py:\d+")
        self.assertNotIn("do not say", text)

    def test_doctor_says_how_many_nodes_there_were(self):
        for log in self.traced(sys.executable, "autograd"):
            lines = self.execute(VRAMSCOPE, "doctor", log).stdout.splitlines()
            self.assertIn("ok    PyTorch's backward pass: 42 nodes were seen, 42 of them made by known functions of Python",
                          lines)

    def assert_off(self, library, why):
        for log in self.traced(sys.executable, library):  # a child's says so too
            self.assertFalse([stack for stack in self.stacks(log).values() if stack[1]])
            [notice] = [notice for notice in self.report_of(log)["notices"] if "backward" in notice]
            self.assertIn(why, notice)

    def test_a_node_of_another_layout_switches_it_off(self):
        self.assert_off("autograd_other_layout", "where they are looked for")

    def test_without_the_current_node_it_is_off(self):
        self.assert_off("autograd_without_nodes", "does not tell which node")


if __name__ == "__main__":
    unittest.main()
