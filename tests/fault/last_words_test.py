# SPDX-License-Identifier: BSD-3-Clause
"""Under a launcher of another make a fatal error is read before the launcher hears of the end.

Hydra looks at its ranks' PMI sockets and at their output in any order and drops what it has not read
when a rank aborts; so the rank must not abort before its report has been read.
"""

import os
import re
import select
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "launch"))
import launch  # noqa: E402

ANSWERS = {
    "init": "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0",
    "get_my_kvsname": "cmd=my_kvsname kvsname=kvs",
    "put": "cmd=put_result rc=0",
    "barrier_in": "cmd=barrier_out",
}
PATIENCE = 30  # seconds, for a machine that is very busy
MOMENT = 0.02  # in which a rank that does not wait would have aborted


class LastWords(unittest.TestCase):
    def test_report_is_read_before_the_abort(self):
        ours, theirs = socket.socketpair()
        env = dict(launch.clean_environment(), PMI_FD=str(theirs.fileno()), PMI_RANK="0", PMI_SIZE="1")
        program = [os.path.join(launch.PROGRAMS, "errors.fatal"), "rank"]
        with subprocess.Popen(
            program, env=env, pass_fds=[theirs.fileno()], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
        ) as rank:
            theirs.close()
            lines = ours.makefile("rw")
            while select.select([ours, rank.stderr], [], [], PATIENCE)[0] == [ours]:
                command = re.match(r"cmd=(\w+)", lines.readline())[1]
                self.assertNotEqual(command, "abort", "the abort came before the report")
                lines.write(ANSWERS[command] + "\n")
                lines.flush()
            self.assertEqual(select.select([ours], [], [], MOMENT)[0], [], "the abort did not wait")
            self.assertIn(b"shoal: rank 0: MPI_ERR_RANK: MPI_Send", rank.stderr.readline())
            self.assertIn("cmd=abort", lines.readline())
            lines.close()
            ours.close()
        self.assertNotEqual(rank.returncode, 0)


if __name__ == "__main__":
    launch.main()
