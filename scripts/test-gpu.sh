#!/usr/bin/env bash
# test-gpu.sh: builds with CUDA and runs the tests labelled gpu. Where a GPU or nvcc is missing it says so and fails:
# nothing would have been tested.
set -eu
cd "$(dirname "$0")/.."
fail() {
    echo "test-gpu: $1" >&2
    exit 1
}
nvcc=${CUDACXX:-$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)}
[ -x "$nvcc" ] || fail 'there is no nvcc; install the CUDA toolkit (12.0 or later) or name nvcc by CUDACXX'
[ -e /dev/nvidia0 ] || nvidia-smi -L 2>/dev/null | grep -q 'GPU 0' || fail 'there is no NVIDIA GPU here (nvidia-smi shows none)'
scripts/build.sh build-gpu -DTANDEM_TESTS=ON -DTANDEM_CUDA=ON
ctest --test-dir build-gpu --output-on-failure -L gpu "$@"
