#!/usr/bin/env python3
# tests/scripts/setup_test.py — shows scripts/setup machines that lack this or that, and reads what it does about it.
import os
import shutil
import unittest

from setup_machine import ALL_PACKAGES, ORACLES, TEST_PACKAGES, SetupTest


class Setup(SetupTest):
    def test_a_complete_machine_is_left_alone(self):
        status, output, log = self.setup()
        self.assertEqual((status, log), (0, ""), output)
        self.assertIn("ready: cmake 3.25.1, g++, CUDA 13.0", output)

    def test_what_is_missing_is_installed_by_name_and_nothing_else(self):
        self.put("installed", "\n".join(p for p in ALL_PACKAGES if p not in ("libdw-dev", "ninja-build")) + "\n")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("from apt: libdw-dev ninja-build", output)
        self.assertIn("--no-install-recommends libdw-dev ninja-build ", log)

    def test_download_and_disk_are_said_before_anything_is_installed(self):
        self.put("installed", "ninja-build\n")
        _, output, _ = self.setup()
        cost = output.index("104 packages in all, 146 MB to download, 552 MB on disk\nsetup:   about 62 s beside the download")
        self.assertLess(cost, output.index("installed 100 %"))

    def test_apts_own_words_go_to_a_log_that_is_named(self):
        self.put("installed", "ninja-build\n")
        _, output, _ = self.setup()
        self.assertIn("setup: downloaded 20 %\nsetup: installed 100 %\n", output)
        self.assertNotIn("Unpacking", output)
        (log,) = (self.machine / "tmp").iterdir()
        self.assertIn(f"what apt says goes to {log}\n", output)
        self.assertIn("Unpacking 1 of 840 packages", log.read_text())

    def test_a_second_run_installs_nothing(self):
        self.put("installed", "ninja-build\n")
        self.setup()
        self.put("log", "")
        self.assertEqual(self.setup()[2], "")

    def test_a_machine_without_any_package_gets_all(self):
        self.put("installed", "")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        for package in set(ALL_PACKAGES) - {"cmake", "g++"}:  # commands are here, and new enough
            self.assertIn(package, log)
        self.assertNotIn(" cmake", log)

    def test_a_benchmark_machine_also_gets_heaptrack(self):
        self.assertIn("heaptrack", self.setup("--benchmarks")[2])

    def test_a_test_machine_also_gets_what_the_tests_need_and_compare_with(self):
        self.add_command("npm")
        self.add_command("node")
        log = self.setup("--tests")[2]
        for package in [*TEST_PACKAGES, *ORACLES]:
            self.assertIn(f" {package}", log)
        self.assertNotIn(" nodejs", log)
        self.assertRegex(log, f"npm ci .*--ignore-scripts --engine-strict .*--prefix {self.machine / 'ajv'}\n")
        self.assertTrue((self.machine / "ajv/node_modules/ajv").is_dir())
        for program in ("promtool", "prometheus", "prometheus-node-exporter", "debuginfod"):
            self.assertEqual(sorted(os.listdir(self.machine / program)), sorted([program, "lib.so.1"]))
        self.assertRegex(log, f"npm ci .*--ignore-scripts .*--prefix {self.machine / 'oracles'}\n")
        self.assertIn("python-root \n", log)
        self.assertIn("nvidia-drivers \n", log)
        self.put("log", "")
        self.assertEqual(self.setup("--tests")[2], "")  # once

    def test_a_program_is_taken_out_of_the_package_that_has_it(self):
        self.assertIn(" promtool\n", self.setup("--tests")[2])  # Debian 13's own
        shutil.rmtree(self.machine / "promtool")
        self.put("unknown", "promtool\n")
        self.assertIn(" prometheus\n", self.setup("--tests")[2])
        shutil.rmtree(self.machine / "promtool")
        self.put("empty", "")
        status, output, _ = self.setup("--tests")
        self.assertEqual(status, 0)
        self.assertIn("setup: skipped: no promtool: it is not in the package prometheus;", output)

    def test_the_oldest_node_is_fetched_where_that_is_asked_for(self):
        self.machine_for_tests()
        log = self.setup("--oldest-node")[2]
        self.assertRegex(log, f"^npm ci .*--prefix {self.machine / 'oldest-node'}\n$")
        self.put("log", "")
        self.assertEqual(self.setup("--oldest-node")[2], "")

    def test_headers_of_other_toolkits_are_fetched_where_that_is_asked_for(self):
        self.assertEqual(self.setup("--headers")[2], "cuda-headers \n")
        self.put("log", "")
        self.assertEqual(self.setup("--headers", "--no-non-free")[2], "")

    def test_nothing_of_nvidias_is_fetched_where_that_is_not_wanted(self):
        self.machine_for_tests()
        self.assertNotIn("nvidia-drivers", self.setup("--tests", "--no-non-free")[2])

    def test_other_machines_get_nothing_of_that(self):
        self.put("installed", "")
        log = self.setup()[2]
        for package in [*TEST_PACKAGES, *ORACLES]:
            self.assertNotIn(f" {package} ", log)
        self.assertNotIn("npm ci", log)
        self.assertNotIn("cuda-headers", log)
        self.assertNotIn("python-root", log)
        self.assertNotIn("nvidia-drivers", log)

    def test_a_validator_of_another_version_is_replaced(self):
        self.machine_for_tests()
        self.setup("--tests")
        self.put("ajv/installed.json", "{}")
        self.put("log", "")
        self.assertIn("npm ci", self.setup("--tests")[2])

    def test_a_validator_that_cannot_be_had_costs_its_tests_and_not_the_run(self):
        self.machine_for_tests()
        self.put("offline", "")
        for _ in range(2):
            status, output, _ = self.setup("--tests")
            self.assertEqual(status, 0, output)
            self.assertEqual(output.count("skipped: no ajv: npm could not install it"), 1)
            self.assertFalse((self.machine / "ajv/node_modules").exists())

    def test_an_oracle_that_apt_does_not_know_costs_its_tests_and_not_the_run(self):
        self.machine_for_tests("heaptrack", "protobuf-compiler")
        self.put("unknown", "heaptrack\n")
        status, output, log = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no heaptrack: apt does not know it", output)
        self.assertIn("--no-install-recommends protobuf-compiler", log)

    def test_an_oracle_that_does_not_install_leaves_the_others(self):
        self.machine_for_tests("heaptrack", "protobuf-compiler")
        self.put("broken", "heaptrack\n")
        status, output, _ = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no heaptrack: apt-get could not install it", output)
        self.assertIn("\nprotobuf-compiler\n", (self.machine / "installed").read_text())

    def test_without_npm_its_validator_is_skipped(self):
        self.machine_for_tests("npm")
        self.remove_command("npm")
        self.put("unknown", "npm\n")
        status, output, _ = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no ajv: there is no npm", output)

    def test_what_bundles_the_page_is_installed_for_every_build(self):
        self.put("installed", "\n".join(set(ALL_PACKAGES) - {"nodejs", "npm"}) + "\n")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("--no-install-recommends nodejs npm ", log)
        self.add_command("npm")
        self.add_command("node")
        self.put("installed", "\n".join(set(ALL_PACKAGES) - {"nodejs", "npm"}) + "\n")
        self.put("log", "")
        self.assertEqual(self.setup()[2], "")  # those of others do too

    def test_a_page_that_cannot_be_had_does_not_end_it(self):
        self.put("installed", "\n".join(set(ALL_PACKAGES) - {"npm"}) + "\n")
        self.put("unknown", "npm\n")
        status, output, _ = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no npm: apt does not know it; what is built has no page for --html\n", output)
        self.put("uid", "1000")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no npm: only root can install it, and there is no sudo; what is built has no page", output)

    def test_a_package_that_does_not_install_is_told_in_one_line(self):
        self.put("installed", "cmake\n")
        self.put("broken", "ninja-build\n")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertRegex(output.splitlines()[-1],
                         r"^setup: apt-get could not install all of it: E: Failed to fetch ninja-build \(its output: .*\)$")

    def test_without_network_one_line_says_so(self):
        self.put("installed", "cmake\n")
        self.put("offline", "")
        status, output, log = self.setup()
        self.assertEqual(status, 1)
        self.assertEqual(output.splitlines()[-1], "setup: no network: apt cannot reach http://mirror/debian/")
        self.assertEqual(log.count("apt-get"), 1)

    def test_without_network_and_toolkit_one_line_says_so(self):
        self.remove_command("nvcc")
        self.put("offline", "")
        status, output, _ = self.setup()
        self.assertEqual((status, output), (1, "cuda-toolkit: no network: apt cannot reach http://mirror/debian/\n"))

    def test_a_mirror_of_others_that_is_gone_ends_nothing(self):
        self.put("installed", "cmake\n")
        self.put("stranger", "")
        status, output, _ = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("apt could not refresh all of its lists", output)

    def test_without_root_sudo_is_used(self):
        self.put("uid", "1000")
        self.put("installed", "ninja-build\n")
        self.add_command("sudo")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertRegex(log, "sudo sh -c .* env DEBIAN_FRONTEND=noninteractive apt-get install")

    def test_without_root_and_sudo_one_line_says_what_to_run(self):
        self.put("uid", "1000")
        self.put("installed", "\n".join(p for p in ALL_PACKAGES if p != "libdw-dev") + "\n")
        self.remove_command("nvcc")
        for options in [(), ("--tests", "--no-non-free")]:
            with self.subTest(options):
                status, output, log = self.setup(*options)
                self.assertEqual((status, log), (1, ""))
                self.assertRegex(output, "^setup: only root can install what is missing, and there is no sudo: run "
                                         f"{' '.join(['./scripts/setup', *options])} as root .missing: .*libdw-dev.*\n$")

    def test_a_dry_run_tells_all_and_changes_nothing(self):
        self.remove_command("nvcc")
        self.put("installed", "")
        self.put("uid", "1000")
        self.add_command("npm")
        self.add_command("node")
        status, output, log = self.setup("--dry-run", "--tests", "--headers")
        self.assertEqual((status, log), (0, ""), output)
        for told in ["would run: apt-get update", "apt-get install", "libdw-dev", "g++-11", "heaptrack", "858 MB", "146 MB", "552 MB",
                     "npm ci", "cuda-headers", "nvidia-drivers", "python-root", str(self.machine / "cuda")]:
            self.assertIn(told, output)
        self.assertEqual(os.listdir(self.machine / "tmp"), [])

    def test_without_apt_the_list_is_shown(self):
        self.remove_command("apt-get")
        status, output, _ = self.setup()
        self.assertEqual(status, 0)
        self.assertIn("not a Debian or Ubuntu", output)
        self.assertIn("libunwind-dev", output)

    def test_an_unknown_option_is_refused(self):
        status, output, log = self.setup("--frobnicate")
        self.assertEqual((status, log), (1, ""))
        self.assertIn("unknown option: --frobnicate", output)


if __name__ == "__main__":
    unittest.main()
