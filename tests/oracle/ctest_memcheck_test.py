#!/usr/bin/env python3
# tests/oracle/ctest_memcheck_test.py — CTest counts what `export --to sanitizer` writes as it counts compute-sanitizer's leaks.
#
# compute-sanitizer itself is not here: CTest is the program that reads its text.
import re
import unittest

from oracle import GPU, PROGRAMS, TRACED, VRAMSCOPE, OracleTest, needs

TOOL = VRAMSCOPE.parent / "vramscope-memcheck"
SCRIPT = """
set(CTEST_SOURCE_DIRECTORY "{folder}")
set(CTEST_BINARY_DIRECTORY "{folder}/b")
set(CTEST_CMAKE_GENERATOR "Unix Makefiles")
set(CTEST_MEMORYCHECK_TYPE CudaSanitizer)
set(CTEST_MEMORYCHECK_COMMAND "{tool}")
set(CTEST_MEMORYCHECK_COMMAND_OPTIONS "--simulate {gpu}")
ctest_start(Experimental)
file(WRITE "{folder}/b/CTestTestfile.cmake" [[add_test(gpu {command})]])
ctest_memcheck(DEFECT_COUNT defects)
message("DEFECTS ${{defects}}")
"""


class CTest(OracleTest):
    def defects(self, command):
        (self.folder / "b").mkdir(exist_ok=True)
        program = " ".join([f'"{PROGRAMS / command[0]}"', *command[1:]])
        (self.folder / "s.cmake").write_text(SCRIPT.format(folder=self.folder, tool=TOOL, gpu=GPU, command=program))
        done = self.execute("ctest", "-S", "s.cmake", "-VV")
        self.assertNotIn("Could not find executable", done.stdout)  # then there is no defect either
        return int(re.search(r"DEFECTS (\d+)", done.stdout + done.stderr)[1]), done.stdout

    def test_counts_as_many_leaks_as_the_report(self):
        for what, command in TRACED.items():
            with self.traced(what, *command) as (_, report):
                found, output = self.defects(command)
                self.assertEqual(found, report["totals"]["leaked_blocks"], output)

    def test_a_test_that_leaks_nothing_has_no_defect(self):
        found, output = self.defects(["gtest_suite", "--gtest_filter=Pool.Cleans"])
        self.assertEqual(found, 0, output)

    def test_a_crash_is_a_defect(self):
        found, output = self.defects(["gtest_suite", "--gtest_filter=Faults.DISABLED_Crashes", "--gtest_also_run_disabled_tests"])
        self.assertEqual(found, 2, output)  # the block that it held, and what the log does not tell
        self.assertIn("Incomplete", (self.folder / "b/Testing/Temporary/MemoryChecker.1.log").read_text())

    def test_wrong_frees_and_damage_are_defects(self):
        guard = ["--pool", "split", "--set", "guard=on"]
        for command, options, line, errors in ((["misuse", "double_free"], [], "double-free at 0x", "3 errors"),
                                               (["pool_damage", "overrun"], guard, "overrun of 4 bytes at offset 3000", "1 error")):
            done = self.execute(VRAMSCOPE, "memcheck", "--simulate", GPU, "--error-exitcode", "9", *options, "--",
                                PROGRAMS / command[0], *command[1:])
            self.assertEqual(done.returncode, 9, done.stdout + done.stderr)
            self.assertIn(f"========= Error: {line}", done.stdout)
            self.assertIn(f"ERROR SUMMARY: {errors}\n", done.stdout)
        found, output = self.defects(["misuse", "double_free"])
        self.assertEqual(found, 1, output)

    def test_a_program_that_cannot_start_is_a_defect(self):
        program = self.folder / "no_program"
        program.write_text("\x7fELF that is none")
        program.chmod(0o755)
        found, output = self.defects([program])
        self.assertEqual(found, 1, output)

    def test_the_summary_has_the_sum_and_paragraphs_have_stacks(self):
        log, report = self.trace_log("training_demo")
        text = self.export(log, "sanitizer").read_text()
        sizes = [int(size.replace(",", "")) for size in re.findall(r"(?m)^========= Leaked ([0-9,]+) bytes at 0x[0-9a-f]+$", text)]
        totals = report["totals"]
        self.assertEqual((sum(sizes), len(sizes)), (totals["leaked_bytes"], totals["leaked_blocks"]))
        self.assertIn(f"\n========= LEAK SUMMARY: {sum(sizes)} bytes leaked in {len(sizes)} allocations\n"
                      f"========= ERROR SUMMARY: {len(sizes)} errors\n", text)
        self.assertRegex(text, r"\n=========         Host Frame: log_loss\(.*\) \[0x[0-9a-f]+\] in training_demo\n")


if __name__ == "__main__":
    needs("ctest")
    unittest.main()
