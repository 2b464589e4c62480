# tests/e2e/behaviour_test.py — reuse, threads, failed calls and bad frees: seen rightly, and the
# same as untraced.
import subprocess
import unittest

from e2e import GPU, PROGRAMS, VRAMSCOPE, EndToEndTest, simulated_only


class BehaviourTest(EndToEndTest):
    def trace_like_plain(self, scene):
        report = self.trace("behaviour", scene)
        self.assertEqual(self.stdout, self.plain("behaviour", scene).stdout)
        return report

    def test_a_block_that_another_thread_freed_is_no_leak(self):
        report = self.trace("behaviour", "free_by_another_thread")
        self.assert_seen(report, allocations=1, frees=1)
        self.assertEqual((report["verdict"], report["leaks"]), ("clean", []))

    def test_the_last_tenant_of_an_address_is_blamed(self):
        report = self.trace("behaviour", "reuse", VRAMSCOPE_WAIT_FROM="0")
        self.assertEqual(self.stdout, "reused\n")
        self.assert_seen(report, allocations=2, frees=1)
        self.assertEqual(len(report["leaks"]), 1)
        self.assert_leak(report["leaks"][0], "behaviour.cpp", "second_tenant", bytes=4096, blocks=1)

    def test_a_failed_allocation_is_no_event_but_running_out_of_memory_is_told(self):
        report = self.trace_like_plain("out_of_memory")
        self.assertEqual(self.stdout, "alloc 2\nthe pointer is null\n")
        self.assert_seen(report, allocations=0, frees=0)
        self.assertEqual(report["coverage"]["failed_calls"], 1)
        refused = [(call["entry_point"], call["result_name"], call["bytes"]) for call in report["failed_calls"]]
        self.assertIn(("cuMemAlloc_v2", "CUDA_ERROR_OUT_OF_MEMORY", 1 << 44), refused)

    def test_wrong_arguments_and_double_frees_get_the_drivers_own_answers(self):
        report = self.trace_like_plain("bad_arguments")
        self.assertIn("free of null 0\n", self.stdout)
        self.assertIn("free again 1\n", self.stdout)
        self.assert_seen(report, allocations=1, frees=1)
        self.assertEqual(report["leaks"], [])

    def test_calls_without_init_or_context_get_the_drivers_own_answers(self):
        plain = self.plain("behaviour", "without_init")
        traced, _ = self.run_traced("behaviour", "without_init")
        self.assertEqual((traced.returncode, traced.stdout), (plain.returncode, plain.stdout))
        self.assertIn("the pointer is null", plain.stdout)
        report = self.trace_like_plain("without_context")
        self.assertIn("the pointer is null", self.stdout)
        self.assertEqual([(call["entry_point"], call["result_name"]) for call in report["failed_calls"]],
                         [("cuMemAlloc_v2", "CUDA_ERROR_INVALID_CONTEXT")])

    def test_64_threads_that_come_and_go_lose_nothing(self):
        report = self.trace("behaviour", "many_threads")
        self.assert_seen(report, allocations=64 * 101, frees=64 * 100)
        self.assertEqual(len(report["leaks"]), 1)
        self.assert_leak(report["leaks"][0], "behaviour.cpp", "left_by_thread", bytes=64 * 512, blocks=64, thread_count=64)

    def test_callers_that_take_turns_are_told_apart(self):
        report = self.trace("behaviour", "callers_by_turns")
        self.assert_seen(report, allocations=6000, frees=0)
        stacks = {(leak["bytes"], leak["blocks"], len([each for each in leak["stack"] if "another" in each["function"]]))
                  for leak in report["leaks"]}
        self.assertEqual(stacks, {(3000 * 512, 3000, 0), (1500 * 1024, 1500, 1), (1500 * 1024, 1500, 2)})

    def test_a_stripped_program_gets_offsets_and_no_guess(self):
        stripped = self.folder / "stripped"
        subprocess.run(["strip", "-o", stripped, PROGRAMS / "behaviour"], check=True)
        report = self.trace(stripped, "reuse")
        top = report["leaks"][0]["stack"][0]
        self.assertEqual((top["function"], top["file"], top["line"], top["module"]), (None, None, None, str(stripped)))
        self.assertGreater(int(top["offset"], 16), 0)

    def test_threads_that_all_begin_at_once_share_one_log(self):
        report = self.trace("behaviour", "all_at_once")
        self.assertEqual(len(self.logs()), 1)
        self.assert_seen(report, allocations=32, frees=16)
        self.assertEqual((report["totals"]["leaked_bytes"], report["leaks"][0]["thread_count"]), (16 * 1024, 16))

    def test_memory_that_is_freed_at_the_very_end_is_no_leak(self):
        for scene, blocks in (("freed_by_destructor", 1), ("freed_by_thread_end", 2)):
            with self.subTest(scene):
                report = self.trace("behaviour", scene)
                self.assert_seen(report, allocations=blocks, frees=blocks)
                self.assertEqual((report["verdict"], report["leaks"]), ("clean", []))

    @simulated_only
    def test_the_device_of_a_leak_is_named(self):
        report = self.trace("behaviour", "second_device", gpu="2x256MiB")
        self.assertEqual([leak["device"] for leak in report["leaks"]], [1])
        self.assertIn(1, [device["ordinal"] for device in report["processes"][0]["devices"]])

    @simulated_only
    def test_memory_is_on_the_device_that_its_call_names(self):
        report = self.trace("behaviour", "on_another_device", gpu="2x256MiB")
        self.assertEqual({leak["device"] for leak in report["leaks"]}, {1})
        self.assertEqual({row["device"] for row in report["objects"]}, {1})
        devices = {device["device"]: device for device in report["processes"][0]["device_memory"]}
        self.assertEqual(devices[1]["at_peak"]["waterfall"]["allocated"], 5 << 20)
        allocations = {context["device"]: context["allocations"] for context in report["contexts"]}
        self.assertEqual(allocations, {0: 0, 1: 0})
        self.assertEqual([context["stray"] for context in report["contexts"] if context["device"] == 1], [False])

    def test_errno_is_left_alone(self):
        self.trace_like_plain("keeps_errno")
        for call in ("alloc", "free", "refused free"):  # cuInit changes it where there is a GPU
            self.assertIn(f"errno after {call} 1\n", self.stdout)

    @simulated_only
    def test_an_initialisation_that_fails_later_is_told_and_disturbs_nothing(self):
        report = self.trace_like_plain("init_again")
        self.assertEqual(self.stdout, "wrong flags 1\nerrno after it 1\n")
        self.assert_seen(report, allocations=1, frees=0)
        announced = '"$0" init_again; cat "${VRAMSCOPE_RUN#*:}"'
        told = self.execute(VRAMSCOPE, "run", "--simulate", GPU, "--", "sh", "-c", announced, PROGRAMS / "behaviour")
        self.assertRegex(told.stdout, r"(?m)^note\t\d+\tcuInit failed with error 1$")


if __name__ == "__main__":
    unittest.main()
