#!/usr/bin/env python3
# tests/scripts/setup_test.py — shows scripts/setup machines that lack this or that, and reads what it does about it.
#
# apt, dpkg, cmake, g++, nvcc, id, sudo and the other scripts are played by one small script; nothing real is installed.
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
REAL_TOOLS = ["bash", "cat", "chmod", "cmp", "comm", "cp", "dirname", "env", "find", "grep", "head", "kill", "ls", "mkdir", "mktemp", "mv",
              "paste", "readlink", "rm", "sed", "sh", "sort", "tail", "touch"]
THRUST = "libthrust-dev libcub-dev libcu++-dev".split()
TEST_PACKAGES = "git file dpkg-dev python3-jsonschema python3-yaml libgtest-dev llvm ccache".split() + THRUST
ORACLES = ("heaptrack valgrind golang-go golang-github-google-pprof-dev protobuf-compiler python3-prometheus-client "
           "python3-junitparser python3-pytest libxml2-utils nodejs npm chromium clang-format-14 clang-tidy-14 groff-base fish zsh shellcheck "
           "rpm python3-venv debootstrap python3-greenlet sqlite3 libdebuginfod1").split()
ALL_PACKAGES = ("cmake ninja-build g++ pkg-config python3 libunwind-dev libdw-dev libbz2-dev zlib1g-dev "
                "libzstd-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev").split()

# Reads the machine's state from files in $MACHINE, and changes it as the real command would.
ACTOR = r"""#!/bin/bash
cd "$MACHINE"
case ${0##*/} in
    cmake | g++) [[ -s ${0##*/}.version ]] || exit 127; v=$(<"${0##*/}.version")
        [[ $1 == --version ]] && echo "cmake version $v" || echo "$v" ;;
    nvcc) echo "Cuda compilation tools, release $(<nvcc.version), V1" ;;
    id) cat uid ;;
    dpkg-deb) [[ ! -e empty ]] || exit 0; mkdir -p "$OLDPWD/usr/bin"; touch "$OLDPWD"/usr/bin/{promtool,debuginfod} "$OLDPWD/lib.so.1"; chmod +x "$OLDPWD/usr/bin/"* ;;
    npm) echo "npm $*" >>log; [[ -e offline ]] && exit 1; mkdir -p "${!#}/node_modules/ajv" ;;
    node | g++-11) ;;
    sudo) echo "sudo $*" >>log; "$@" ;;
    dpkg-query) while read -r p; do echo "$p ii "; done <installed; exit 1 ;;
    apt-cache) [[ $1 != show ]] || { ! grep -qxF "$2" unknown; exit; }; grep -qxF "$2" unknown && echo "  Candidate: (none)" || echo "  Candidate: 1.0" ;;
    cuda-headers) echo "cuda-headers $*" >>log ;;
    python-root) [[ -e pythons ]] && exit; echo "python-root $*" >>log; [[ ! -e offline ]] && touch pythons ;;
    cuda-toolkit)
        [[ -e offline ]] && echo "cuda-toolkit: no network: apt cannot reach http://mirror/debian/" >&2 && exit 1
        [[ $1 == --plan ]] && echo "11.8 858 g++-11" && exit
        echo "cuda-toolkit $*" >>log
        [[ -e no-toolkit ]] && echo "cuda-toolkit: the download failed" >&2 && exit 1
        sed s/nvcc.version/cached.version/ "$0" >bin/nvcc; chmod +x bin/nvcc ;;
    apt-get)
        case "$*" in
            *--assume-no*)
                echo "0 upgraded, 104 newly installed, 0 to remove and 0 not upgraded."
                echo "Need to get 12.3 MB/146 MB of archives."
                echo "After this operation, 552 MB of additional disk space will be used."
                exit 1 ;;
            *--print-uris)
                for suite in bookworm-updates bookworm; do echo "'http://mirror/debian/dists/$suite/InRelease' InRelease 0 "; done; exit ;;
        esac
        echo "apt-get $*" >>log
        case $1 in
            update)
                [[ -e offline ]] && echo "E: Failed to fetch http://mirror/debian/dists/bookworm/InRelease" >&2 && exit 100
                [[ -e stranger ]] && echo "E: Failed to fetch http://elsewhere/InRelease" >&2 && exit 100 ;;
            download) [[ -e offline ]] && exit 100; touch "$OLDPWD/prometheus_1.deb" ;;
            install)
                echo "dlstatus:1:33.3:Retrieving" >&3; echo "Unpacking 1 of 840 packages"; echo "pmstatus:p:100.0:Installed" >&3
                for p in "$@"; do
                    if grep -sqxF "$p" broken; then echo "E: Failed to fetch $p" >&2; exit 100; fi
                done
                printf '%s\n' "$@" >>installed ;;
        esac; exit 0 ;;
esac
"""


