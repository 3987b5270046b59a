# SPDX-License-Identifier: BSD-3-Clause
"""The Python objects that are sent: a small dictionary, and a numpy array of 1 MiB."""

import numpy

SMALL = {"rank": 1, "name": "shoal", "values": [1, 2.5, "three"]}
ARRAY = numpy.arange(1024 * 1024 // 8, dtype=numpy.float64)
