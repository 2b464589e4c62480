# tests/oracle/torch_replay_test.py — recordings of real PyTorch on real GPUs replay without a difference.
#
# VRAMSCOPE_TORCH_SNAPSHOTS is a folder of *.pickle that torch.cuda.memory._dump_snapshot wrote under PyTorch's default
# rules; without it nothing is tested. They are trusted: pickle.load reads them.
import os
import pathlib
import pickle
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support"))
import torch_snapshot  # noqa: E402
from program_test import BUILD  # noqa: E402

FOLDER = os.environ.get("VRAMSCOPE_TORCH_SNAPSHOTS")
PLAYER = BUILD / "bin" / "tests" / "policy_player"


@unittest.skipUnless(FOLDER, "VRAMSCOPE_TORCH_SNAPSHOTS names no folder of snapshots")
class Snapshots(unittest.TestCase):
    def test_each_event_is_as_it_was_recorded(self):
        files = sorted(pathlib.Path(FOLDER).glob("*.pickle"))
        self.assertTrue(files, f"no *.pickle in {FOLDER}")
        for file in files:
            snapshot = pickle.loads(file.read_bytes())
            for device, events in enumerate(snapshot["device_traces"]):
                segments = [one for one in snapshot["segments"] if one["device"] == device]
                with self.subTest(file=file.name, device=device):
                    answers = torch_snapshot.Play(segments, events).compare(PLAYER, "torch")
                    print(f"{file.name} device {device}: {len(answers)} requests")
        with self.assertRaises(torch_snapshot.Difference, msg="other rules make no difference"):
            torch_snapshot.Play(segments, events).compare(PLAYER, "torch:roundup_power2_divisions:2")


if __name__ == "__main__":
    unittest.main()
