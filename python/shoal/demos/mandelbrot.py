# SPDX-License-Identifier: BSD-3-Clause
"""The Mandelbrot set by rows: scattered, computed, gathered, written as a PNG.

usage: mpiexec -n RANKS python mandelbrot.py FILE.png [WIDTH]
Rank 0 prints `progress PERCENT` while it works, and `seconds S` for the computation alone.
"""

from __future__ import annotations

import struct
import sys
import zlib

import numpy as np
from mpi4py import MPI

LIMIT = 300  # steps after which a point counts as inside
DONE = 1  # the tag of "I have finished some rows"
BLOCK = 8  # rows between two reports


def escape_times(row: int, width: int, height: int) -> np.ndarray:
    """For each point of a row: the step at which it runs away, smoothed; 0 if it stays."""
    x = np.linspace(-2.3, 0.8, width)
    y = (row / (height - 1) - 0.5) * 3.1 * height / width
    c = x + 1j * y
    z = np.zeros_like(c)
    times = np.zeros(width)
    alive = np.arange(width)
    for step in range(1, LIMIT):
        z = z * z + c
        size = z.real**2 + z.imag**2
        gone = size > 256.0
        if gone.any():
            times[alive[gone]] = step + 1 - np.log2(np.log2(size[gone]) / 2)
            stay = ~gone
            alive, z, c = alive[stay], z[stay], c[stay]
            if alive.size == 0:
                break
    return times


def colours(times: np.ndarray) -> np.ndarray:
    """Blue water, bright shore, dark inside: an RGB byte image."""
    t = np.sqrt(times / LIMIT)
    image = np.empty((*times.shape, 3))
    image[..., 0] = 9 * (1 - t) * t**2 + 0.25 * t
    image[..., 1] = 6 * (1 - t) ** 2 * t + 0.6 * t
    image[..., 2] = 0.25 + 3.5 * (1 - t) ** 3 * t + 0.5 * t
    image[times == 0] = (0.02, 0.03, 0.10)
    return (255 * np.clip(image, 0, 1)).astype(np.uint8)


def write_png(path: str, image: np.ndarray) -> None:
    """An 8-bit RGB image as a PNG file: signature, header, one compressed block, end."""
    height, width, _ = image.shape

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    rows = b"".join(b"\0" + image[y].tobytes() for y in range(height))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header))
        file.write(chunk(b"IDAT", zlib.compress(rows, 6)) + chunk(b"IEND", b""))


def report(comm: MPI.Comm, finished: int, rows: int) -> int:
    """Rank 0 adds up what the others have finished since it last looked, and tells."""
    while comm.iprobe(tag=DONE):
        finished += comm.recv(tag=DONE)
    print(f"progress {100 * finished // rows}", flush=True)
    return finished


def main() -> None:
    comm = MPI.COMM_WORLD
    path = sys.argv[1]
    width = int(sys.argv[2]) if len(sys.argv) > 2 else 1200
    height = width * 2 // 3
    # Neighbouring rows take alike long: dealt out like cards, everyone gets a fair hand.
    hands = [list(range(rank, height, comm.size)) for rank in range(comm.size)] if comm.rank == 0 else None
    start = MPI.Wtime()
    mine = comm.scatter(hands, root=0)
    finished, computed = 0, []
    for first in range(0, len(mine), BLOCK):
        block = mine[first : first + BLOCK]
        computed += [escape_times(row, width, height) for row in block]
        if comm.rank == 0:
            finished = report(comm, finished + len(block), height)
        else:
            comm.send(len(block), dest=0, tag=DONE)
    parts = comm.gather(np.array(computed), root=0)
    if comm.rank != 0:
        return
    seconds = MPI.Wtime() - start
    report(comm, finished, height)
    times = np.empty((height, width))
    for rank, part in enumerate(parts):
        times[rank :: comm.size] = part
    write_png(path, colours(times))
    print(f"seconds {seconds:.3f}")


if __name__ == "__main__":
    main()
