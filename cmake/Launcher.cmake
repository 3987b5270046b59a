# SPDX-License-Identifier: BSD-3-Clause
# mpiexec and its other name, mpirun. main.c is apart from the rest, which the unit tests link.
file(GLOB mpiexec_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mpiexec/*.c)
list(FILTER mpiexec_sources EXCLUDE REGEX "_test\\.c$")
set(mpiexec_main ${PROJECT_SOURCE_DIR}/mpiexec/main.c)
list(REMOVE_ITEM mpiexec_sources ${mpiexec_main})

if(EXISTS ${mpiexec_main})
  shoal_objects(mpiexec_objects ${mpiexec_sources} ${SHOAL_GENERATED_DIR}/unsupported_names.c)
  file(READ ${PROJECT_SOURCE_DIR}/abi/mpi-abi.json table)
  string(JSON function_count LENGTH "${table}" functions)
  target_compile_definitions(mpiexec_objects PRIVATE SHOAL_FUNCTION_COUNT=${function_count})
  add_executable(mpiexec ${mpiexec_main} $<TARGET_OBJECTS:mpiexec_objects>)
  target_link_libraries(mpiexec PRIVATE mpiexec_objects shoal_base_archive)
  add_custom_command(TARGET mpiexec POST_BUILD
                     COMMAND ${CMAKE_COMMAND} -E create_symlink mpiexec
                             ${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/mpirun)
endif()
