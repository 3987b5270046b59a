# SPDX-License-Identifier: BSD-3-Clause
# Language, warnings, build type, sanitizers and where the build puts its products.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(SHOAL_SANITIZE "" CACHE STRING "Sanitizers to build with: empty, address,undefined or thread")
option(SHOAL_WERROR "Treat warnings as errors" ON)

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)

set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/archives)

# An interface target that every target of ours links with.
add_library(shoal_flags INTERFACE)
target_compile_options(shoal_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion)
if(SHOAL_WERROR)
  target_compile_options(shoal_flags INTERFACE -Werror)
endif()
target_compile_definitions(shoal_flags INTERFACE _GNU_SOURCE SHOAL_VERSION="${PROJECT_VERSION}")
target_link_libraries(shoal_flags INTERFACE Threads::Threads)
if(SHOAL_SANITIZE)
  # Assertions stay on here, whatever the build type says.
  target_compile_options(shoal_flags INTERFACE -UNDEBUG)
  set(flags -fsanitize=${SHOAL_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(shoal_flags INTERFACE ${flags})
  target_link_options(shoal_flags INTERFACE ${flags})
  if(SHOAL_SANITIZE MATCHES "thread" AND CMAKE_C_COMPILER_ID STREQUAL "GNU")
    # TSan does not follow fences, and gcc says so at each one.
    target_compile_options(shoal_flags INTERFACE -Wno-tsan)
  endif()
endif()
