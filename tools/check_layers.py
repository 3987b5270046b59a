#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fails when an #include points upward between the layers of src/.

    check_layers.py [ROOT]

A layer is a folder of src/; it includes its own headers and those of the layers below it, as
"layer/header.h". mpiexec/ shares only the lowest layers.
"""

import pathlib
import re
import sys

# Lower ranks first; layers of the same rank must not include each other.
RANKS = [("plat",), ("job",), ("watch",), ("net",), ("progress",), ("core",), ("p2p",),
         ("coll", "rma", "io", "topo"), ("api",)]
LAYERS = {name: rank for rank, names in enumerate(RANKS) for name in names}
LAUNCHER_MAY_USE = {"plat", "job", "watch"}
GENERATED = re.compile(r"weak_\w+\.h|unsupported_names\.h")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


def problem(place, included):
    """Why code in `place` (a layer, or "mpiexec") may not include this header, or None."""
    parts = included.split("/")
    layer = parts[0]
    if place == "mpiexec":
        if layer in LAYERS and layer not in LAUNCHER_MAY_USE:
            return f"mpiexec shares only {', '.join(sorted(LAUNCHER_MAY_USE))}"
        return None
    if GENERATED.fullmatch(included):
        return None
    if layer not in LAYERS:
        return "is not a header of a layer (write \"layer/header.h\")"
    if layer != place and LAYERS[layer] >= LAYERS[place]:
        return f"{layer}/ is not below {place}/"
    return None


def check(root):
    """All complaints about the sources under root."""
    complaints, checked = [], 0
    files = sorted(root.glob("src/*/**/*.[ch]")) + sorted(root.glob("mpiexec/*.[ch]"))
    for path in files:
        relative = path.relative_to(root)
        place = relative.parts[1] if relative.parts[0] == "src" else "mpiexec"
        if place != "mpiexec" and place not in LAYERS:
            complaints.append(f"{relative}: src/{place}/ is not a known layer")
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            reason = match and problem(place, match.group(1))
            if reason:
                complaints.append(f'{relative}:{number}: "{match.group(1)}": {reason}')
        checked += 1
    return complaints, checked


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()
    complaints, checked = check(root)
    for complaint in complaints:
        print(complaint, file=sys.stderr)
    print(f"{checked} files checked, {len(complaints)} includes point upward")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
