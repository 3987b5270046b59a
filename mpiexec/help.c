// SPDX-License-Identifier: BSD-3-Clause
// --help and --version.
#include "help.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static const char text[] =
    "usage: mpiexec [options] program [arguments] [: [options] program [arguments]] ...\n"
    "\n"
    "Programs\n"
    "  -n N, -np N             ranks of this program (default: one for each usable core)\n"
    "  -wdir DIR               directory in which it runs\n"
    "  -path DIRS              searched for the program before PATH\n"
    "  -env NAME VALUE         a variable for this program; -genv: for all programs\n"
    "  -x NAME[=VALUE]         the same, in Open MPI's words\n"
    "  -envall, -envnone, -envlist A,B    which variables are passed on (default: all)\n"
    "  -configfile FILE        one program with its options on each line\n"
    "\n"
    "Machine\n"
    "  -host NAMES, -hostfile FILE    only this machine may be named; NAME:4 gives it 4 slots\n"
    "  -bind-to UNIT           none, hwthread, core, numa or socket; core:2 gives each rank two\n"
    "  -map-by UNIT            the order in which ranks get their units: slot, core, numa, socket\n"
    "  -report-bindings        tell which rank got what\n"
    "\n"
    "Input and output\n"
    "  -l, -label              each line starts with its rank: [3] ...\n"
    "  -outfile-pattern NAME   stdout into files; %r is the rank (-errfile-pattern: stderr)\n"
    "  -stdin RANK|all|none    who gets stdin (default: rank 0)\n"
    "\n"
    "How it ends\n"
    "  -timeout SECONDS        end the job after this time, with status 124\n"
    "  -on-deadlock=abort|report|ignore    when every rank waits and nothing is under way\n"
    "  -disable-auto-cleanup   a rank that fails does not end the others\n"
    "  -print-all-exitcodes    how each rank ended\n"
    "\n"
    "  -quiet, -verbose, -version, -help\n"
    "  -info                   what the library is and what it found on this machine\n"
    "\n"
    "All options work with one dash or two, and with = or a space before the value. Those of\n"
    "MPICH's and Open MPI's mpiexec that have a meaning on one machine are understood as well.\n"
    "Exit status: the first that is not 0 of a rank, 128 + signal if it was killed, 86 for a\n"
    "deadlock, 124 for a timeout. More: man mpiexec.\n";

void shoal_help_print(void)
{
    fputs(text, stdout);
    exit(fflush(stdout) == 0 ? 0 : 1);
}

void shoal_help_version(void)
{
    printf("mpiexec (Shoal) " SHOAL_VERSION ", MPI %d.%d, standard ABI %d.%d\n", MPI_VERSION,
           MPI_SUBVERSION, MPI_ABI_VERSION, MPI_ABI_SUBVERSION);
    exit(fflush(stdout) == 0 ? 0 : 1);
}
