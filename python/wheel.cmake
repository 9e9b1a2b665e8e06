# What `pip install .` puts into the wheel beside the Python sources: the shared library, without a version in its name.
#
# CUDA kernels only if asked for (TANDEM_WHEEL_CUDA=ON in the environment of pip, or -Ccmake.define.TANDEM_CUDA=ON), then
# for every GPU from Turing on, and PTX for later ones. In the cache: an ordinary variable would be lost when
# scripts/cuda.cmake declares the cached one.
if(NOT TANDEM_CUDA_ARCHS)
  set(TANDEM_CUDA_ARCHS "75-real;80-real;86-real;89-real;90-real;100" CACHE STRING "GPU architectures of the wheel" FORCE)
endif()

# Tests package a library that is built already: -Ccmake.define.TANDEM_PREBUILT=build/libtandem.so
function(tandem_wheel_prebuilt library)
  get_filename_component(real ${library} REALPATH)
  add_custom_target(tandem_wheel)
  install(FILES ${real} DESTINATION tandem RENAME libtandem.so COMPONENT python)
endfunction()

function(tandem_wheel_built)
  add_library(tandem_wheel SHARED ${TANDEM_OBJECTS})
  set_target_properties(tandem_wheel PROPERTIES OUTPUT_NAME tandem LINKER_LANGUAGE C NO_SONAME ON
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/wheel)
  target_link_libraries(tandem_wheel PRIVATE tandem_flags)
  install(TARGETS tandem_wheel LIBRARY DESTINATION tandem COMPONENT python)
endfunction()
