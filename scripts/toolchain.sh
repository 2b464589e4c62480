# scripts/toolchain.sh — what the other scripts ask of the machine. Sourced, never run.
# shellcheck shell=bash
#
# VRAMSCOPE_SETUP_ROOT is put before absolute paths: tests show another machine so.

# shellcheck disable=SC2034  # for setup
readonly CMAKE_WANTED=3.25 GCC_WANTED=12 CUDA_WANTED=11.8

# version_at_least HAVE WANTED
version_at_least() { [[ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

cmake_version() { cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p'; }

# os_release FIELD: ID, VERSION_CODENAME, ... of this machine's system, if it tells.
os_release() { sed -n "s/^$1=\"\{0,1\}\([^\"]*\)\"\{0,1\}\$/\1/p" "${VRAMSCOPE_SETUP_ROOT-}/etc/os-release" 2>/dev/null; }

# The mirror that this system's own packages come from, as apt says, with or without lists; nothing
# without apt.
system_mirror() {
    { apt-get update --print-uris 2>/dev/null || true; } |
        sed -n "s#^'\(.*/\)dists/\($(os_release VERSION_CODENAME)\|stable\)/InRelease'.*#\1#p" | head -n 1
}

# The same if it is Debian's; nothing on other systems.
debian_mirror() {
    [[ $(os_release ID) == debian ]] || return 0
    system_mirror
}

# need_mirror TOOL...: sets `mirror` to Debian's. Where there is none, or a tool is missing, the
# script's own give_up ends it.
need_mirror() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || give_up "there is no $tool here"
    done
    mirror=$(debian_mirror)
    [[ -n $mirror ]] || give_up "this is no Debian, whose mirrors are needed"
}

# private_apt FOLDER SUITES COMPONENTS: from now on apt in this shell reads these components of these
# suites of Debian's mirror alone, fetched anew, and keeps all that it knows in FOLDER: the machine's
# sources, lists and packages stay as they are. No root is needed. Where it fails, `why` has apt's
# first error.
private_apt() {
    local folder=$1 suites=$2 components=$3 keyring signed='' said mirror suite
    keyring=${VRAMSCOPE_SETUP_ROOT-}/usr/share/keyrings/debian-archive-keyring.gpg
    [[ ! -r $keyring ]] || signed=" signed-by=$keyring"
    mkdir -p "$folder/state/lists/partial" "$folder/cache/archives/partial"
    mirror=$(debian_mirror)
    for suite in $suites; do
        echo "deb [arch=amd64$signed] $mirror $suite $components"
    done >"$folder/sources.list"
    cat >"$folder/apt.conf" <<CONF
Dir::Etc::sourcelist "$folder/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::State "$folder/state";
Dir::State::status "/dev/null";
Dir::Cache "$folder/cache";
APT::Architecture "amd64";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::http::Timeout "15";
Acquire::Retries "0";
CONF
    export APT_CONFIG=$folder/apt.conf
    said=$(apt-get update -qq -o APT::Update::Error-Mode=any 2>&1) && return
    # shellcheck disable=SC2034  # for those who call
    why=$(sed -n '/^E: /{p;q}' <<<"$said")
    return 1
}

# unpack_root APT FOLDER: unpacks what apt, which keeps it in APT, has fetched, as a root of its
# own: FOLDER. Nothing of what the packages' own scripts do is done. An older package's /lib is
# /usr/lib, where dpkg-deb alone would put a folder in the place of the link.
unpack_root() {
    local folder=$2 name package
    rm -rf "$folder"
    mkdir -p "$folder"/usr/{bin,sbin,lib,lib64}
    for name in bin sbin lib lib64; do ln -s "usr/$name" "$folder/$name"; done
    for package in "$1"/cache/archives/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$folder"
        basename "$package" .deb >>"$folder/packages.txt"
    done
}

# Prints the first C++ compiler that is new enough; CXX goes first, as the user's word.
find_cxx() {
    local candidate version
    for candidate in ${CXX:+"$CXX"} g++ g++-14 g++-13 g++-12; do
        command -v "$candidate" >/dev/null || continue
        version=$("$candidate" -dumpfullversion 2>/dev/null) || continue
        version_at_least "$version" "$GCC_WANTED" && echo "$candidate" && return
    done
    return 1
}

# Where scripts/cuda-toolkit keeps what it has unpacked, one folder for each version: root's serves
# all users.
cuda_cache() {
    if [[ -n ${VRAMSCOPE_CUDA-} ]]; then
        echo "$VRAMSCOPE_CUDA"
    elif [[ $(id -u) == 0 ]]; then
        echo "${VRAMSCOPE_SETUP_ROOT-}/var/cache/vramscope/cuda"
    else
        echo "${XDG_CACHE_HOME:-${HOME-}/.cache}/vramscope/cuda"
    fi
}

# Where scripts/setup --oldest-node puts the oldest node that the page and its tests are for.
oldest_node_cache() { echo "${VRAMSCOPE_OLDEST_NODE:-${XDG_CACHE_HOME:-${HOME-}/.cache}/vramscope/oldest-node}"; }

# Prints the path of nvcc: CUDA_HOME, CUDAToolkit_ROOT, CUDA_PATH, PATH, /usr/local/cuda, and what
# scripts/cuda-toolkit has unpacked, in this order.
find_nvcc() {
    local folder
    for folder in "${CUDA_HOME-}" "${CUDAToolkit_ROOT-}" "${CUDA_PATH-}"; do
        if [[ -n "$folder" && -x "$folder/bin/nvcc" ]]; then
            echo "$folder/bin/nvcc"
            return
        fi
    done
    command -v nvcc && return
    for folder in "${VRAMSCOPE_SETUP_ROOT-}/usr/local/cuda" "$(cuda_cache)"/*/ "${VRAMSCOPE_SETUP_ROOT-}"/var/cache/vramscope/cuda/*/; do
        if [[ -x "${folder%/}/bin/nvcc" ]]; then
            echo "${folder%/}/bin/nvcc"
            return
        fi
    done
    return 1
}

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*, release \([0-9.]*\),.*/\1/p'; }

# LD_PRELOAD separates names by these: `vramscope run` refuses to start from such a folder.
preloadable() { [[ $1 != *[[:space:]:]* ]]; }

has_nvidia_gpu() {
    [[ -n "$(ls -A "${VRAMSCOPE_SETUP_ROOT-}/proc/driver/nvidia/gpus" 2>/dev/null)" ]] && return
    command -v nvidia-smi >/dev/null && nvidia-smi -L 2>/dev/null | grep -q '^GPU '
}

# Tells CMake, through its environment, what find_cxx, find_nvcc and ccache say.
use_toolchain() {
    local cxx nvcc
    if cxx=$(find_cxx); then
        export CXX=$cxx
        case $cxx in g++*) export CC=${CC:-gcc${cxx#g++}} ;; esac
    fi
    if nvcc=$(find_nvcc) && [[ -z "${CUDAToolkit_ROOT-}" ]]; then
        nvcc=$(readlink -f "$nvcc")
        case $nvcc in /usr/bin/*) ;; *) export CUDAToolkit_ROOT=${nvcc%/bin/nvcc} ;; esac
    fi
    if command -v ccache >/dev/null; then
        # The tests' precompiled header is the same as long as what it is made of is.
        export CMAKE_C_COMPILER_LAUNCHER=ccache
        export CMAKE_CXX_COMPILER_LAUNCHER="env;CCACHE_SLOPPINESS=pch_defines,time_macros;ccache"
    fi
}
