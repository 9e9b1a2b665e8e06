# The emulator's kernels: one unit per program, as for the cpu, compiled with the compiler's thread
# instrumentation, whose calls src/device/emulator/watch.c answers instead of the sanitizer's library. A build
# with a sanitizer of its own has no watch.
option(TANDEM_EMULATOR_WATCH "Watch every access that emulated kernels make to memory" ON)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  set(WITHOUT_CALLS --param=tsan-instrument-func-entry-exit=0)
else()
  set(WITHOUT_CALLS -mllvm -tsan-instrument-func-entry-exit=0)
endif()
set(EMULATOR_FLAGS "")
if(TANDEM_EMULATOR_WATCH AND NOT TANDEM_SANITIZE)
  # Calls at a function's begin and end are of no use here.
  set(EMULATOR_FLAGS -fsanitize=thread ${WITHOUT_CALLS})
  target_compile_definitions(tandem_flags INTERFACE TANDEM_EMULATOR_WATCH)
elseif(TANDEM_SANITIZE MATCHES thread)
  # Fibers are one thread to the sanitizer, whose stack of calls would not survive a switch between them.
  set(EMULATOR_FLAGS ${WITHOUT_CALLS})
  file(GLOB EMULATOR_SOURCES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/device/emulator/*.c)
  set_source_files_properties(${EMULATOR_SOURCES} PROPERTIES COMPILE_OPTIONS "${EMULATOR_FLAGS}")
endif()

# Unrolling loops of more instructions than this doubles the compiler's time for sssp. With a much lower limit arrays of a
# thread stay in memory, where their accesses count.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND EMULATOR_FLAGS --param=max-completely-peeled-insns=150)
endif()

# Sources with kernels for the emulator.
function(tandem_emulator_kernels)
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS "${EMULATOR_FLAGS}")
endfunction()

if(EXISTS ${CMAKE_SOURCE_DIR}/src/kernels/gpu/instance.h)
  foreach(name ${PROGRAM_NAMES})
    set(unit ${CMAKE_BINARY_DIR}/programs/emulator_${name}.c)
    file(CONFIGURE OUTPUT ${unit} CONTENT
      "#include \"programs/${name}.h\"\n#define PROGRAM_SYMBOL td_emulator_${name}\n#include \"kernels/gpu/instance.h\"\n")
    list(APPEND TANDEM_SOURCES ${unit})
    tandem_emulator_kernels(${unit})
  endforeach()
endif()

# Topologies and cost models are found in the source tree and where they are installed.
set_source_files_properties(src/base/data_files.c PROPERTIES COMPILE_DEFINITIONS
  "TANDEM_SOURCE_SHARE=\"${CMAKE_SOURCE_DIR}/share\";TANDEM_INSTALLED_SHARE=\"${CMAKE_INSTALL_FULL_DATADIR}/tandem\"")
install(DIRECTORY share/topologies share/models DESTINATION ${CMAKE_INSTALL_DATADIR}/tandem)
