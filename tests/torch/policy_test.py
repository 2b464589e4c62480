# tests/torch/policy_test.py — real PyTorch's allocator and our replay of its rules do the same,
# with each of its knobs.
#
# What is allocated and reserved is compared after each request of a random program, and so are each
# block's address and each call of the driver's; on a device that is large enough, and on one that
# is not.
import json
import unittest

from torch_root import REAL, TorchTest, main
from program_test import BUILD

import torch_snapshot

PLAYER = BUILD / "bin" / "tests" / "policy_player"
STEPS = 800


@unittest.skipIf(REAL, "a real driver's other users of memory are not known")
class Knobs(TorchTest):
    def assert_same(self, knobs, device, seed, fraction=None):
        fractions = [] if fraction is None else [str(fraction)]
        done = self.run_program("requests.py", str(seed), str(STEPS), str(96 << 20), *fractions,
                                VRAMSCOPE_SIMULATE=device, PYTORCH_CUDA_ALLOC_CONF=knobs)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        recording = json.loads((self.folder / "recording.json").read_text())
        play = torch_snapshot.Play(recording["segments"], recording["events"], recording["emptied"],
                                   recording["pooled"])
        asked = ",".join(filter(None, [knobs, *(f"per_process_memory_fraction:{part}" for part in fractions)]))
        answers = play.compare(PLAYER, f"torch:{asked}", recording["free"], recording["total"])
        own = [[answer["allocated"], answer["reserved"]]
               for answer, wanted in zip(answers, play.expected) if wanted["is_programs"]]
        self.assertEqual(own, [said[:2] for said in recording["said"]])
        return recording

    def assert_same_on_both(self, knobs, seed, fraction=None):
        for device in ("8GiB", "384MiB"):
            with self.subTest(device=device):
                recording = self.assert_same(knobs, device, seed, fraction)
        self.assertGreater(recording["said"][-1][2], 0, "the small device was large enough: nothing was flushed")

    def test_defaults(self):
        self.assert_same_on_both("", 1)

    def test_max_split_size(self):
        self.assert_same_on_both("max_split_size_mb:32", 2)

    def test_rounding_up(self):
        self.assert_same_on_both("roundup_power2_divisions:4", 3)

    def test_rounding_up_by_a_list(self):
        self.assert_same_on_both("roundup_power2_divisions:[1:2,4:8,>:1]", 4)

    def test_collecting_garbage(self):
        self.assert_same_on_both("garbage_collection_threshold:0.6", 5, fraction=0.9)

    def test_a_threshold_without_a_fraction(self):
        self.assert_same_on_both("garbage_collection_threshold:0.6", 6)

    def test_expandable_segments(self):
        self.assert_same_on_both("expandable_segments:True", 7)

    def test_all_at_once(self):
        self.assert_same_on_both("max_split_size_mb:64,roundup_power2_divisions:8,garbage_collection_threshold:0.7", 8,
                                 fraction=1)


if __name__ == "__main__":
    main()
