# tests/oracle/smallest_card_test.py — the simulated GPU's word on the smallest card that `vramscope plan` names.
#
# A program of the corpus is recorded on a large device without our pool. On a device of the size that the plan names for
# a policy it runs with that pool, and with 2 MiB less it does not.
import json
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
from program_test import BUILD, VRAMSCOPE, ProgramTest  # noqa: E402

CORPUS = BUILD / "bin" / "corpus"
# Those that need 16 MiB and more, the least that a simulated device has.
PROGRAMS = ["advice_allocated_early", "advice_kept_for_later_phase", "advice_never_freed", "advice_released_late",
            "frag_cached_whole", "frag_checkerboard", "frag_device_used", "frag_gaps", "frag_moments", "leak_vmm_grows",
            "peak_by_stack", "trap_arena"]
STEP = 2 << 20
OUT_OF_MEMORY = 97  # what corpus.hpp ends with


class SmallestCard(ProgramTest):
    def run_on(self, program, pool, size):
        return self.execute(VRAMSCOPE, "run", "--pool", pool, "--simulate", size, "--force", "-o", "run.vsl", "--",
                            CORPUS / program)

    def smallest(self, policy):
        done = self.execute(VRAMSCOPE, "plan", "run.vsl", "--policy", policy, "--force", "--json", "plan.json")
        self.assertIn(done.returncode, (0, 111), done.stderr)
        [process] = json.loads((self.folder / "plan.json").read_text())["processes"]
        [device] = process["devices"]
        return device["policies"][0]["smallest_card_bytes"]

    def test_what_is_named_is_enough_and_2_mib_less_are_not(self):
        for program in PROGRAMS:
            self.assertEqual(self.run_on(program, "off", "1GiB").returncode, 0)
            sizes = {policy: self.smallest(policy) for policy in ("cache", "split")}
            for policy, size in sizes.items():
                with self.subTest(program=program, policy=policy, size=size):
                    enough = self.run_on(program, policy, str(size))
                    self.assertEqual(enough.returncode, 0, enough.stderr)
                    self.assertEqual(self.run_on(program, policy, str(size - STEP)).returncode, OUT_OF_MEMORY)


if __name__ == "__main__":
    unittest.main()
