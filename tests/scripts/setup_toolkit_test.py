#!/usr/bin/env python3
# tests/scripts/setup_toolkit_test.py — which toolkit and which compilers scripts/setup takes, or says are too old.
import os
import unittest

from setup_machine import THRUST, SetupTest


class SetupToolkit(SetupTest):
    def test_thrust_comes_with_a_toolkit_that_has_it(self):
        for folder in ["include/thrust", "include/cccl/thrust"]:
            toolkit = self.machine / "toolkits" / folder.replace("/", "-")
            (toolkit / folder).mkdir(parents=True)
            (toolkit / folder / "version.h").touch()
            self.add_command("nvcc", toolkit / "bin")
            self.machine_for_tests(*THRUST)
            self.assertEqual(self.setup("--tests", "--dry-run", CUDA_HOME=str(toolkit))[1].count("libthrust-dev"), 0)

    def test_the_toolkit_of_cuda_home_is_used(self):
        self.remove_command("nvcc")
        self.add_command("nvcc", "opt/cuda/bin")
        status, output, log = self.setup(CUDA_HOME=str(self.machine / "opt/cuda"))
        self.assertEqual((status, log), (0, ""), output)
        self.assertIn("opt/cuda/bin/nvcc", output)

    def test_the_toolkit_in_usr_local_is_found(self):
        self.remove_command("nvcc")
        self.add_command("nvcc", "root/usr/local/cuda/bin")
        status, output, log = self.setup()
        self.assertEqual((status, log), (0, ""), output)

    def test_the_toolkit_that_was_unpacked_is_found(self):
        self.remove_command("nvcc")
        self.add_command("nvcc", "cuda/11.8/bin")
        status, output, log = self.setup()
        self.assertEqual((status, log), (0, ""), output)
        self.assertIn("cuda/11.8/bin/nvcc", output)

    def test_what_root_has_unpacked_serves_other_users(self):
        self.remove_command("nvcc")
        self.put("uid", "1000")
        self.add_command("nvcc", "root/var/cache/vramscope/cuda/11.8/bin")
        status, output, log = self.setup(VRAMSCOPE_CUDA="", HOME=str(self.machine / "home"))
        self.assertEqual((status, log), (0, ""), output)

    def test_without_a_toolkit_a_part_of_the_distributions_is_unpacked_and_its_compiler_installed(self):
        self.remove_command("nvcc")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("cuda-toolkit \n", log)
        self.assertIn("--no-install-recommends g++-11 ", log)
        self.assertNotIn("nvidia", log)
        self.assertLess(output.index("858 MB to download, 150 MB on disk"), output.index("installed 100 %"))
        self.assertIn("ready: cmake 3.25.1, g++, CUDA 11.8", output)
        self.assertEqual(os.listdir(self.machine / "root/etc/apt/sources.list.d"), [])

    def test_an_older_compiler_that_is_here_is_not_installed(self):
        self.remove_command("nvcc")
        self.add_command("g++-11")
        self.assertEqual(self.setup()[2], "cuda-toolkit \n")

    def test_a_toolkit_that_cannot_be_had_ends_it(self):
        self.remove_command("nvcc")
        self.add_command("g++-11")
        self.put("no-toolkit", "")
        status, output, _ = self.setup()
        self.assertEqual((status, output.splitlines()[-1]), (1, "cuda-toolkit: the download failed"))

    def test_no_non_free_says_how_to_go_on(self):
        self.remove_command("nvcc")
        status, output, log = self.setup("--no-non-free")
        self.assertEqual((status, log), (1, ""))
        self.assertIn("Debian's is in non-free", output)
        self.assertIn("CUDA_HOME=", output)

    def test_an_old_cmake_is_told_with_what_to_do(self):
        self.put("cmake.version", "3.22.1")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertIn("cmake 3.22.1 is too old: 3.25 or newer is needed (Ubuntu 22.04 has 3.22)", output)
        self.assertIn("apt.kitware.com", output)

    def test_an_old_compiler_is_told(self):
        self.put("g++.version", "11.4.0")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertIn("g++ 12 or newer is needed", output)

    def test_a_newer_compiler_beside_an_old_one_is_installed(self):
        self.put("g++.version", "11.4.0")
        self.assertIn("g++-12", self.setup()[2])

    def test_an_old_toolkit_is_told(self):
        self.put("nvcc.version", "11.5")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertIn("is 11.5: 11.8 or newer is needed", output)


if __name__ == "__main__":
    unittest.main()
