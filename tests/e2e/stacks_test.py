# tests/e2e/stacks_test.py — what a report says of call stacks that cannot be whole.
import unittest

from e2e import PROGRAMS, VRAMSCOPE, EndToEndTest


class StacksTest(EndToEndTest):
    def leaks_of(self, program):
        """{bytes: (functions, why there are no more)}"""
        return {leak["bytes"]: ([frame["function"] for frame in leak["stack"]], leak["stack_cut"])
                for leak in self.trace(program)["leaks"]}

    def text(self):
        return self.execute(VRAMSCOPE, "leaks", *self.logs()).stdout

    def test_a_stack_that_ends_in_code_without_an_unwind_table_says_so(self):
        for program in ("no_unwind_table", "no_unwind_table_but_frames"):
            with self.subTest(program):
                leaks = self.leaks_of(program)
                self.assertEqual(leaks[1000], (["leak", "inner"], "no-unwind-table"))
                self.assertEqual(leaks[3000], (["main"], None))  # whatever called it is of no use
                words = " ".join(self.execute(VRAMSCOPE, "leaks", self.logs()[-1]).stdout.split())
                self.assertEqual(words.count(f"its callers are not known: this code of {program} has no unwind table; compile "
                                             "it with -fasynchronous-unwind-tables"), 1)

    def test_a_whole_stack_says_nothing(self):
        leaks = self.leaks_of("unwind_table")
        self.assertEqual(leaks[1000], (["leak", "inner", "outer", "main"], None))
        self.assertNotIn("callers are not known", self.text())

    def test_a_program_that_the_loader_was_told_to_run_has_its_names(self):
        loader = "/lib64/ld-linux-x86-64.so.2"  # it has this name on every x86-64
        leaks = self.trace(loader, PROGRAMS / "unwind_table")["leaks"]
        self.assertIn(["leak", "inner", "outer", "main"], [[frame["function"] for frame in leak["stack"]] for leak in leaks])


if __name__ == "__main__":
    unittest.main()
