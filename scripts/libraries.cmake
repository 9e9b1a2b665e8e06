# Libraries for reports, descriptions, one partitioner and fast gzip. The build needs their headers alone: the tool loads them when
# it first needs them (src/base/library.h). One source file knows each, so that a build without it differs there alone.
option(TANDEM_LIBDW "Name file and line in the emulator's reports with elfutils' libdw, where it is installed" ON)
option(TANDEM_HWLOC "Describe cores, caches and memory nodes with hwloc, where it is installed" ON)
option(TANDEM_ISAL "Decode gzip with Intel's ISA-L, where it is installed" ON)
option(TANDEM_METIS "Cut graphs into fragments with METIS, where it is installed" ON)

# tandem_loaded_library(NAME HEADER SOURCE): where the header is found, sets TANDEM_HAVE_NAME and
# defines it for the source.
function(tandem_loaded_library name header source)
  find_path(${name}_INCLUDE ${header})
  if(TANDEM_${name} AND ${name}_INCLUDE)
    set(TANDEM_HAVE_${name} ON PARENT_SCOPE)
    set(place ${CMAKE_SOURCE_DIR}/${source})
    set_source_files_properties(${place} PROPERTIES COMPILE_DEFINITIONS TANDEM_HAVE_${name})
    if(NOT ${name}_INCLUDE IN_LIST CMAKE_C_IMPLICIT_INCLUDE_DIRECTORIES)
      set_source_files_properties(${place} PROPERTIES INCLUDE_DIRECTORIES ${${name}_INCLUDE})
    endif()
  endif()
endfunction()
tandem_loaded_library(LIBDW elfutils/libdwfl.h src/device/emulator/debug_lines.c)
tandem_loaded_library(HWLOC hwloc/distances.h src/base/processors.c) # a header of hwloc 2
tandem_loaded_library(METIS metis.h src/layout/partition_metis.c)
tandem_loaded_library(ISAL isa-l/igzip_lib.h src/store/isal.c)
target_link_libraries(tandem_flags INTERFACE ${CMAKE_DL_LIBS})
