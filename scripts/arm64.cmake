# Cross-compiles for 64-bit ARM Linux, and runs what was built under qemu-user:
#
#     cmake -S . -B build-arm64 -DCMAKE_TOOLCHAIN_FILE=scripts/arm64.cmake -DTANDEM_TESTS=ON
#     cmake --build build-arm64
#     ctest --test-dir build-arm64 -R test_engine_table
#
# Debian's packages are gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user. Libraries are looked for under
# TANDEM_ARM64_ROOT alone: those of the machine that compiles are for another processor.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(TANDEM_ARM64_ROOT /usr/aarch64-linux-gnu CACHE PATH "Headers and libraries of the ARM system")
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc CACHE STRING "The cross compiler")
set(CMAKE_FIND_ROOT_PATH ${TANDEM_ARM64_ROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(TANDEM_CUDA OFF CACHE STRING "No CUDA: nvcc compiles for this machine")
find_program(TANDEM_QEMU_ARM64 NAMES qemu-aarch64 qemu-aarch64-static)
if(TANDEM_QEMU_ARM64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${TANDEM_QEMU_ARM64} -L ${TANDEM_ARM64_ROOT})
endif()
