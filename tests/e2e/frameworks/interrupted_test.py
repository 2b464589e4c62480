# tests/e2e/frameworks/interrupted_test.py — signal handlers that allocate while Python makes and
# unmakes its frames.
#
# A signal comes after every single instruction of the interpreter, so that what a walk over frames
# would find is in every state that there is. The program must end as it does alone. With `--all`
# each signal allocates, else one of many does.
import os
import unittest

from framework import PRELOAD, PROGRAMS, SOURCE, EndToEndTest, on_each_python

FOLDER = SOURCE / "tests" / "programs" / "python"
STEPS = 1_000_000 if os.environ.get("VRAMSCOPE_TEST_ALL") else 250_000
EACH = 1 if os.environ.get("VRAMSCOPE_TEST_ALL") else 211


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
        self.assert_all_is_there(self.interrupted(python, "steps", str(STEPS), str(EACH)), STEPS // EACH)

    @on_each_python
    def test_by_a_timer(self, python):
        self.assert_all_is_there(self.interrupted(python, "timer", "1000", "2000"), 2)


if __name__ == "__main__":
    unittest.main()
