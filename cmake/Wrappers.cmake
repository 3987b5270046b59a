# SPDX-License-Identifier: BSD-3-Clause
# mpicc and mpicxx: one shell script that finds its prefix by itself, so that the same file serves
# in the build tree, in an installation and in a copy of it. pkg-config files are relocatable too.
foreach(wrapper mpicc mpicxx)
  if(wrapper STREQUAL "mpicc")
    set(SHOAL_WRAPPER_LANGUAGE c)
  else()
    set(SHOAL_WRAPPER_LANGUAGE cxx)
  endif()
  configure_file(${PROJECT_SOURCE_DIR}/tools/mpicc.in ${PROJECT_BINARY_DIR}/bin/${wrapper} @ONLY
                 FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
                                  WORLD_READ WORLD_EXECUTE)
endforeach()
foreach(package shoal mpi_abi)
  configure_file(${PROJECT_SOURCE_DIR}/tools/${package}.pc.in
                 ${PROJECT_BINARY_DIR}/lib/pkgconfig/${package}.pc @ONLY)
endforeach()
