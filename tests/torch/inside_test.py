# tests/torch/inside_test.py — `run --inside` with the frameworks that Debian has: PyTorch and Numba
# get no switch.
import json
import subprocess
import unittest

from torch_root import PROGRAMS, REAL, VRAMSCOPE, TorchTest, in_root, main


@unittest.skipIf(REAL, "needs the simulated GPU")
class Inside(TorchTest):
    def test_pytorch_and_numba_run_as_they_do_alone(self):
        for program, frameworks, settings in (("clean.py", ["PyTorch"], {}),
                                              ("numba_arrays.py", [], {"VRAMSCOPE_SIM_CUDA": "12.4"})):
            with self.subTest(program):
                alone = self.run_program(program, **settings)
                command = in_root(self.folder, VRAMSCOPE, "run", "--inside", "--force", "-o", "run.vsl", "--", "python3",
                                  PROGRAMS / program, **settings)
                done = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=300)
                self.assertEqual((done.returncode, done.stdout), (alone.returncode, alone.stdout), done.stderr)
                self.execute(VRAMSCOPE, "report", "run.vsl", "--json", "report.json", "--force")
                [process] = json.loads((self.folder / "report.json").read_text())["processes"]
                found = [(use["name"], use["bypassed"]) for use in process.get("frameworks", [])]
                self.assertEqual(found, [(name, False) for name in frameworks])


if __name__ == "__main__":
    main()
