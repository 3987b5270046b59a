# SPDX-License-Identifier: BSD-3-Clause
# libmpi.so.12, the MPICH ABI: generated functions and what abi/mpich/ has by hand, in front of the
# engine in libmpi_abi.so.1, which it finds beside itself.
set(mpich_generated ${SHOAL_GENERATED})
list(FILTER mpich_generated INCLUDE REGEX "/generated/mpich/.*\\.c$")

add_library(mpi SHARED ${SHOAL_MPICH_SOURCES} ${mpich_generated})
set_target_properties(mpi PROPERTIES VERSION 12 SOVERSION 12 INSTALL_RPATH "\$ORIGIN"
                      BUILD_WITH_INSTALL_RPATH ON
                      LINK_DEPENDS ${SHOAL_GENERATED_DIR}/libmpi.map)
target_include_directories(mpi PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/abi
                           ${SHOAL_GENERATED_DIR} ${PROJECT_BINARY_DIR}/include)
target_compile_options(mpi PRIVATE -fno-semantic-interposition)
target_link_libraries(mpi PRIVATE shoal_flags mpi_abi)
target_link_options(mpi PRIVATE -Wl,--version-script=${SHOAL_GENERATED_DIR}/libmpi.map
                    -Wl,-Bsymbolic-functions -Wl,--enable-new-dtags)
if(NOT SHOAL_SANITIZE)
  target_link_options(mpi PRIVATE -Wl,-z,defs)
endif()
add_dependencies(mpi shoal_generate)
