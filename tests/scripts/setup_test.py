#!/usr/bin/env python3
# tests/scripts/setup_test.py — shows scripts/setup machines that lack this or that, and reads what it does about it.
#
# apt, dpkg, cmake, g++, nvcc, id and sudo are played by one small script; nothing real is installed.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).parents[2] / "scripts" / "setup"
REAL_TOOLS = ["bash", "cat", "chmod", "cmp", "comm", "cp", "dirname", "env", "grep", "head", "ls", "mkdir", "mv", "readlink", "rm", "sed", "sh", "sort",
              "touch"]
TEST_PACKAGES = "heaptrack golang-go golang-github-google-pprof-dev protobuf-compiler nodejs npm".split()
ALL_PACKAGES = ("cmake ninja-build g++ pkg-config python3 python3-jsonschema git libunwind-dev libdw-dev zlib1g-dev libspdlog-dev "
                "libfmt-dev libcli11-dev nlohmann-json3-dev libgtest-dev llvm ccache").split()

# Reads the machine's state from files in $MACHINE, and changes it as the real command would.
ACTOR = r"""#!/bin/bash
cd "$MACHINE"
case ${0##*/} in
    cmake | g++) [[ -s ${0##*/}.version ]] || exit 127; v=$(<"${0##*/}.version")
        [[ $1 == --version ]] && echo "cmake version $v" || echo "$v" ;;
    nvcc) echo "Cuda compilation tools, release $(<nvcc.version), V1" ;;
    id) cat uid ;;
    npm) echo "npm $*" >>log; [[ -e offline ]] && exit 1; mkdir -p "${!#}/node_modules/ajv" ;;
    node) ;;
    sudo) echo "sudo $*" >>log; "$@" ;;
    dpkg-query) while read -r p; do echo "$p ii "; done <installed; exit 1 ;;
    apt-cache) grep -qxF "$2" known && echo "  Candidate: 1.0" || echo "  Candidate: (none)" ;;
    apt-get) echo "apt-get $*" >>log
        case $1 in
            indextargets)
                if [[ -e signed ]] && grep -sqv signed-by root/etc/apt/sources.list.d/*non-free*; then exit 100; fi
                [[ -e refusing && -n $(ls root/etc/apt/sources.list.d) ]] && exit 100
                echo "http://mirror/debian bookworm main"
                echo "http://mirror/debian bookworm-updates main" ;;
            update) ls root/etc/apt/sources.list.d/*non-free* >/dev/null 2>&1 && echo nvidia-cuda-toolkit >>known ;;
            install)
                for p in "$@"; do
                    echo "$p" >>installed
                    [[ $p == nvidia-cuda-toolkit ]] && { cat "$0" >bin/nvcc; chmod +x bin/nvcc; }
                done ;;
        esac; exit 0 ;;
esac
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        (self.machine / "bin").mkdir()
        (self.machine / "root/etc/apt/sources.list.d").mkdir(parents=True)
        for tool in REAL_TOOLS:
            (self.machine / "bin" / tool).symlink_to(shutil.which(tool))
        for actor in ["cmake", "g++", "nvcc", "id", "dpkg-query", "apt-cache", "apt-get"]:
            self.add_command(actor)
        self.put("root/etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n")
        self.put("installed", "\n".join(ALL_PACKAGES) + "\n")
        self.put("known", "")
        self.put("uid", "0")
        self.put("log", "")
        self.put("cmake.version", "3.25.1")
        self.put("g++.version", "12.2.0")
        self.put("nvcc.version", "13.0")

    def put(self, name, text):
        (self.machine / name).write_text(text)

    def add_command(self, name, folder="bin"):
        path = self.machine / folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(ACTOR)
        path.chmod(0o755)

    def remove_command(self, name):
        (self.machine / "bin" / name).unlink()

    def setup(self, *options, **environment):
        environment = {"PATH": str(self.machine / "bin"), "MACHINE": str(self.machine),
                       "VRAMSCOPE_CUDA_HEADERS": str(self.machine / "headers"),
                       "VRAMSCOPE_AJV": str(self.machine / "ajv"),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), **environment}
        done = subprocess.run([SCRIPT, *options], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, (self.machine / "log").read_text()

    def test_a_complete_machine_is_left_alone(self):
        status, output, log = self.setup()
        self.assertEqual((status, log), (0, ""), output)
        self.assertIn("ready: cmake 3.25.1, g++, CUDA 13.0", output)

    def test_what_is_missing_is_installed_by_name_and_nothing_else(self):
        self.put("installed", "\n".join(p for p in ALL_PACKAGES if p not in ("libdw-dev", "llvm")) + "\n")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("installing: libdw-dev llvm\n", output)
        self.assertIn("--no-install-recommends libdw-dev llvm\n", log)

    def test_a_second_run_installs_nothing(self):
        self.put("installed", "git\n")
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

    def test_a_test_machine_also_gets_what_the_tests_compare_with(self):
        self.add_command("npm")
        self.add_command("node")
        log = self.setup("--tests")[2]
        for package in set(TEST_PACKAGES) - {"nodejs", "npm"}:  # commands are here
            self.assertIn(f" {package}", log)
        self.assertNotIn(" nodejs", log)
        self.assertIn(f"npm ci --silent --no-audit --no-fund --ignore-scripts --prefix {self.machine / 'ajv'}\n", log)
        self.assertTrue((self.machine / "ajv/node_modules/ajv").is_dir())
        self.put("log", "")
        self.assertEqual(self.setup("--tests")[2], "")  # once

    def test_other_machines_get_nothing_of_that(self):
        self.put("installed", "")
        log = self.setup()[2]
        for package in TEST_PACKAGES:
            self.assertNotIn(f" {package}", log)
        self.assertNotIn("npm", log)

    def test_a_validator_of_another_version_is_replaced(self):
        self.add_command("npm")
        self.add_command("node")
        self.put("installed", "\n".join([*ALL_PACKAGES, *TEST_PACKAGES]) + "\n")
        self.setup("--tests")
        self.put("ajv/installed.json", "{}")
        self.put("log", "")
        self.assertIn("npm ci", self.setup("--tests")[2])

    def test_a_validator_that_cannot_be_had_is_told(self):
        self.add_command("npm")
        self.add_command("node")
        self.put("installed", "\n".join([*ALL_PACKAGES, *TEST_PACKAGES]) + "\n")
        self.put("offline", "")
        for _ in range(2):
            status, output, _ = self.setup("--tests")
            self.assertEqual(status, 1)
            self.assertIn("npm could not install ajv", output)

    def test_node_and_npm_are_installed_where_they_are_not(self):
        log = self.setup("--tests", "--dry-run")[1]
        self.assertIn(" nodejs", log)
        self.assertIn(" npm", log)

    def test_without_root_sudo_is_used(self):
        self.put("uid", "1000")
        self.put("installed", "git\n")
        self.add_command("sudo")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("sudo env DEBIAN_FRONTEND=noninteractive apt-get install", log)

    def test_without_root_and_sudo_the_command_is_shown(self):
        self.put("uid", "1000")
        self.put("installed", "git\n")
        status, output, log = self.setup()
        self.assertEqual((status, log), (1, ""))
        self.assertIn("this needs root, and there is no sudo", output)
        self.assertIn("  apt-get update", output)

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

    def test_a_known_toolkit_package_is_installed_where_there_is_none(self):
        self.remove_command("nvcc")
        self.put("known", "nvidia-cuda-toolkit\n")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        self.assertIn("--no-install-recommends nvidia-cuda-toolkit\n", log)
        self.assertEqual(os.listdir(self.machine / "root/etc/apt/sources.list.d"), [])

    def test_debians_non_free_is_added_by_name_and_told(self):
        self.remove_command("nvcc")
        status, output, log = self.setup()
        self.assertEqual(status, 0, output)
        added = self.machine / "root/etc/apt/sources.list.d/vramscope-cuda-non-free.list"
        self.assertEqual(added.read_text(), "deb http://mirror/debian bookworm contrib non-free\n")
        self.assertIn(f"adding {added} (delete it to undo)", output)
        self.assertIn("install -y -qq --no-install-recommends nvidia-cuda-toolkit", log)

    def test_non_free_is_signed_as_the_rest_of_the_mirror_is(self):
        self.remove_command("nvcc")
        self.put("signed", "")
        status, output, _ = self.setup()
        self.assertEqual(status, 0, output)
        added = self.machine / "root/etc/apt/sources.list.d/vramscope-cuda-non-free.list"
        self.assertEqual(added.read_text(), "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] "
                                            "http://mirror/debian bookworm contrib non-free\n")

    def test_a_file_that_apt_refuses_is_removed_again(self):
        self.remove_command("nvcc")
        self.put("refusing", "")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertIn("it is removed again", output)
        self.assertEqual(os.listdir(self.machine / "root/etc/apt/sources.list.d"), [])

    def test_no_non_free_leaves_apts_sources_alone_and_says_how_to_go_on(self):
        self.remove_command("nvcc")
        status, output, _ = self.setup("--no-non-free")
        self.assertEqual(status, 1)
        self.assertIn("apt has no nvidia-cuda-toolkit", output)
        self.assertIn("CUDA_HOME=", output)
        self.assertEqual(os.listdir(self.machine / "root/etc/apt/sources.list.d"), [])

    def test_a_dry_run_changes_nothing(self):
        self.remove_command("nvcc")
        self.put("installed", "git\n")
        status, output, log = self.setup("--dry-run")
        self.assertEqual(status, 0, output)
        self.assertIn("would run: env DEBIAN_FRONTEND=noninteractive apt-get install", output)
        self.assertNotIn("install -y", log)
        self.assertEqual(os.listdir(self.machine / "root/etc/apt/sources.list.d"), [])

    def test_the_headers_of_another_toolkit_are_fetched_where_that_can_be(self):
        for options, told in (((), True), (("--no-non-free",), False), (("--dry-run",), False)):
            with self.subTest(options):
                status, output, _ = self.setup(*options)
                self.assertEqual(status, 0, output)
                self.assertEqual("cuda-headers: no headers of CUDA 11.8" in output, told, output)

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
        self.put("known", "g++-12\n")
        self.assertIn("g++-12", self.setup()[2])

    def test_an_old_toolkit_is_told(self):
        self.put("nvcc.version", "11.5")
        status, output, _ = self.setup()
        self.assertEqual(status, 1)
        self.assertIn("is 11.5: 11.8 or newer is needed", output)

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
