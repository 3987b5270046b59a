# SPDX-License-Identifier: BSD-3-Clause
# Unit tests: each src/**/X_test.c and mpiexec/X_test.c is a program of its own, linked with the
# parts it tests. The programs of tests/ are declared in tests/CMakeLists.txt.
function(shoal_unit_test source)
  file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR} ${source})
  string(REGEX REPLACE "^src/|\\.c$" "" name ${name})
  string(REPLACE "/" "." name ${name})
  add_executable(${name} ${source})
  set_target_properties(${name} PROPERTIES
                        RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/unit)
  target_link_libraries(${name} PRIVATE ${ARGN})
  add_dependencies(${name} shoal_generate)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES TIMEOUT 120 LABELS unit)
endfunction()

file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*_test.c
     ${PROJECT_SOURCE_DIR}/src/*/*/*_test.c)
foreach(source IN LISTS unit_tests)
  shoal_unit_test(${source} shoal_engine_archive)
endforeach()

file(GLOB unit_tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/mpiexec/*_test.c)
foreach(source IN LISTS unit_tests)
  if(TARGET mpiexec_objects)
    shoal_unit_test(${source} mpiexec_objects shoal_base_archive)
  endif()
endforeach()

# No include points upward between the layers: checked by the build itself and by ctest.
set(check_layers Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/tools/check_layers.py
    ${PROJECT_SOURCE_DIR})
file(GLOB layered CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.[ch]
     ${PROJECT_SOURCE_DIR}/src/*/*/*.[ch] ${PROJECT_SOURCE_DIR}/mpiexec/*.[ch])
add_custom_command(
  OUTPUT ${PROJECT_BINARY_DIR}/layers.ok
  COMMAND ${check_layers}
  COMMAND ${CMAKE_COMMAND} -E touch ${PROJECT_BINARY_DIR}/layers.ok
  DEPENDS ${layered} ${PROJECT_SOURCE_DIR}/tools/check_layers.py
  COMMENT "Checking that no include points upward"
  VERBATIM)
add_custom_target(shoal_layers ALL DEPENDS ${PROJECT_BINARY_DIR}/layers.ok)
add_test(NAME tools.check_layers COMMAND ${check_layers})
