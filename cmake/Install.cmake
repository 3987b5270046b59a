# SPDX-License-Identifier: BSD-3-Clause
# bin/{mpiexec,mpirun,mpicc,mpicxx}, lib/libmpi_abi.so{,.1}, lib/libmpi.so{,.12}, include/mpi.h, lib/pkgconfig, man pages.
# The library directory is plain "lib": the wrappers and mpi4py's wheel look there.
#
# A wheel (SKBUILD) cannot hold symbolic links. There libmpi_abi.so, which only linkers read, is a
# linker script, so that the engine can not be loaded under two names; libmpi.so, which programs open
# too, is a second copy of the thin door; and mpirun is a second copy of mpiexec.
set(root "")
if(SKBUILD)
  set(root "${SKBUILD_DATA_DIR}/")
endif()

install(FILES ${PROJECT_BINARY_DIR}/include/mpi.h DESTINATION ${root}include)
install(PROGRAMS ${PROJECT_BINARY_DIR}/bin/mpicc ${PROJECT_BINARY_DIR}/bin/mpicxx DESTINATION ${root}bin)
install(FILES ${PROJECT_BINARY_DIR}/lib/pkgconfig/shoal.pc
              ${PROJECT_BINARY_DIR}/lib/pkgconfig/mpi_abi.pc DESTINATION ${root}lib/pkgconfig)
install(TARGETS mpiexec RUNTIME DESTINATION ${root}bin)
if(SKBUILD)
  install(TARGETS mpi_abi mpi LIBRARY DESTINATION ${root}lib NAMELINK_SKIP)
  file(WRITE ${PROJECT_BINARY_DIR}/wheel/libmpi_abi.so
       "/* GNU ld script: link with the library that carries the name programs keep. */\n"
       "INPUT(libmpi_abi.so.1)\n")
  install(FILES ${PROJECT_BINARY_DIR}/wheel/libmpi_abi.so DESTINATION ${root}lib)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/python/shoal.sh DESTINATION ${root}bin RENAME shoal)
  # After the targets, so that the copies are stripped as they are.
  install(CODE "
    file(COPY_FILE \$ENV{DESTDIR}${root}lib/libmpi.so.12
         \$ENV{DESTDIR}${root}lib/libmpi.so)
    file(COPY_FILE \$ENV{DESTDIR}${root}bin/mpiexec
         \$ENV{DESTDIR}${root}bin/mpirun)")
else()
  install(TARGETS mpi_abi mpi LIBRARY DESTINATION ${root}lib)
  install(FILES ${PROJECT_BINARY_DIR}/bin/mpirun DESTINATION ${root}bin)
endif()
file(GLOB manpages CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tools/*.1
     ${PROJECT_SOURCE_DIR}/mpiexec/*.1)
install(FILES ${manpages} DESTINATION ${root}share/man/man1)
