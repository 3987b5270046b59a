# SPDX-License-Identifier: BSD-3-Clause
"""Messages from one rank to another: any Python object, or the bytes of an array.

Lower-case calls (send, recv) pickle whatever they are given. Upper-case ones (Send, Recv) move the memory of an
array as it is, which is many times faster for large ones; the receiver brings a buffer of the right size.

mpiexec -n 9 python p2p.py
"""

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank = comm.rank
if comm.size < 9:
    raise SystemExit("p2p.py wants nine ranks: mpiexec -n 9 python p2p.py")

# Two conversations at once, which do not notice each other.
if rank == 0:
    comm.send(10_000_000, dest=4)
    print("rank 0 sent a number to rank 4")
elif rank == 4:
    print(f"rank 4 received {comm.recv(source=0)}")
elif rank == 1:
    comm.send({"greeting": "hello", "from": rank}, dest=8)
    print("rank 1 sent a dictionary to rank 8")
elif rank == 8:
    print(f"rank 8 received {comm.recv(source=1)}")

# A message can carry a tag, and the receiver can take the second one first.
if rank == 2:
    comm.send("came first", dest=3, tag=11)
    comm.send("came second", dest=3, tag=22)
elif rank == 3:
    later = comm.recv(source=2, tag=22)
    earlier = comm.recv(source=2, tag=11)
    print(f"rank 3 took tag 22 ({later}) before tag 11 ({earlier})")

# An array, without pickling.
if rank == 5:
    comm.Send(np.arange(10, dtype="i"), dest=6, tag=7)
elif rank == 6:
    numbers = np.empty(10, dtype="i")
    comm.Recv(numbers, source=5, tag=7)
    print(f"rank 6 received an array with the sum {numbers.sum()}")

# From anyone: the status says who it was.
if rank == 7:
    comm.send("who am I?", dest=0)
elif rank == 0:
    status = MPI.Status()
    question = comm.recv(source=MPI.ANY_SOURCE, status=status)
    print(f"rank 0 heard {question!r} from rank {status.Get_source()}")
