# tests/torch/doctor_test.py — what doctor says of a log of real PyTorch: which Python, and how
# often the allocator was heard.
import re

from torch_root import VRAMSCOPE, TorchTest, main


class Doctor(TorchTest):
    def lines_of(self, **environment):
        self.traced = self.run_traced("clean.py", **environment)
        return self.execute(VRAMSCOPE, "doctor", self.folder / "run.vsl").stdout.splitlines()

    def test_python_and_the_allocator_are_bound(self):
        lines = self.lines_of()
        [python] = [line for line in lines if "Python 3" in line]
        self.assertRegex(python, r"^ok +Python 3\.\d+\.\d+: its functions are in call stacks$")
        apis = {event["id"]: event["entry_point"] for event in self.traced.events if event["type"] == "api"}
        told = [event["type"] for event in self.traced.events if apis.get(event.get("api")) == "PyTorch"]
        counts = told.count("alloc"), told.count("free")
        self.assertGreater(min(counts), 0)
        self.assertIn("ok    PyTorch: its allocator is heard, of blocks handed out %d times, taken back %d times" % counts, lines)

        [nodes] = [line for line in lines if "backward pass" in line]
        made, known = map(int, re.findall(r"\b\d+\b", nodes))
        self.assertTrue(made >= known > 0, nodes)

    def test_a_cache_that_is_off_is_named_and_not_missed(self):
        lines = self.lines_of(PYTORCH_NO_CUDA_MEMORY_CACHING="1")
        self.assertIn("note  allocator of PyTorch bypassed by PYTORCH_NO_CUDA_MEMORY_CACHING=1: each of its buffers is an allocation",
                      lines)
        self.assertFalse([line for line in lines if "told of no block" in line])


if __name__ == "__main__":
    main()
