# tests/e2e/lifecycle_signals_test.py — handlers that interrupt a hooked call, use CUDA,
# or never come back.
import re
import unittest

from e2e import PRELOAD, PROGRAMS, EndToEndTest, simulated_only

RAISES = PROGRAMS / "liblifecycle_raises.so"  # interrupts an allocation inside the driver
RAISING, IN_HANDLER = 7777, 2000


class LifecycleSignalsTest(EndToEndTest):
    def both(self, scene, raises=True):
        """The scene with and without the tracer: the same to the program. Its report."""
        env = {"VRAMSCOPE_LOG": f"{scene}.vsl"}
        plain = self.plain("lifecycle_signals", scene, **({"LD_PRELOAD": str(RAISES)} if raises else {}))
        self.assertEqual(plain.returncode, 0, plain.stderr)
        traced = self.preloaded("lifecycle_signals", scene, **env,
                                **({"LD_PRELOAD": f"{PRELOAD}:{RAISES}"} if raises else {}))
        self.assertEqual((traced.returncode, traced.stdout), (0, plain.stdout), traced.stderr)
        self.stderr = traced.stderr
        return self.report_of(f"{scene}.vsl")

    def sizes(self, report):
        return sorted(leak["bytes"] for leak in report["leaks"])

    def test_a_handler_that_interrupts_the_driver_is_recorded_as_the_program_it_is(self):
        for scene in ("in_driver", "on_alternate_stack"):
            with self.subTest(scene):
                report = self.both(scene)
                self.assert_seen(report, allocations=4, frees=2)
                self.assertEqual(self.sizes(report), [IN_HANDLER, 3000])
                functions = [frame["function"] for frame in self.leak_at(report, "lifecycle_signals.cpp", "in_handler")["stack"]]
                self.assertIn("main", functions)
                self.assertIn("inside_the_driver", " ".join(map(str, functions)))

    def test_a_jump_out_of_the_driver_leaves_the_thread_outside(self):
        for scene, left in (("leave_driver", 3), ("leave_first_call", 1)):
            with self.subTest(scene):
                report = self.both(scene)
                self.assertEqual(self.sizes(report), [3000, 4000])
                lost = report["coverage"]["lost_events"]
                self.assertEqual(lost, left if scene == "leave_driver" else lost)
                self.assertEqual(report["verdict"], "inconclusive" if lost else "leaks")

    # Each call of a handler is in the log or is counted as lost.
    @simulated_only
    def test_a_storm_of_handlers_that_call(self):
        report = self.both("storm_of_calls", raises=False)
        calls = int(re.search(r"(\d+) calls in handlers", self.stderr)[1])
        seen = report["coverage"]
        self.assertEqual(seen["allocations"] + seen["frees"] + seen["lost_events"], 2 * 30000 + 3 + calls)
        self.assertEqual((seen["undefined_events"], seen["damaged_chunks"], seen["truncated"]), (0, 0, False))
        self.assertEqual(self.sizes(report), [3000])
        self.assertEqual(report["verdict"], "inconclusive" if seen["lost_events"] else "leaks")

    @simulated_only
    def test_a_storm_of_jumps(self):
        report = self.both("storm_of_jumps", raises=False)
        jumps = int(re.search(r"(\d+) calls in handlers", self.stderr)[1])
        seen = report["coverage"]
        self.assertEqual((seen["undefined_events"], seen["damaged_chunks"], seen["truncated"]), (0, 0, False))
        self.assertGreater(seen["allocations"], 20000)
        self.assertIn(3000, self.sizes(report))
        if jumps:
            self.assertGreater(seen["lost_events"], 0)
            self.assertEqual(report["verdict"], "inconclusive")


if __name__ == "__main__":
    unittest.main()
