# tests/e2e/lifecycle_threads_test.py — threads by the thousand cost the log
# little and lose nothing.
import unittest

from e2e import EndToEndTest, simulated_only

MOST_BYTES_OF_A_THREAD = 100  # it allocates and frees once: its record, a place, two events
CHUNK = 64 * 1024


class LifecycleThreadsTest(EndToEndTest):
    def trace_like_plain(self, scene, number, **env):
        plain = self.plain("lifecycle_threads", scene, number)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        report = self.trace("lifecycle_threads", scene, number, **env)
        self.assertEqual(self.stdout, plain.stdout)
        return report

    def log_bytes(self):
        (log,) = self.logs()
        return log.stat().st_size

    # 100,000 took 56 s (two busy cores) and 4.1 MB.
    def test_threads_that_follow_one_another_share_chunks(self):
        threads = 10_000
        report = self.trace_like_plain("churn", threads)
        self.assert_seen(report, threads, threads)
        self.assertEqual((report["verdict"], report["leaks"]), ("clean", []))
        self.assertLess(self.log_bytes(), threads * MOST_BYTES_OF_A_THREAD + 4 * CHUNK)

    @simulated_only
    def test_4096_threads_at_once(self):
        report = self.trace_like_plain("at_once", 4096)
        self.assert_seen(report, 2 * 4096, 4096)
        self.assertEqual([(leak["blocks"], leak["thread_count"]) for leak in report["leaks"]], [(4096, 4096)])
        self.assert_leak(report["leaks"][0], "lifecycle_threads.cpp", "left")

    def test_threads_that_exit_while_others_work(self):
        report = self.trace_like_plain("leave_others_at_work", 200)
        seen = report["coverage"]
        self.assert_seen(report, seen["frees"] + 200, seen["frees"])
        self.assertGreaterEqual(seen["frees"], 3200)
        self.assertEqual([(leak["blocks"], leak["thread_count"]) for leak in report["leaks"]], [(200, 200)])

    # A pool that keeps nothing gives something back at each free, when others may have the block.
    def test_a_free_is_recorded_before_what_the_pool_gives_back(self):
        for _ in range(4):
            report = self.trace_like_plain("leave_others_at_work", 200, VRAMSCOPE_MAX_CACHED="0")
            seen = report["coverage"]
            self.assert_seen(report, seen["frees"] + 200, seen["frees"])

    def test_children_that_were_forked_while_a_thread_held_the_loaders_lock(self):
        report = self.trace_like_plain("fork_in_loader", 3, VRAMSCOPE_LOG="%p.vsl")
        self.assert_seen(report, 6, 3)
        self.assertEqual(len(report["processes"]), 3)

    # `run --audit` has less of it: for LD_AUDIT it sets room for thread-local storage aside, in
    # each stack.
    @simulated_only  # NVIDIA's driver needs more than that for itself
    def test_the_smallest_stack_has_room_for_a_hook_and_for_the_opening_of_the_log(self):
        for unwinder in ("libunwind", "glibc", "none"):
            with self.subTest(unwinder):
                done = self.preloaded("lifecycle_threads", "small_stacks", 20, VRAMSCOPE_UNWINDER=unwinder,
                                      VRAMSCOPE_LOG=f"{unwinder}.vsl")
                self.assertEqual((done.returncode, done.stdout), (0, "small_stacks 20 done\n"), done.stderr)
                self.assert_seen(self.report_of(f"{unwinder}.vsl"), 40, 20)
                for options in ([], ["--audit"]):
                    report = self.trace_like_plain("small_stacks", 20, VRAMSCOPE_UNWINDER=unwinder, options=options)
                    self.assert_seen(report, 40, 20)

    def test_a_stack_of_100000_frames_is_cut_and_says_so(self):
        report = self.trace_like_plain("deep", 100_000)
        self.assert_seen(report, 3, 0)
        self.assertEqual([(leak["blocks"], leak["stack_truncated"]) for leak in report["leaks"]], [(3, True)])


if __name__ == "__main__":
    unittest.main()
