#!/usr/bin/env python3
# tests/tools/doctor_test.py — `vramscope doctor`: ready or not, and the reason.
import os
import pathlib
import random
import re
import subprocess
import unittest

from cli import CliTest, ESCAPE, PROGRAMS


class Doctor(CliTest):
    def doctor(self, *arguments):
        status, stdout, stderr = self.vramscope("doctor", *arguments)
        self.assertEqual(stderr, "")
        self.assertNotIn(ESCAPE, stdout)
        return status, stdout

    def assert_not_ready(self, arguments, *parts):
        status, stdout = self.doctor(*arguments)
        self.assertEqual(status, 110, stdout)
        self.assertIn("Nothing would be seen", stdout)
        for part in parts:
            self.assertIn(part, stdout)

    def test_what_no_gpu_can_be_is_a_mistake(self):
        for spec in ("bad", "1KiB", "17x1GiB"):
            status, _, errors = self.vramscope("doctor", "--simulate", spec)
            self.assertEqual(status, 125)
            self.assertIn(f"--simulate '{spec}': write a size", " ".join(errors.split()))

    def test_the_simulated_gpu_is_ready(self):
        status, stdout = self.doctor("--simulate", "2x80GiB", PROGRAMS / "training_demo")
        self.assertEqual(status, 0, stdout)
        self.assertIn("ok    preload works: ", stdout)
        self.assertIn("simulated driver", stdout)
        self.assertEqual(stdout.count("ok    device: "), 2)
        self.assertIn("80.0 GiB", stdout)
        self.assertTrue(stdout.endswith("Ready.\n"))

    def test_a_machine_without_a_driver(self):
        if os.path.exists("/proc/driver/nvidia/version"):
            self.skipTest("this machine has a driver")
        self.assert_not_ready([], "NO ", "--simulate 24GiB")

    def test_programs_that_cannot_be_traced(self):
        (self.folder / "main.c").write_text("int main(void) { return 5; }\n")
        subprocess.run(["cc", "-static", "-o", "static", "main.c"], cwd=self.folder, check=True)
        (self.folder / "data").write_text("data")
        self.script("by-static", "#!./static\n")
        elf = bytearray((self.folder / "static").read_bytes())
        elf[4] = 1  # EI_CLASS: 32 bits
        self.script("small", "").write_bytes(elf)
        for program, reason in [("./nothing", "there is no such program"), ("./data", "not an executable file"),
                                ("./static", "statically linked"), ("./small", "another kind of machine"),
                                ("./by-static", "is a script, run by ./static: ./static is statically linked")]:
            with self.subTest(program=program):
                self.assert_not_ready(["--simulate", "1GiB", program], reason)

    def test_a_script_is_judged_by_its_interpreter(self):
        self.script("script", "#!/usr/bin/env python3\n")
        status, stdout = self.doctor("--simulate", "1GiB", "./script")
        self.assertEqual(status, 0, stdout)
        self.assertIn("it is a script, run by python3", stdout)

    def test_a_script_that_names_itself_ends(self):
        self.script("loop", "#!./loop\n")
        self.assertEqual(self.doctor("--simulate", "1GiB", "./loop")[0], 0)

    def test_nvidias_runtime_inside_is_told_apart(self):
        program = PROGRAMS / "training_demo_static"
        self.assert_not_ready(["--simulate", "1GiB", program], "nvcc -cudart shared")

    def test_runtimes_of_cuda_that_the_simulated_gpu_lacks_are_named(self):
        _, stdout = self.doctor("--simulate", "1GiB")
        told = re.search(r"^ok    simulated GPU: (\S+), with runtimes of CUDA (.*)$", stdout, re.MULTILINE)
        there = [name.split(".")[2] for name in os.listdir(told[1]) if re.match(r"libcudart\.so\.", name)]
        self.assertEqual(re.findall(r"\d+", told[2]), sorted(there))
        self.assertEqual("do not start on the simulated GPU" in stdout, len(there) < 3)

    def test_a_program_of_another_cuda_is_told_what_it_lacks(self):
        (self.folder / "lib.c").write_text("int cudaNothing(void) { return 0; }\n")
        (self.folder / "main.c").write_text("int cudaNothing(void);\nint main(void) { return cudaNothing(); }\n")
        subprocess.run(["cc", "-shared", "-Wl,-soname,libcudart.so.99", "-o", "libcudart.so", "lib.c"], cwd=self.folder, check=True)
        subprocess.run(["cc", "-o", "own", "main.c", "-L.", "-lcudart"], cwd=self.folder, check=True)
        lacks = r"own needs libcudart\.so\.99, and the simulated GPU has a runtime of CUDA [\d, or]+ alone: build the program with"
        status, stdout = self.doctor("--simulate", "1GiB", "./own")
        self.assertEqual(status, 110)
        self.assertRegex(stdout, "NO .*" + lacks)
        status, _, stderr = self.vramscope("run", "--simulate", "1GiB", "./own")
        self.assertEqual(status, 127)  # the loader's
        self.assertRegex(stderr, lacks)

    def test_pytorch_inside_a_program_is_told(self):
        (self.folder / "main.c").write_text(
            'void start(void) __asm__("_ZN3c104cuda20CUDACachingAllocator6Native5startEv");\n'
            "void start(void) {}\nint main(void) { start(); return 0; }\n")
        subprocess.run(["cc", "-O0", "-o", "own", "main.c"], cwd=self.folder, check=True)
        status, stdout = self.doctor("--simulate", "1GiB", "./own")
        self.assertEqual(status, 0, stdout)
        self.assertRegex(stdout, r"note  PyTorch seen in \S*/?own itself, a static build: its allocator is not hookable")
        subprocess.run(["strip", "own"], cwd=self.folder, check=True)
        self.assertNotIn("PyTorch", self.doctor("--simulate", "1GiB", "./own")[1])

    def test_damaged_programs_are_read_without_harm(self):
        good = pathlib.Path("/bin/true").read_bytes()
        chance = random.Random(2)
        program = self.script("damaged", "")
        for _ in range(40):
            damaged = bytearray(good[:chance.choice([64, 100, 800, 4096, len(good)])])
            for _ in range(20):
                damaged[chance.randrange(5, min(len(damaged), 1000))] = chance.choice([0, 0x7F, 0x80, 0xFF])
            program.write_bytes(damaged)
            status, stdout = self.doctor("--simulate", "1GiB", "./damaged")
            self.assertIn(status, (0, 110), stdout)


if __name__ == "__main__":
    unittest.main()
