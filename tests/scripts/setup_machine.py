# tests/scripts/setup_machine.py — a machine in a folder that scripts/setup is run on.
#
# apt, dpkg, cmake, g++, nvcc, id, sudo and the other scripts are played by one small script; nothing real is installed.
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).parents[2]
REAL_TOOLS = ["bash", "cat", "chmod", "cmp", "comm", "cp", "dirname", "env", "find", "grep", "head", "kill", "ls", "mkdir", "mktemp", "mv",
              "paste", "readlink", "rm", "sed", "sh", "sort", "tail", "touch"]
THRUST = "libthrust-dev libcub-dev libcu++-dev".split()
TEST_PACKAGES = "git file zstd dpkg-dev python3-jsonschema python3-yaml libgtest-dev llvm lld ccache".split() + THRUST
ORACLES = ("heaptrack valgrind golang-go golang-github-google-pprof-dev protobuf-compiler python3-prometheus-client "
           "python3-junitparser python3-pytest libxml2-utils chromium clang-format-14 clang-tidy-14 groff-base fish zsh shellcheck "
           "rpm python3-venv debootstrap python3-greenlet sqlite3 libdebuginfod-dev "
           "libjemalloc2 libtcmalloc-minimal4 eatmydata libfaketime "
           "python3-pandas python3-distributed openmpi-bin python3-nbconvert python3-ipykernel lintian patchelf musl-tools").split()
ALL_PACKAGES = ("cmake ninja-build g++ pkg-config python3 libunwind-dev libdw-dev libbz2-dev zlib1g-dev "
                "libzstd-dev libspdlog-dev libfmt-dev libcli11-dev nlohmann-json3-dev nodejs npm ca-certificates").split()

# Reads the machine's state from files in $MACHINE, and changes it as the real command would.
ACTOR = r"""#!/bin/bash
cd "$MACHINE"
case ${0##*/} in
    cmake | g++) [[ -s ${0##*/}.version ]] || exit 127; v=$(<"${0##*/}.version")
        [[ $1 == --version ]] && echo "cmake version $v" || echo "$v" ;;
    nvcc) echo "Cuda compilation tools, release $(<nvcc.version), V1" ;;
    id) cat uid ;;
    dpkg-deb) [[ ! -e empty ]] || exit 0; mkdir -p "$OLDPWD/usr/bin"; touch "$OLDPWD"/usr/bin/{promtool,prometheus,prometheus-node-exporter,debuginfod} "$OLDPWD/lib.so.1"; chmod +x "$OLDPWD/usr/bin/"* ;;
    npm) echo "npm $*" >>log; [[ -e offline ]] && exit 1; mkdir -p "${!#}/node_modules/ajv" ;;
    node | g++-11) ;;
    sudo) echo "sudo $*" >>log; "$@" ;;
    dpkg-query) while read -r p; do echo "$p ii "; done <installed; exit 1 ;;
    apt-cache) [[ $1 != show ]] || { ! grep -qxF "$2" unknown; exit; }; grep -qxF "$2" unknown && echo "  Candidate: (none)" || echo "  Candidate: 1.0" ;;
    cuda-headers) echo "cuda-headers $*" >>log ;;
    nvidia-drivers) [[ -e drivers ]] && exit; echo "nvidia-drivers $*" >>log; [[ ! -e offline ]] && touch drivers ;;
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


class SetupTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = pathlib.Path(folder.name)
        for name in ["bin", "tmp", "scripts", "root/etc/apt/sources.list.d"]:
            (self.machine / name).mkdir(parents=True)
        for script in ["setup", "toolchain.sh"]:
            shutil.copy(ROOT / "scripts" / script, self.machine / "scripts")
        for folder in ["tests/report/ajv", "tests/oracle/npm", "tests/oracle/browser", "tests/support/oldest_node"]:
            shutil.copytree(ROOT / folder, self.machine / folder)
        for tool in REAL_TOOLS:
            if shutil.which(tool):
                (self.machine / "bin" / tool).symlink_to(shutil.which(tool))
        for actor in ["cmake", "g++", "nvcc", "id", "dpkg-query", "dpkg-deb", "apt-cache", "apt-get"]:
            self.add_command(actor)
        for actor in ["cuda-toolkit", "cuda-headers", "nvidia-drivers", "python-root"]:
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
                       "VRAMSCOPE_OLDEST_NODE": str(self.machine / "oldest-node"),
                       "VRAMSCOPE_PROMTOOL": str(self.machine / "promtool"),
                       "VRAMSCOPE_PROMETHEUS": str(self.machine / "prometheus"),
                       "VRAMSCOPE_NODE_EXPORTER": str(self.machine / "prometheus-node-exporter"),
                       "VRAMSCOPE_DEBUGINFOD": str(self.machine / "debuginfod"),
                       "VRAMSCOPE_SETUP_ROOT": str(self.machine / "root"), **environment}
        done = subprocess.run([self.machine / "scripts/setup", *options], env=environment, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr, (self.machine / "log").read_text()

    def machine_for_tests(self, *but):
        """One that lacks only these of what the tests need."""
        self.add_command("npm")
        self.add_command("node")
        self.put("installed", "\n".join({*ALL_PACKAGES, *TEST_PACKAGES, *ORACLES} - set(but)) + "\n")
