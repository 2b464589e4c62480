#!/usr/bin/env python3
# tests/torch/reach_test.py — who holds PyTorch's tensors: the variable of the program's that each chain begins with.
import json
import re
import subprocess

from torch_root import PRELOAD, PROGRAMS, REAL, ROOT, VRAMSCOPE, TorchTest, main, started

# How the chain of each tensor begins, by the program's own names (programs/held.py). A parameter has its gradient and its
# momentum beside it, which have its size.
CHAINS = {
    "list": "variable `losses` of module `__main__` → list of 2 → Tensor",
    "dict": "variable `cache` of module `__main__` → dict of 1 → Tensor",
    "base_of_a_view": "variable `base_of_view` of module `__main__` → Tensor",
    "bound_method": "variable `hooks` of module `__main__` → list of 1 → method → Hooked.seen → Tensor",
    "exception": "variable `caught` of module `__main__` → list of 1 → RuntimeError → traceback, 2 times → frame of `fails` → Tensor",
    "parameter": "variable `optimizer` of module `__main__` → SGD.state → collections.defaultdict of 1 → (Parameter|dict of 1 → Tensor)",
    "buffer": "variable `model` of module `__main__` → Sequential._modules → dict of 1 → Module._buffers → dict of 1 → Tensor",
    "hook_of_a_module": "variable `model` of module `__main__` → Sequential._modules → dict of 1 → Module._forward_hooks → "
                        "collections.OrderedDict of 1 → function `forward_hook.<locals>.<lambda>` → tuple of 1 → cell → Tensor",
    "generator": "variable `running` of module `__main__` → generator `generator` → Tensor",
    "saved_by_a_function": "variable `of_function` of module `__main__` → Tensor → .* → DoubledBackward",
    "saved_by_the_graph": "variable `loss` of module `__main__` → Tensor → .*SumBackward0",
}
RUNS = 4


class Reach(TorchTest):
    def start(self):
        command, own = started(self.folder, PROGRAMS / "held.py", LD_PRELOAD=str(PRELOAD), VRAMSCOPE_LOG=str(self.folder / "run.vsl"))
        process = subprocess.Popen([str(word) for word in command], cwd=self.folder, env=own, stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.communicate)
        return process, self.names_by_bytes(process)

    def told_of(self, process, names):
        """[(name, verdict, chain)]"""
        options = () if REAL else ("--sysroot", ROOT)
        done = self.execute(VRAMSCOPE, "reach", "--stop", "--json", "-", process.pid, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        found = json.loads(done.stdout)
        self.assertEqual(found["notices"], [])
        groups = [(group["sum"]["bytes"] // group["sum"]["blocks"], group) for row in found["rows"] for group in row["groups"]]
        return [(names[size], group["verdict"], " → ".join(group["chain"])) for size, group in groups if size in names]

    def test_each_tensor_is_held_by_what_the_program_keeps_it_in(self):
        told = []
        for _ in range(RUNS):
            process, names = self.start()
            found = self.told_of(process, names)
            process.communicate()
            (self.folder / "run.vsl").unlink()
            self.assertEqual({name for name, _, _ in found}, set(CHAINS))
            self.assertLessEqual({verdict for _, verdict, _ in found}, {"held", "possibly"})
            told += found
        # A word that was left over in an object of PyTorch's own may be a shorter way: of less than one in 200.
        others = [(name, chain) for name, _, chain in told if not re.match(CHAINS[name], chain)]
        self.assertLess(len(others) / len(told), 0.05, others)


if __name__ == "__main__":
    main()
