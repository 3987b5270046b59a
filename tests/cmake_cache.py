# SPDX-License-Identifier: BSD-3-Clause
"""What a build tree was configured with, for tests that depend on it."""

import os
import re


def setting(build, name):
    """A variable of the build's CMake cache."""
    with open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8") as cache:
        found = re.search(rf"^{name}:[^=]*=(.*)$", cache.read(), re.M)
    return found[1] if found else ""


def sanitized(build):
    return setting(build, "SHOAL_SANITIZE") != ""
