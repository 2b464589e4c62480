# scripts/toolchain.sh — what setup, test, demo and gpu-check ask of the machine. Sourced, never run.
# shellcheck shell=bash
#
# VRAMSCOPE_SETUP_ROOT is put before absolute paths, so that tests can show these functions another machine.

readonly CMAKE_WANTED=3.25 GCC_WANTED=12 CUDA_WANTED=11.8

# version_at_least HAVE WANTED
version_at_least() { [[ "$(printf '%s\n' "$2" "$1" | sort -V | head -n 1)" == "$2" ]]; }

cmake_version() { cmake --version 2>/dev/null | sed -n 's/^cmake version \([0-9.]*\).*/\1/p'; }

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

# Prints the path of nvcc: CUDA_HOME, CUDAToolkit_ROOT, CUDA_PATH, PATH, /usr/local/cuda, in this order.
find_nvcc() {
    local folder
    for folder in "${CUDA_HOME-}" "${CUDAToolkit_ROOT-}" "${CUDA_PATH-}"; do
        if [[ -n "$folder" && -x "$folder/bin/nvcc" ]]; then
            echo "$folder/bin/nvcc"
            return
        fi
    done
    command -v nvcc && return
    folder=${VRAMSCOPE_SETUP_ROOT-}/usr/local/cuda
    [[ -x "$folder/bin/nvcc" ]] && echo "$folder/bin/nvcc"
}

nvcc_version() { "$1" --version 2>/dev/null | sed -n 's/.*, release \([0-9.]*\),.*/\1/p'; }

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
