# tests/e2e/pool_frees_test.py — right and wrong frees with a pool: the driver's answers, and no block lost or given twice.
import unittest

from e2e import line_of
from pool import PoolTest

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


if __name__ == "__main__":
    unittest.main()
