# tests/e2e/plan_test.py — what a program that nvcc built needs, by a plan of its log, and what it
# then runs on.
import json
import unittest

from e2e import PROGRAMS, VRAMSCOPE, EndToEndTest, simulated_only

MIB = 1 << 20
DEMO = PROGRAMS / "training_demo"


@simulated_only
class PlanTest(EndToEndTest):
    def run_on(self, size, pool, program):
        return self.execute(VRAMSCOPE, "run", "--simulate", str(size), "--pool", pool, "--force", "-o", "run.vsl", "--json",
                            "run.json", program)

    def plan(self, *arguments):
        done = self.execute(VRAMSCOPE, "plan", "run.vsl", "--force", "--json", "plan.json", *arguments)
        self.assertIn(done.returncode, (0, 100, 111), done.stderr)
        [process] = json.loads((self.folder / "plan.json").read_text())["processes"]
        [device] = process["devices"]
        return device, process["doubts"]

    def smallest(self, pool):
        """What the demo needs by its plan, which is of the pool that it ran with."""
        self.assertEqual(self.run_on("24GiB", pool, DEMO).returncode, 0)
        device, doubts = self.plan()
        [memory] = json.loads((self.folder / "run.json").read_text())["processes"][0]["device_memory"]
        judged = device["policies"][0]
        self.assertEqual((judged["recorded"], judged["name"]), (True, "no-allocator" if pool == "off" else pool))
        self.assertEqual(device["live_peak_bytes"], memory["requested_bytes"]["peak"])
        return judged["smallest_card_bytes"], doubts

    def test_the_demo_runs_on_what_its_plan_says_and_not_on_less(self):
        for pool in ("off", "cache"):
            with self.subTest(pool):
                smallest, _ = self.smallest(pool)
                self.assertEqual(self.run_on(smallest, pool, DEMO).returncode, 0)
                self.assertNotEqual(self.run_on(smallest - 2 * MIB, pool, DEMO).returncode, 0)

    def test_what_the_pool_would_not_have_served_is_said_to_be_unsure(self):
        smallest, doubts = self.smallest("split")  # the demo asks for its gradients by stream
        self.assertIn("100 blocks were asked for by stream", " ".join(doubts))
        self.assertNotEqual(self.run_on(smallest - 2 * MIB, "split", DEMO).returncode, 0)

    def test_the_demo_names_its_lines(self):
        self.run_on("24GiB", "cache", DEMO)
        device, _ = self.plan("--card", "64MiB")
        self.assertEqual(self.function_of(device["holders"][0]), "Model::Model()")
        shortage = device["policies"][0]["cards"][0]["first_shortage"]
        self.assertIn(self.function_of(shortage), ("Model::Model()", "WorkspaceCache::get(unsigned long)", "load_labels()"))

    def function_of(self, row):
        """The innermost of the demo's own."""
        return next(frame["function"] for frame in row["stack"] if (frame["file"] or "").endswith("training_demo.cu"))


if __name__ == "__main__":
    unittest.main()
