# Which processors the build is for.
#
# A portable build, the default, runs on every processor of the architecture: ordinary code is compiled for the first
# level of its instruction set, the CPU kernels of every program once per level of TANDEM_ISA_LEVELS, and the process
# takes the highest that the processor has (src/base/isa.h). TANDEM_NATIVE compiles everything once, for the processor
# of the machine that builds.
#
# CPU kernels begin a line of the instruction cache, and their loops lie at multiples of 16 bytes: otherwise what is linked
# before a kernel decides where its loops lie, which is up to a tenth of its time (docs/lab/build.md).
#
# Sets ISA_SUFFIXES, one per level, ascending, and ISA_FLAGS_<suffix>; KERNEL_ALIGNMENT; writes isa_levels.def for
# the compiler.
include(CheckCCompilerFlag)
option(TANDEM_NATIVE "Compile for this machine's processor alone" OFF)
set(TANDEM_ISA_LEVELS "v3" CACHE STRING
  "Levels of x86-64, besides the first, that CPU kernels are compiled for: of v2;v3;v4, ascending")

set(ISA_SUFFIXES "")
set(ISA_TABLE "")
macro(isa_level suffix name)
  list(APPEND ISA_SUFFIXES ${suffix})
  set(ISA_FLAGS_${suffix} ${ARGN})
  string(APPEND ISA_TABLE "TD_ISA(${suffix}, \"${name}\")\n")
endmacro()

if(TANDEM_NATIVE)
  isa_level(native native)
  target_compile_options(tandem_flags INTERFACE -march=native)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  # Some systems' compilers have a later default.
  isa_level(v1 x86-64 -march=x86-64)
  if(NOT CMAKE_C_FLAGS MATCHES "-march=")
    target_compile_options(tandem_flags INTERFACE -march=x86-64)
  endif()
  foreach(level ${TANDEM_ISA_LEVELS})
    if(NOT level MATCHES "^v[234]$")
      message(FATAL_ERROR "TANDEM_ISA_LEVELS has '${level}'; allowed are v2, v3 and v4, separated by semicolons")
    endif()
    # A build with a sanitizer looks for errors in the source, which has one version.
    check_c_compiler_flag(-march=x86-64-${level} TANDEM_COMPILES_${level})
    if(TANDEM_COMPILES_${level} AND NOT TANDEM_SANITIZE)
      isa_level(${level} x86-64-${level} -march=x86-64-${level})
    endif()
  endforeach()
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  # The first level is all: the compiler's default asks at run time for atomics of one instruction.
  isa_level(v8 armv8-a)
else()
  isa_level(first baseline)
endif()

set(KERNEL_ALIGNMENT "")
foreach(option -falign-functions=64 -falign-loops=16)
  string(MAKE_C_IDENTIFIER ${option} known)
  check_c_compiler_flag(${option} TANDEM_TAKES${known})
  if(TANDEM_TAKES${known})
    list(APPEND KERNEL_ALIGNMENT ${option})
  endif()
endforeach()

set(ISA_FOLDER ${CMAKE_BINARY_DIR}/generated)
file(CONFIGURE OUTPUT ${ISA_FOLDER}/isa_levels.def CONTENT "${ISA_TABLE}")
target_include_directories(tandem_flags INTERFACE ${ISA_FOLDER})
