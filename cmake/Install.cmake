# SPDX-License-Identifier: BSD-3-Clause
# bin/{mpiexec,mpirun,mpicc,mpicxx}, lib/libmpi_abi.so{,.1}, lib/libmpi.so{,.12}, include/mpi.h, lib/pkgconfig, man pages.
# The library directory is plain "lib": the wrappers and mpi4py's wheel look there.
install(TARGETS mpi_abi mpi LIBRARY DESTINATION lib)
install(FILES ${PROJECT_BINARY_DIR}/include/mpi.h DESTINATION include)
install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/mpicc ${PROJECT_BINARY_DIR}/bin/mpicxx DESTINATION bin)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/shoal.pc
              ${PROJECT_BINARY_DIR}/lib/pkgconfig/mpi_abi.pc DESTINATION lib/pkgconfig)
if(TARGET mpiexec)
  install(TARGETS mpiexec RUNTIME DESTINATION bin)
  install(FILES ${PROJECT_BINARY_DIR}/bin/mpirun DESTINATION bin)
endif()
file(GLOB manpages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.1
     ${PROJECT_SOURCE_DIR}/mpiexec/*.1)
install(FILES ${manpages} DESTINATION share/man/man1)
