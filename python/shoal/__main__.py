# SPDX-License-Identifier: BSD-3-Clause
"""The `shoal` command."""

from __future__ import annotations

import argparse
import sys

from shoal import __version__, demo, doctor, info
from shoal._place import find_place


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="shoal", description="Looks after the MPI library of this environment."
    )
    parser.add_argument("--version", action="version", version=f"shoal {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    commands.add_parser("info", help="version, interfaces, cores, how large messages travel, limits")
    checks = commands.add_parser("doctor", help="check the set-up; each finding says what to do")
    checks.add_argument("--json", action="store_true", help="for programs")
    show = commands.add_parser("demo", help="a demonstration of a minute")
    show.add_argument("--out", default="mandelbrot.png", help="where the picture goes (%(default)s)")
    show.add_argument("--quick", action="store_true", help="a smaller picture")
    args = parser.parse_args(argv)
    place = find_place()
    if args.command == "info":
        return info.run(place)
    if args.command == "doctor":
        return doctor.run(place, args.json)
    return demo.run(place, args.out, args.quick)


if __name__ == "__main__":
    sys.exit(main())
