# tests/e2e/pool/pool_contexts_test.py — a pool ends with its context, and with fork; devices that
# reach each other's memory wait.
import unittest

from pool import PoolTest, line_of

PROGRAM = "pool_contexts"


class PoolContextsTest(PoolTest):
    def test_a_context_takes_what_was_kept_with_it(self):
        for scene in ("destroyed", "reset", "many"):
            with self.subTest(scene):
                self.assert_same_reports(self.same(PROGRAM, scene))

    def test_only_what_was_live_is_lost_with_the_context(self):
        _, report = self.in_mode(PROGRAM, "destroyed", "cache")
        leak, = report["leaks"]
        self.assertEqual((leak["kind"], leak["blocks"]), ("leaked-at-reset", 3))
        self.assertIn(line_of("pool_contexts.cpp", "lost"), [frame["line"] for frame in leak["stack"]])

    def test_a_peers_work_is_done_before_memory_is_used_again(self):
        reports = self.same(PROGRAM, "peers", gpu="2x256MiB")
        self.assertIn("intact 1", self.alone)
        self.assert_same_reports(reports)

    def test_a_child_has_no_pool_of_its_parents(self):
        for scene in ("fork_without_cuda", "fork_with_cuda", "fork_busy", "fork_first"):
            with self.subTest(scene):
                self.same(PROGRAM, scene)


if __name__ == "__main__":
    unittest.main()
