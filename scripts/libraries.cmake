# Libraries that make reports and descriptions better. Each is used where it is found, unless its option is off; one
# source file knows it, so that a build without it differs in that file alone. Sets TANDEM_HAVE_LIBDW, TANDEM_HAVE_HWLOC.
option(TANDEM_LIBDW "Name file and line in the emulator's reports with elfutils' libdw, where it is installed" ON)
option(TANDEM_HWLOC "Describe cores, caches and memory nodes with hwloc, where it is installed" ON)

function(tandem_found_library name source include)
  set(TANDEM_HAVE_${name} ON PARENT_SCOPE)
  set_source_files_properties(${CMAKE_SOURCE_DIR}/${source} PROPERTIES
    COMPILE_DEFINITIONS TANDEM_HAVE_${name} INCLUDE_DIRECTORIES ${include})
  target_link_libraries(tandem_flags INTERFACE ${ARGN})
endfunction()

if(TANDEM_LIBDW)
  find_path(DW_INCLUDE elfutils/libdwfl.h)
  find_library(DW_LIBRARY dw)
  find_library(ELF_LIBRARY elf)
  if(DW_INCLUDE AND DW_LIBRARY AND ELF_LIBRARY)
    tandem_found_library(LIBDW src/device/emulator/debug_lines.c ${DW_INCLUDE} ${DW_LIBRARY} ${ELF_LIBRARY})
  endif()
endif()
if(TANDEM_HWLOC)
  find_path(HWLOC_INCLUDE hwloc.h)
  find_library(HWLOC_LIBRARY hwloc)
  if(HWLOC_INCLUDE AND HWLOC_LIBRARY)
    tandem_found_library(HWLOC src/base/processors.c ${HWLOC_INCLUDE} ${HWLOC_LIBRARY})
  endif()
endif()
