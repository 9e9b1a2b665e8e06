# CUDA: the devices' code in C, the kernels by nvcc, the runtime linked statically.
#
# Sets TANDEM_HAVE_CUDA, and adds to TANDEM_SOURCES what is compiled as C; the target tandem_cuda holds what nvcc
# compiles. Without CUDA, src/device/cuda_absent.c stands in for all of it.
set(TANDEM_CUDA AUTO CACHE STRING "GPUs through CUDA: AUTO (where nvcc and a GPU are found), ON or OFF")
set_property(CACHE TANDEM_CUDA PROPERTY STRINGS AUTO ON OFF)
set(TANDEM_CUDA_ARCHS "" CACHE STRING
  "GPU architectures to compile for, as in CMAKE_CUDA_ARCHITECTURES; empty: the GPU found and PTX, else 90 and PTX")

find_program(TANDEM_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
set(gpu_found OFF)
if(EXISTS /dev/nvidia0)
  set(gpu_found ON)
else()
  execute_process(COMMAND nvidia-smi -L OUTPUT_VARIABLE gpus ERROR_QUIET RESULT_VARIABLE failed)
  if("${failed}" STREQUAL "0" AND "${gpus}" MATCHES "GPU 0")
    set(gpu_found ON)
  endif()
endif()

set(TANDEM_HAVE_CUDA OFF)
if(TANDEM_CUDA STREQUAL "AUTO")
  if(TANDEM_NVCC AND gpu_found)
    set(TANDEM_HAVE_CUDA ON)
  endif()
elseif(TANDEM_CUDA)
  if(NOT TANDEM_NVCC)
    message(FATAL_ERROR "TANDEM_CUDA is ON, but there is no nvcc; install the CUDA toolkit or name nvcc by CUDACXX")
  endif()
  set(TANDEM_HAVE_CUDA ON)
endif()

if(NOT TANDEM_HAVE_CUDA)
  list(FILTER TANDEM_SOURCES EXCLUDE REGEX "/src/device/cuda/")
  return()
endif()

# The GPU's own code, and PTX that later GPUs can compile. What "native" is, is asked here, once: a build
# folder may move to another machine.
if(TANDEM_CUDA_ARCHS)
  set(CMAKE_CUDA_ARCHITECTURES ${TANDEM_CUDA_ARCHS})
else()
  set(CMAKE_CUDA_ARCHITECTURES 90)
  if(gpu_found)
    execute_process(COMMAND nvidia-smi --query-gpu=compute_cap --format=csv,noheader OUTPUT_VARIABLE found ERROR_QUIET)
    string(REGEX MATCHALL "[0-9]+\\.[0-9]+" found "${found}")
    if(found)
      list(REMOVE_DUPLICATES found)
      string(REPLACE "." "" CMAKE_CUDA_ARCHITECTURES "${found}")
    endif()
  endif()
endif()
if(NOT DEFINED ENV{CUDACXX})
  set(CMAKE_CUDA_COMPILER ${TANDEM_NVCC})
endif()
enable_language(CUDA)
find_package(CUDAToolkit REQUIRED)
if(CUDAToolkit_VERSION VERSION_LESS 12)
  message(FATAL_ERROR "CUDA ${CUDAToolkit_VERSION} is too old; Tandem needs 12.0 or later")
endif()
message(STATUS "CUDA ${CUDAToolkit_VERSION}, for ${CMAKE_CUDA_ARCHITECTURES}")

list(FILTER TANDEM_SOURCES EXCLUDE REGEX "/src/device/cuda_absent\\.c$")
target_compile_definitions(tandem_flags INTERFACE TANDEM_HAVE_CUDA)
target_include_directories(tandem_flags SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
target_link_libraries(tandem_flags INTERFACE CUDA::cudart_static)

# nvcc's units: no exceptions and nothing else of the C++ runtime, so that a C program can link them. Sums are not
# contracted, as on the processor, so that devices round alike.
set(TANDEM_CUDA_OPTIONS -std=c++20 --fmad=false --expt-relaxed-constexpr -lineinfo
  -Xcompiler=-fno-exceptions,-fno-rtti,-fno-threadsafe-statics,-fvisibility=hidden,-Wall,-Wextra,-Wno-unused-function,-Wno-unused-parameter,-Wno-missing-field-initializers,-Wno-deprecated-enum-enum-conversion)
file(GLOB TANDEM_CUDA_SOURCES CONFIGURE_DEPENDS src/device/cuda/*.cu src/kernels/gpu/*.cu)

# One translation unit per program, as for the processor.
if(EXISTS ${CMAKE_SOURCE_DIR}/src/kernels/gpu/instance.h)
  foreach(name ${PROGRAM_NAMES})
    set(unit ${CMAKE_BINARY_DIR}/programs/cuda_${name}.cu)
    file(CONFIGURE OUTPUT ${unit} CONTENT
      "#include \"programs/${name}.h\"\n#define PROGRAM_SYMBOL td_cuda_${name}\n#include \"kernels/gpu/instance.h\"\n")
    list(APPEND TANDEM_CUDA_SOURCES ${unit})
  endforeach()
endif()
add_library(tandem_cuda OBJECT ${TANDEM_CUDA_SOURCES})
set_target_properties(tandem_cuda PROPERTIES POSITION_INDEPENDENT_CODE ON CUDA_SEPARABLE_COMPILATION OFF)
target_include_directories(tandem_cuda PRIVATE ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
target_compile_definitions(tandem_cuda PRIVATE _GNU_SOURCE NVTX_DISABLE)
target_compile_options(tandem_cuda PRIVATE ${TANDEM_CUDA_OPTIONS})
