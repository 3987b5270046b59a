#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# The wrappers as build systems use them: from the build tree, from an installation, and from a
# copy of it in a directory with a space in its name. Usage: wrappers_test.sh BUILD
set -eu
build=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail()
{
    echo "wrappers_test: $*" >&2
    exit 1
}

cat >"$work/prog.c" <<'EOF'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int major = 0, minor = 0;
    int err = MPI_Get_version(&major, &minor);
    printf("%d %d\n", err, MPI_ABI_VERSION);
    return 0;
}
EOF
cp "$work/prog.c" "$work/prog.cc"

# A build with sanitizers needs their runtime in the program too.
flags=
case $(readelf -d "$build/lib/libmpi_abi.so.1") in
*libasan*) flags="-fsanitize=address,undefined" ;;
*libtsan*) flags="-fsanitize=thread" ;;
esac

check_tree()
{
    bin=$1/bin
    "$bin/mpicc" $flags -o "$work/c" "$work/prog.c"
    "$work/c" >/dev/null || fail "the program of $bin/mpicc does not run"
    readelf -d "$work/c" | grep -q "RUNPATH.*\[$(readlink -f "$1")/lib\]" || fail "no RUNPATH"
    "$bin/mpicc" -c -o "$work/prog.o" "$work/prog.c"
    "$bin/mpicc" $flags "$work/prog.o" -o "$work/c2"
    "$work/c2" >/dev/null || fail "a program linked in two steps does not run"
    if command -v c++ >/dev/null; then
        "$bin/mpicxx" $flags -o "$work/cxx" "$work/prog.cc"
        "$work/cxx" >/dev/null || fail "the program of $bin/mpicxx does not run"
    fi
    "$bin/mpicc" -show | grep -q -e -lmpi_abi || fail "-show without -lmpi_abi"
    "$bin/mpicc" -show -c x.c | grep -q -e -lmpi_abi && fail "-show -c with -lmpi_abi"
    "$bin/mpicc" -showme:compile | grep -q -e -I || fail "-showme:compile"
    "$bin/mpicc" -showme:link | grep -q -e -lmpi_abi || fail "-showme:link"
    "$bin/mpicc" -compile_info | grep -q -e -I || fail "-compile_info"
    "$bin/mpicc" -link_info | grep -q -e -lmpi_abi || fail "-link_info"
    [ "$("$bin/mpicc" -showme:command)" = cc ] || fail "-showme:command"
    [ "$(SHOAL_CC=gcc "$bin/mpicc" -showme:command)" = gcc ] || fail "SHOAL_CC"
    [ "$("$bin/mpicc" -cc=gcc -showme:command)" = gcc ] || fail "-cc="
    "$bin/mpicc" -show "-DX=a b" x.c | grep -q "'-DX=a b'" || fail "-show does not quote"
    "$bin/mpicc" -showme:nonsense 2>/dev/null && fail "-showme:nonsense is accepted"
    return 0
}

check_tree "$build"
cmake --install "$build" --prefix "$work/inst" >/dev/null
for file in bin/mpicc bin/mpicxx lib/libmpi_abi.so.1 lib/libmpi_abi.so include/mpi.h \
    lib/pkgconfig/mpi_abi.pc lib/pkgconfig/shoal.pc share/man/man1/mpicc.1; do
    [ -e "$work/inst/$file" ] || fail "not installed: $file"
done
if [ -e "$build/bin/mpiexec" ]; then
    [ -x "$work/inst/bin/mpiexec" ] && [ -x "$work/inst/bin/mpirun" ] || fail "no mpiexec"
fi
check_tree "$work/inst"
mv "$work/inst" "$work/moved here"
check_tree "$work/moved here"
if command -v pkg-config >/dev/null; then
    PKG_CONFIG_PATH="$work/moved here/lib/pkgconfig" pkg-config --libs shoal |
        grep -q -e -lmpi_abi || fail "pkg-config"
fi
echo "wrappers: ok"
