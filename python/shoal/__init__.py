# SPDX-License-Identifier: BSD-3-Clause
"""Shoal: MPI for the machine in front of you.

The library itself is C and lies in the environment's lib/; mpi4py finds it there. This package only knows
where things are and looks after them: ``python -m shoal`` has the commands ``info``, ``doctor`` and ``demo``.
"""

from __future__ import annotations

from importlib import metadata as _metadata

from shoal._place import Place, find_place

__all__ = ["Place", "__version__", "find_place"]

try:
    __version__: str = _metadata.version("shoal")
except _metadata.PackageNotFoundError:
    __version__ = "unknown"
