# SPDX-License-Identifier: BSD-3-Clause
# mpi.h, the weak MPI_ names, the int twins, the stubs, the MPICH ABI's functions and the tests of
# both tables, written by abi/generate.py.
# It runs again whenever a file of src/api/ changes, because the stubs are what these files lack;
# it rewrites only what differs.
file(GLOB SHOAL_API_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/api/*.c)
list(FILTER SHOAL_API_SOURCES EXCLUDE REGEX "_test\\.c$")
file(GLOB SHOAL_MPICH_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/abi/mpich/*.c)
file(GLOB SHOAL_GENERATOR CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/abi/*.py
     ${PROJECT_SOURCE_DIR}/abi/*.json)

set(SHOAL_GENERATED_DIR ${PROJECT_BINARY_DIR}/generated)
set(SHOAL_GENERATED
    ${PROJECT_BINARY_DIR}/include/mpi.h
    ${SHOAL_GENERATED_DIR}/twins.c
    ${SHOAL_GENERATED_DIR}/unsupported.c
    ${SHOAL_GENERATED_DIR}/unsupported_names.c
    ${SHOAL_GENERATED_DIR}/unsupported_names.h
    ${SHOAL_GENERATED_DIR}/libmpi_abi.map
    ${SHOAL_GENERATED_DIR}/abi_table.c
    ${SHOAL_GENERATED_DIR}/abi_table.cc
    ${SHOAL_GENERATED_DIR}/engine_table.c
    ${SHOAL_GENERATED_DIR}/engine_table.h
    ${SHOAL_GENERATED_DIR}/libmpi.map
    ${SHOAL_GENERATED_DIR}/mpich_table.c
    ${SHOAL_GENERATED_DIR}/mpich/types.h
    ${SHOAL_GENERATED_DIR}/mpich/interface.h
    ${SHOAL_GENERATED_DIR}/mpich/convert.h)
foreach(part calls types files windows tools extensions)
  list(APPEND SHOAL_GENERATED ${SHOAL_GENERATED_DIR}/mpich/${part}.c)
endforeach()
foreach(source IN LISTS SHOAL_MPICH_SOURCES)
  get_filename_component(chapter ${source} NAME_WE)
  list(APPEND SHOAL_GENERATED ${SHOAL_GENERATED_DIR}/mpich/weak_${chapter}.h)
endforeach()
foreach(source IN LISTS SHOAL_API_SOURCES)
  get_filename_component(chapter ${source} NAME_WE)
  list(APPEND SHOAL_GENERATED ${SHOAL_GENERATED_DIR}/weak_${chapter}.h)
endforeach()

add_custom_command(
  OUTPUT ${SHOAL_GENERATED}
  COMMAND Python3::Interpreter -B ${PROJECT_SOURCE_DIR}/abi/generate.py
          --out ${PROJECT_BINARY_DIR} ${SHOAL_API_SOURCES} --mpich ${SHOAL_MPICH_SOURCES}
  DEPENDS ${SHOAL_GENERATOR} ${SHOAL_API_SOURCES} ${SHOAL_MPICH_SOURCES}
  COMMENT "Generating mpi.h, twins and stubs from abi/"
  VERBATIM)
add_custom_target(shoal_generate DEPENDS ${SHOAL_GENERATED})
