# tests/e2e/pool/pool_frees_test.py — right and wrong frees with a pool: the driver's answers, and
# no block lost or given twice.
import unittest

from pool import PRELOAD, PROGRAMS, SIMGPU, VRAMSCOPE, PoolTest, line_of

PROGRAM = "pool_frees"


class PoolFreesTest(PoolTest):
    def test_wrong_frees_get_the_drivers_answers_and_the_same_report(self):
        for scene in ("double_free", "interior", "foreign", "no_context", "other_context", "async"):
            with self.subTest(scene):
                self.assert_same_reports(self.same(PROGRAM, scene))

    def test_a_double_free_is_blamed_with_the_first_free(self):
        for mode in ("cache", "split"):
            _, report = self.in_mode(PROGRAM, "double_free", mode)
            at = [each for each in report["misuse"] if each["call"]["stack"][0]["line"] == line_of("pool_frees.cpp", "double_free")]
            self.assertEqual([each["kind"] for each in at], ["double-free"])
            self.assertEqual(at[0]["allocation"]["stack"][0]["line"], line_of("pool_frees.cpp", "allocate"))

    def test_a_free_in_stream_order_goes_to_the_driver_where_it_can(self):
        self.in_mode(PROGRAM, "async", "cache")
        self.assertEqual(self.called("cuMemFreeAsync"), 2)

    def test_what_is_kept_at_the_end_is_left_to_the_driver(self):
        for mode in ("cache", "split"):
            with self.subTest(mode):
                reports = self.same(PROGRAM, "at_exit", modes=["off", mode])
                self.assert_clean(reports)
                self.assert_same_reports(reports)
                # The two that the program itself frees after exit has begun.
                self.assertLessEqual(self.called("cuMemFree_v2"), 2)

    def test_a_synchronisation_with_nothing_freed_is_not_in_the_log(self):
        sizes = []
        for scene in ("few_synchronisations", "many_synchronisations"):
            self.in_mode(PROGRAM, scene, "cache", VRAMSCOPE_LOG=f"{scene}.vsl")
            events = self.execute(VRAMSCOPE, "export", "--to", "jsonl", f"{scene}.vsl").stdout
            self.assertEqual(events.count('"type":"reusable"'), 1)
            sizes.append((self.folder / f"{scene}.vsl").stat().st_size)
        self.assertEqual(*sizes)

    def test_a_synchronisation_with_nothing_freed_makes_no_system_call(self):
        def count(scene, **env):
            done = self.execute(PROGRAMS / "count_syscalls", PROGRAMS / PROGRAM, scene, LD_LIBRARY_PATH=str(SIMGPU),
                                VRAMSCOPE_SIMULATE="256MiB", **env)
            if not done.stderr.strip().isdigit():
                self.skipTest("this machine lets nobody trace a process")
            return int(done.stderr)

        def of_20000(**env):
            return count("many_synchronisations", **env) - count("few_synchronisations", **env)
        self.assertLess(of_20000(LD_PRELOAD=str(PRELOAD)) - of_20000(), 100)


if __name__ == "__main__":
    unittest.main()
