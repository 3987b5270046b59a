# SPDX-License-Identifier: BSD-3-Clause
"""Errors that end the job: the exit status is the error class, the text names call and cause."""

import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = r"""
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    MPI_Session session;
    MPI_Group group;
    MPI_Info info = MPI_INFO_NULL;
    void *value;
    int flag, which = argc > 1 ? atoi(argv[1]) : 0;
    if (which == 0) MPI_Info_free(&info);
    MPI_Init(NULL, NULL);
    switch (which) {
    case 1: MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG); break;
    case 2:
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ABORT);
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);
        break;
    case 3: MPI_Comm_get_attr(MPI_COMM_WORLD, 77, &value, &flag); break;
    case 4:
        MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
        MPI_Group_from_session_pset(session, "nowhere", &group);
        break;
    case 5:
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_SUCCESS);
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        MPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_TAG);
        MPI_Finalize();
        return 0;
    }
    puts("survived");
    return 99;
}
"""

# which, exit status, words that the text must have
CASES = [
    (0, 34, ["MPI_ERR_INFO", "MPI_Info_free", "null handle"]),
    (1, 4, ["MPI_ERR_TAG", "MPI_Comm_call_errhandler"]),
    (2, 4, ["MPI_ERR_TAG", "MPI_Comm_call_errhandler"]),
    (3, 36, ["MPI_ERR_KEYVAL", "MPI_Comm_get_attr", "77", "MPI_COMM_WORLD"]),
    (4, 13, ["MPI_ERR_ARG", "MPI_Group_from_session_pset", "nowhere"]),
    (5, 0, []),
]


def sanitizer_flags(build):
    """A build with sanitizers needs their runtime in the program too."""
    needed = (build / "lib/libmpi_abi.so.1").read_bytes()
    if b"libasan.so" in needed:
        return ["-fsanitize=address,undefined"]
    return ["-fsanitize=thread"] if b"libtsan.so" in needed else []


def main():
    build = pathlib.Path(os.environ.get("SHOAL_BUILD") or sys.argv[1])
    failures = 0
    with tempfile.TemporaryDirectory() as folder:
        source, program = pathlib.Path(folder, "fatal.c"), pathlib.Path(folder, "fatal")
        source.write_text(PROGRAM, encoding="utf-8")
        command = [build / "bin/mpicc", *sanitizer_flags(build), "-o", program, source]
        subprocess.run(command, check=True)
        for which, status, words in CASES:
            ran = subprocess.run([program, str(which)], capture_output=True, text=True, timeout=30)
            missing = [w for w in words if w not in ran.stderr]
            if ran.returncode != status or missing or "survived" in ran.stdout:
                failures += 1
                print(f"case {which}: status {ran.returncode} (expected {status}), "
                      f"missing {missing}, said: {ran.stderr}")
    return failures != 0


if __name__ == "__main__":
    sys.exit(main())
