# SPDX-License-Identifier: BSD-3-Clause
"""The four ways to send, each blocking and not.

standard     returns when the data may be changed; the library decides whether to buffer
buffered     always copies into a buffer that you attach, and returns at once
synchronous  returns when the receiver has begun to take the message
ready        promises that the receiver waits already, and may save a step

mpiexec -n 2 python modes.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
if comm.size != 2:
    raise SystemExit("modes.py wants two ranks: mpiexec -n 2 python modes.py")
other = 1 - comm.rank
MODES = {
    "standard": ("Send", "Isend"),
    "buffered": ("Bsend", "Ibsend"),
    "synchronous": ("Ssend", "Issend"),
    "ready": ("Rsend", "Irsend"),
}

room = bytearray(1 << 16)
MPI.Attach_buffer(room)
for number, (mode, (blocking, nonblocking)) in enumerate(MODES.items()):
    out = np.full(4, number, dtype="i")
    into = np.empty(4, dtype="i")
    for call in (blocking, nonblocking):
        if comm.rank == 1:
            request = comm.Irecv(into, source=0, tag=number)
            comm.Barrier()  # now the receive is posted, which ready mode relies on
            request.Wait()
            print(f"{mode:<12} {call:<7} received {into.tolist()}")
        else:
            comm.Barrier()
            pending = getattr(comm, call)(out, dest=1, tag=number)
            if pending is not None:
                pending.Wait()  # until here `out` must not be changed
MPI.Detach_buffer()

# Objects have the same modes, in lower case; a non-blocking receive gives its object to wait().
request = comm.isend({"rank": comm.rank}, dest=other)
message = comm.irecv(source=other).wait()
request.wait()
print(f"rank {comm.rank} received {message}")
