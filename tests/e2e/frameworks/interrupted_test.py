# tests/e2e/frameworks/interrupted_test.py — signal handlers that allocate while Python makes and
# unmakes its frames.
#
# A signal comes after every single instruction of the interpreter, in turn with a timer's: what a
# walk over frames would find is in every state that there is. The program must end as it does alone.
import os
import unittest

from framework import PRELOAD, PROGRAMS, SOURCE, EndToEndTest, on_each_python

FOLDER = SOURCE / "tests" / "programs" / "python"
STEPS = 1_000_000 if os.environ.get("VRAMSCOPE_TEST_ALL") else 40_000


class Interrupted(EndToEndTest):
    def interrupted(self, python, *how):
        driver = PROGRAMS / "quiet_driver"
        done = self.execute(python, FOLDER / "interrupted.py", PROGRAMS / "libinterrupted.so", *how, LD_PRELOAD=str(PRELOAD),
                            LD_LIBRARY_PATH=str(driver), VRAMSCOPE_LOG="log.%p.vsl")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        [log] = self.logs()
        return self.report_of(log)

    def assert_all_is_there(self, report, least):
        self.assertGreaterEqual(report["coverage"]["frees"], least)
        self.assertEqual((report["coverage"]["lost_events"], report["coverage"]["damaged_chunks"]), (0, 0))

    @on_each_python
    def test_after_every_instruction(self, python):
        self.assert_all_is_there(self.interrupted(python, "steps", str(STEPS)), STEPS - 1)

    @on_each_python
    def test_ten_thousand_times_a_second_the_program_goes_on(self, python):
        self.assert_all_is_there(self.interrupted(python, "timer", "100", "2000"), 10)


if __name__ == "__main__":
    unittest.main()
