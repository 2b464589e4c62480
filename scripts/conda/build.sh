#!/usr/bin/env bash
# scripts/conda/build.sh — what conda-build does with meta.yaml beside it.
set -euo pipefail
cmake --preset release -DVRAMSCOPE_HTML=ON -DVRAMSCOPE_ARCHIVES=OFF -DCMAKE_INSTALL_PREFIX="$PREFIX" -DCMAKE_PREFIX_PATH="$PREFIX"
cmake --build --preset release -j "$CPU_COUNT"
cmake --install build/release --strip
