# tests/e2e/look_ups_test.py — cuGetProcAddress: each name, version and flag gives our wrapper of
# the very function that the driver would give, and everything else untouched.
import re
import unittest

from e2e import DRIVER, PRELOAD, PROGRAMS, VRAMSCOPE, EndToEndTest, driver_names, hooked_names, needs, simulated_only

VERSIONS = [0, 1999, 2000, 2020, 3020, 4000, 4010, 5000, 6000, 6050, 7000, 8000, 9000, 10000, 10020, 11000, 11020, 11030,
            11040, 12000, 12020, 12030, 12040, 12050, 13000, 99000]
FLAGS = [0, 1, 2, 3, 64]  # the last two are wrong


def names_to_ask(driver):
    """Every name that the driver exports, as it is and as cuGetProcAddress knows it."""
    plain = [re.sub(r"(_v\d+)?(_pt[sd][sz])?$", "", name) for name in driver_names(driver)]
    return sorted({*driver_names(driver), *plain, "-", "cuNoSuchThing", "notCuda"})


@needs("cuGetProcAddress_v2")
class LookUpsTest(EndToEndTest):
    def ask_everything(self):
        return self.look_ups(f"{name} {version} {flags}" for name in names_to_ask(self.driver) for version in VERSIONS for flags in FLAGS)

    def test_each_answer_is_the_drivers_or_our_wrapper_of_it(self):
        plain, traced = self.ask_everything()
        self.assertGreater(len(plain), 100000)
        self.assert_wrapped(plain, traced)
        entry_points = hooked_names() & driver_names(self.driver)
        answered = {answer.partition(":")[2] for _, answer in plain if answer.startswith(DRIVER.name)}
        handed_out = {answer.partition(":")[2] for _, answer in traced if answer.startswith(PRELOAD.name)}
        self.assertEqual(handed_out, entry_points & answered)
        not_asked_for = entry_points - answered
        self.assertLessEqual(len(not_asked_for), 3, "hooks that no look-up ever asks for")

    def test_old_versions_get_the_old_forms(self):
        for asked, name in {"cuMemAlloc 2000 0": "cuMemAlloc", "cuMemAlloc 3020 0": "cuMemAlloc_v2",
                            "cuMemAlloc 12000 2": "cuMemAlloc_v2", "cuMemFree 2020 0": "cuMemFree",
                            "cuMemAllocAsync 11020 1": "cuMemAllocAsync", "cuMemAllocAsync 12000 2": "cuMemAllocAsync_ptsz",
                            "cuGetProcAddress 11030 0": "cuGetProcAddress", "cuGetProcAddress 12000 0": "cuGetProcAddress_v2",
                            "cuDevicePrimaryCtxReset 7000 0": "cuDevicePrimaryCtxReset",
                            "cuDevicePrimaryCtxReset 11000 0": "cuDevicePrimaryCtxReset_v2"}.items():
            with self.subTest(asked):
                _, traced = self.look_ups([asked])
                self.assertEqual({answer for _, answer in traced[:3]}, {f"{PRELOAD.name}:{name}"})


# A newer driver than we know: its newer names are handed out as they are, and the log says so.
class NewerDriverTest(EndToEndTest):
    NAMES = ["cuMemAllocQuantum", "cuMemAllocQuantum@14000", "cuMemAlloc@14000", "cuMemAlloc_v3", "cuMemFree@14000"]

    def run_on_odd_driver(self, when):
        """The reports of a traced run, which must be like the same run alone."""
        driver = {"LD_LIBRARY_PATH": str(PROGRAMS / "odd_driver")}
        alone = self.execute(PROGRAMS / "newer_names", when, **driver)
        traced = self.execute(PROGRAMS / "newer_names", when, **driver, LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG=f"{when}.%p.vsl")
        self.assertEqual(alone.returncode, 0, alone.stderr)
        self.assertEqual((traced.returncode, traced.stdout, traced.stderr), (0, alone.stdout, alone.stderr))
        self.stdout = alone.stdout
        return [self.report_of(log) for log in self.logs()]

    def test_newer_functions_are_handed_out_untouched_and_told(self):
        for when in ("before", "after", "in_thread"):
            with self.subTest(when):
                reports = self.run_on_odd_driver(when)
                self.assertIn("cuMemAlloc@14000 libcuda.so.1:cuMemAlloc_v3, result 0", self.stdout)
                self.assertEqual(len(reports), 1)
                self.assertEqual(reports[0]["coverage"]["unknown_entry_points"], sorted(self.NAMES))
                self.assert_seen(reports[0], allocations=1, frees=1)
                self.logs()[0].unlink()

    def test_the_child_of_a_fork_tells_what_its_parent_looked_up(self):
        reports = self.run_on_odd_driver("forked")
        self.assertEqual([report["coverage"]["unknown_entry_points"] for report in reports], [sorted(self.NAMES)])

    def test_each_name_is_told_once_when_threads_ask_while_the_log_is_opened(self):
        for _ in range(20):
            reports = self.run_on_odd_driver("storm")
            self.assertEqual(reports[0]["coverage"]["unknown_entry_points"],
                             sorted(f"cuMemAllocMany{i}@14000" for i in range(50)))
            self.assertEqual(self.logs()[0].read_bytes().count(b"\x13unknown_entry_point"), 50)
            self.logs()[0].unlink()

    def test_of_too_many_names_the_first_are_kept(self):
        reports = self.run_on_odd_driver("many")
        self.assertEqual(reports[0]["coverage"]["unknown_entry_points"], sorted(f"cuMemAllocMany{i}@14000" for i in range(64)))
        self.assertIn("the program looked up more than 64 newer memory functions", "".join(reports[0]["notices"]))

    def test_report_leaks_and_doctor_tell_it(self):
        self.run_on_odd_driver("before")
        log = self.logs()[0]
        for command in (["report", log], ["leaks", log], ["doctor", log]):
            with self.subTest(command[0]):
                told = " ".join(self.execute(VRAMSCOPE, *command).stdout.split())
                self.assertIn("looked up 4 newer memory functions that this version does not know (cuMemAlloc@14000, "
                              "cuMemAllocQuantum, cuMemAlloc_v3, cuMemFree@14000): memory that comes from them is not counted", told)

    @simulated_only
    def test_nothing_is_told_on_a_driver_that_we_know(self):
        self.look_ups(f"{name} {version} 0" for name in names_to_ask(self.driver) for version in VERSIONS)
        self.assertEqual(self.report_of(*self.logs())["coverage"]["unknown_entry_points"], [])


if __name__ == "__main__":
    unittest.main()
