#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes everything of the build that follows mechanically from the tables in abi/.

    generate.py --out BUILD src/api/*.c      the library's files, for these hand-written chapters

A file is rewritten only when its text changes, so that nothing is rebuilt in vain.
"""

import argparse
import pathlib
import re
import sys

import checks
import standard
import table

WRITTEN = re.compile(r"^(?:int|double|MPI_\w+) P(MPI_\w+)\(", re.MULTILINE)


def write_if_changed(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def scan(sources, known):
    """Which functions of the table each chapter defines; a name outside the table is an error."""
    defined = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        names = set(WRITTEN.findall(text))
        stray = names - known.keys()
        if names and f'#include "weak_{source.stem}.h"' not in text:
            sys.exit(f'{source}: has to end with #include "weak_{source.stem}.h"')
        if stray:
            sys.exit(f"{source}: not in the table of the ABI: {', '.join(sorted(stray))}")
        defined[source.stem] = names
    return defined


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the build directory")
    parser.add_argument("sources", nargs="*", type=pathlib.Path, help="src/api/*.c")
    args = parser.parse_args()
    abi = table.Table(pathlib.Path(__file__).with_name("mpi-abi.json"))
    texts = standard.files(abi, scan(args.sources, abi.by_name))
    texts.update(checks.files(abi))
    for name, text in texts.items():
        write_if_changed(args.out / name, text)


if __name__ == "__main__":
    main()
