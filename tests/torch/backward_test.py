# tests/torch/backward_test.py — allocations of PyTorch's backward pass have the lines that anomaly
# mode has for their nodes.
import json

from torch_root import TorchTest, main

UNCACHED = {"PYTORCH_NO_CUDA_MEMORY_CACHING": "1"}
WORD = "backward of "
LEAF = "gradient of a leaf tensor"


class Backward(TorchTest):
    def assert_lines(self, memory, **environment):
        traced = self.run_both("backward.py", self.folder / "expected", **environment)
        expected = json.loads((self.folder / "expected").read_text())
        self.assertEqual(len(expected), 16)
        stacks = {line["id"]: [[frame["file"], frame["line"]] for frame in line["frames"]
                               if (frame["function"] or "").startswith(WORD)]
                  for line in traced.events if line["type"] == "stack"}
        seen = {}
        for event in traced.events:
            if event["type"] == "alloc" and event["memory"] == memory and stacks[event["stack"]]:
                seen.setdefault(str(event["bytes"]), []).append(stacks[event["stack"]])
        self.assertEqual(seen.keys() & expected.keys(), expected.keys())
        for size, stack in expected.items():
            for found in seen[size]:
                self.assertEqual(found, stack, f"{size} bytes")
        self.assertFalse([notice for notice in traced.report["notices"] if "backward" in notice])

    def assert_recomputed(self, memory, **environment):
        traced = self.run_both("recomputed.py", self.folder / "expected", **environment)
        expected = json.loads((self.folder / "expected").read_text())
        stacks = {line["id"]: [frame for frame in line["frames"] if frame.get("python")]
                  for line in traced.events if line["type"] == "stack"}
        seen = {}
        for event in traced.events:
            if event["type"] == "alloc" and event["memory"] == memory:
                seen.setdefault(str(event["bytes"]), []).append(stacks[event["stack"]])
        for size, origins in expected["origins"].items():
            found = [[[frame["file"], frame["line"]] for frame in stack if frame["function"].startswith(WORD)]
                     for stack in seen[size]]
            self.assertEqual({str(stack) for stack in found if stack}, set(map(str, origins)), size)
        for size, stacks in expected["ran"].items():
            found = [[[frame["file"], frame["line"]] for frame in stack if not frame["function"].startswith(WORD)]
                     for stack in seen[size]]
            self.assertLessEqual(set(map(str, stacks)), set(map(str, found)), size)
        [leaf] = [stack for stack in seen[str(4 * 81920)] if not stack[0]["file"]]
        self.assertEqual([frame["function"] for frame in leaf], [LEAF])

    def test_of_blocks_the_lines_are_those_of_checkpoints_and_of_functions_in_python(self):
        self.assert_recomputed("suballocated")

    def test_of_tensors_without_a_cache_the_lines_are_those_of_checkpoints_too(self):
        self.assert_recomputed("device", **UNCACHED)

    def test_of_blocks_the_lines_are_those_of_anomaly_mode(self):
        self.assert_lines("suballocated")

    def test_of_tensors_without_a_cache_too(self):
        self.assert_lines("device", **UNCACHED)


if __name__ == "__main__":
    main()
