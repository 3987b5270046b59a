# SPDX-License-Identifier: BSD-3-Clause
# The engine's objects and libmpi_abi.so.1. The layers that mpiexec shares (plat, job, watch) are
# apart from the rest, so that the launcher can take them without the engine.
file(GLOB shoal_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/*/*.c
     ${PROJECT_SOURCE_DIR}/src/*/*/*.c)
list(FILTER shoal_sources EXCLUDE REGEX "_test\\.c$")
set(shoal_base_sources ${shoal_sources})
list(FILTER shoal_base_sources INCLUDE REGEX "/src/(plat|job|watch)/")
list(FILTER shoal_sources EXCLUDE REGEX "/src/(plat|job|watch)/")

# The loops over data: vectorised in full, and without contraction, so that a reduction gives the
# same bits on every machine.
set_source_files_properties(
  ${PROJECT_SOURCE_DIR}/src/core/op_integer.c ${PROJECT_SOURCE_DIR}/src/core/op_float.c
  ${PROJECT_SOURCE_DIR}/src/core/op_pair.c ${PROJECT_SOURCE_DIR}/src/core/op_test.c
  ${PROJECT_SOURCE_DIR}/src/core/datatype_cursor.c
  PROPERTIES COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-O3>;-ffp-contract=off")

# Small structures are cleared by plain stores: the string instructions that gcc would take need
# longer to begin than the stores need altogether.
set(shoal_clearing -mmemset-strategy=vector_loop:512:noalign,libcall:-1:noalign)
include(CheckCCompilerFlag)
check_c_compiler_flag(${shoal_clearing} SHOAL_HAS_CLEARING)
if(NOT SHOAL_HAS_CLEARING)
  set(shoal_clearing)
endif()

function(shoal_objects name)
  add_library(${name} OBJECT ${ARGN})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_BINARY_DIR}/include ${SHOAL_GENERATED_DIR})
  target_compile_options(${name} PRIVATE -fvisibility=hidden -fno-semantic-interposition
                         ${shoal_clearing})
  target_link_libraries(${name} PUBLIC shoal_flags)
  add_dependencies(${name} shoal_generate)
endfunction()

shoal_objects(shoal_base ${shoal_base_sources})
shoal_objects(shoal_engine ${shoal_sources} ${SHOAL_GENERATED_DIR}/twins.c
              ${SHOAL_GENERATED_DIR}/unsupported.c ${SHOAL_GENERATED_DIR}/unsupported_names.c
              ${SHOAL_GENERATED_DIR}/engine_table.c)

add_library(mpi_abi SHARED $<TARGET_OBJECTS:shoal_base> $<TARGET_OBJECTS:shoal_engine>)
# The file carries the SONAME; libmpi_abi.so is the link that -lmpi_abi finds.
set_target_properties(mpi_abi PROPERTIES VERSION 1 SOVERSION 1 LINKER_LANGUAGE C
                      LINK_DEPENDS ${SHOAL_GENERATED_DIR}/libmpi_abi.map)
target_link_libraries(mpi_abi PRIVATE shoal_flags m)
target_include_directories(mpi_abi INTERFACE ${PROJECT_BINARY_DIR}/include)
target_link_options(mpi_abi PRIVATE -Wl,--version-script=${SHOAL_GENERATED_DIR}/libmpi_abi.map
                    -Wl,-Bsymbolic-functions -Wl,--as-needed)
if(NOT SHOAL_SANITIZE)
  # With sanitizers some names come from the program's runtime.
  target_link_options(mpi_abi PRIVATE -Wl,-z,defs)
endif()
add_dependencies(mpi_abi shoal_generate)

# The same objects as archives, from which mpiexec and the unit tests take only what they use: a
# layer can be tested before the layers above it are whole.
function(shoal_archive name objects)
  add_library(${name} STATIC $<TARGET_OBJECTS:${objects}>)
  set_target_properties(${name} PROPERTIES LINKER_LANGUAGE C)
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src
                             ${PROJECT_BINARY_DIR}/include ${SHOAL_GENERATED_DIR})
  target_link_libraries(${name} PUBLIC shoal_flags m)
endfunction()
shoal_archive(shoal_base_archive shoal_base)
shoal_archive(shoal_engine_archive shoal_engine)
target_link_libraries(shoal_engine_archive PUBLIC shoal_base_archive)
