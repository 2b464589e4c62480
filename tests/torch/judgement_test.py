#!/usr/bin/env python3
# tests/torch/judgement_test.py — what is concluded of loops of training; what a part of a program took.
from torch_root import SOURCE, TorchTest, main


class Judgement(TorchTest):
    def found_in(self, *arguments, **environment):
        return [finding["kind"] for finding in self.run_traced("loops.py", *arguments, **environment).report["findings"]]

    def test_a_loop_that_keeps_tensors_grows_though_pythons_end_frees_them(self):
        for steps, seconds in ((60, 0), (60, 0.005), (200, 0.02)):
            with self.subTest(steps=steps, seconds=seconds):
                traced = self.run_traced("loops.py", "keeps", steps, seconds)
                self.assertEqual([finding["kind"] for finding in traced.report["findings"]], ["growth"])
                [row] = traced.report["growth"]
                self.assertEqual((row["freed"], row["rate"]["bytes_per_step"]), (True, 1 << 20))
                self.assertEqual(row["stack"][0]["function"], "step")

    def test_a_loop_that_keeps_nothing_is_clean(self):
        for kind in ("nothing", "item", "pinned", "window"):
            for steps, seconds in ((60, 0), (60, 0.01)):
                with self.subTest(kind, steps=steps, seconds=seconds):
                    self.assertEqual(self.found_in(kind, steps, seconds), ["clean"])

    def test_a_part_is_told_as_pytorch_tells_it(self):
        for knobs in ("", "expandable_segments:True"):
            with self.subTest(knobs):
                traced = self.run_traced("tracker.py", PYTHONPATH=str(SOURCE / "tools" / "python"), PYTORCH_CUDA_ALLOC_CONF=knobs)
                self.assertEqual(traced.done.returncode, 0, traced.done.stderr)


if __name__ == "__main__":
    main()