class Setup(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        for name in ["bin", "tmp", "scripts", "root/etc/apt/sources.list.d"]:
            (self.machine / name).mkdir(parents=True)
        for script in ["setup", "toolchain.sh"]:
            shutil.copy(ROOT / "scripts" / script, self.machine / "scripts")
        for folder in ["tests/report/ajv", "tests/oracle/npm", "tests/oracle/browser"]:
            shutil.copytree(ROOT / folder, self.machine / folder)
        for tool in REAL_TOOLS:
            if shutil.which(tool):
                (self.machine / "bin" / tool).symlink_to(shutil.which(tool))
        for actor in ["cmake", "g++", "nvcc", "id", "dpkg-query", "dpkg-deb", "apt-cache", "apt-get"]:
            self.add_command(actor)
        for actor in ["cuda-toolkit", "cuda-headers", "python-root"]:
            self.add_command(actor, "scripts")
        self.put("root/etc/os-release", "ID=debian\nVERSION_CODENAME=bookworm\n")
        self.put("installed", "\n".join(ALL_PACKAGES) + "\n")
        self.put("unknown", "")
        self.put("uid", "0")
        self.put("log", "")
        self.put("cmake.version", "3.25.1")
        self.put("g++.version", "12.2.0")
        self.put("nvcc.version", "13.0")
        self.put("cached.version", "11.8")

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
        environment = {"PATH": str(self.machine / "bin"), "MACHINE": str(self.machine), "TMPDIR": str(self.machine / "tmp"),
                       "VRAMSCOPE_CUDA": str(self.machine / "cuda"),
                       "VRAMSCOPE_AJV": str(self.machine / "ajv"),
                       "VRAMSCOPE_NPM_ORACLES": str(self.machine / "oracles"),
                       "VRAMSCOPE_BROWSER": str(self.machine / "browser"),
                       "VRAMSCOPE_PROMTOOL": str(self.machine / "promtool"),
                       "VRAMSCOPE_DEBUGINFOD": str(self.machine / "debuginfod"),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), **environment}
        done = subprocess.run([self.machine / "scripts/setup", *options], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, (self.machine / "log").read_text()

    def testing_machine(self, *but):
        """One that lacks only these of what the tests need."""
        self.add_command("npm")
        self.add_command("node")
        self.put("installed", "\n".join({*ALL_PACKAGES, *TEST_PACKAGES, *ORACLES} - set(but)) + "\n")

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
        for package in {*TEST_PACKAGES, *ORACLES} - {"nodejs", "npm"}:  # commands are here
            self.assertIn(f" {package}", log)
        self.assertNotIn(" nodejs", log)
        self.assertRegex(log, f"npm ci .*--ignore-scripts .*--prefix {self.machine / 'ajv'}\n")
        self.assertTrue((self.machine / "ajv/node_modules/ajv").is_dir())
        for program in ("promtool", "debuginfod"):
            self.assertEqual(sorted(os.listdir(self.machine / program)), sorted([program, "lib.so.1"]))
        self.assertRegex(log, f"npm ci .*--ignore-scripts .*--prefix {self.machine / 'oracles'}\n")
        self.assertIn("python-root \n", log)
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

    def test_thrust_comes_with_a_toolkit_that_has_it(self):
        for folder in ["include/thrust", "include/cccl/thrust"]:
            toolkit = self.machine / "toolkits" / folder.replace("/", "-")
            (toolkit / folder).mkdir(parents=True)
            (toolkit / folder / "version.h").touch()
            self.add_command("nvcc", toolkit / "bin")
            self.testing_machine(*THRUST)
            self.assertEqual(self.setup("--tests", "--dry-run", CUDA_HOME=str(toolkit))[1].count("libthrust-dev"), 0)

    def test_headers_of_other_toolkits_are_fetched_where_that_is_asked_for(self):
        self.assertEqual(self.setup("--headers")[2], "cuda-headers \n")
        self.put("log", "")
        self.assertEqual(self.setup("--headers", "--no-non-free")[2], "")

    def test_other_machines_get_nothing_of_that(self):
        self.put("installed", "")
        log = self.setup()[2]
        for package in [*TEST_PACKAGES, *ORACLES]:
            self.assertNotIn(f" {package} ", log)
        self.assertNotIn("npm", log)
        self.assertNotIn("cuda-headers", log)
        self.assertNotIn("python-root", log)

    def test_a_validator_of_another_version_is_replaced(self):
        self.testing_machine()
        self.setup("--tests")
        self.put("ajv/installed.json", "{}")
        self.put("log", "")
        self.assertIn("npm ci", self.setup("--tests")[2])

    def test_a_validator_that_cannot_be_had_costs_its_tests_and_not_the_run(self):
        self.testing_machine()
        self.put("offline", "")
        for _ in range(2):
            status, output, _ = self.setup("--tests")
            self.assertEqual(status, 0, output)
            self.assertEqual(output.count("skipped: no ajv: npm could not install it"), 1)
            self.assertFalse((self.machine / "ajv/node_modules").exists())

    def test_an_oracle_that_apt_does_not_know_costs_its_tests_and_not_the_run(self):
        self.testing_machine("heaptrack", "protobuf-compiler")
        self.put("unknown", "heaptrack\n")
        status, output, log = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no heaptrack: apt does not know it", output)
        self.assertIn("--no-install-recommends protobuf-compiler", log)

    def test_an_oracle_that_does_not_install_leaves_the_others(self):
        self.testing_machine("heaptrack", "protobuf-compiler")
        self.put("broken", "heaptrack\n")
        status, output, _ = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no heaptrack: apt-get could not install it", output)
        self.assertIn("\nprotobuf-compiler\n", (self.machine / "installed").read_text())

    def test_without_npm_its_validator_is_skipped(self):
        self.testing_machine("npm")
        self.remove_command("npm")
        self.put("unknown", "npm\n")
        status, output, _ = self.setup("--tests")
        self.assertEqual(status, 0, output)
        self.assertIn("skipped: no ajv: there is no npm", output)

    def test_node_and_npm_are_installed_where_they_are_not(self):
        output = self.setup("--tests", "--dry-run")[1]
        self.assertIn(" nodejs", output)
        self.assertIn(" npm", output)

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

    def test_a_dry_run_tells_all_and_changes_nothing(self):
        self.remove_command("nvcc")
        self.put("installed", "")
        self.put("uid", "1000")
        self.add_command("npm")
        self.add_command("node")
        status, output, log = self.setup("--dry-run", "--tests", "--headers")
        self.assertEqual((status, log), (0, ""), output)
        for told in ["would run: apt-get update", "apt-get install", "libdw-dev", "g++-11", "heaptrack", "858 MB", "146 MB", "552 MB",
                     "npm ci", "cuda-headers", "python-root", str(self.machine / "cuda")]:
            self.assertIn(told, output)
        self.assertEqual(os.listdir(self.machine / "tmp"), [])

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
