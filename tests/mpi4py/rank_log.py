# SPDX-License-Identifier: BSD-3-Clause
"""What run_suite.py starts as each rank: sends the rank's output to a file of its own, then runs the script.

usage: rank_log.py DIRECTORY SCRIPT ARGUMENTS...
"""

import os
import runpy
import sys

rank = os.environ.get("PMI_RANK") or os.environ.get("OMPI_COMM_WORLD_RANK") or "0"
log = os.open(os.path.join(sys.argv[1], f"{rank}.log"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
os.dup2(log, 1)
os.dup2(log, 2)
sys.argv = sys.argv[2:]
sys.path[0] = os.path.dirname(sys.argv[0])
runpy.run_path(sys.argv[0], run_name="__main__")
