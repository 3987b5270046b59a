#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes everything of the build that follows mechanically from the tables in abi/.

    generate.py --out BUILD src/api/*.c [--mpich abi/mpich/*.c]

The library's files for these hand-written chapters; with --mpich also those of the second library.

A file is rewritten only when its text changes, so that nothing is rebuilt in vain.
"""

import argparse
import pathlib
import re
import sys

import checks
import mpich
import standard
import table

WRITTEN = re.compile(r"^(?:int|double|MPI_\w+|mpich_\w+) P(MPIX?_\w+)\(", re.MULTILINE)


def write_if_changed(path, text):
    if path.exists() and path.read_text(encoding="utf-8") == text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def scan(sources, known, folder=""):
    """Which functions of the table each chapter defines; a name outside the table is an error."""
    defined = {}
    for source in sources:
        text = source.read_text(encoding="utf-8")
        names = set(WRITTEN.findall(text))
        stray = names - known.keys()
        weak = f'#include "{folder}weak_{source.stem}.h"'
        if names and weak not in text:
            sys.exit(f"{source}: has to end with {weak}")
        if stray:
            sys.exit(f"{source}: not in the table of the ABI: {', '.join(sorted(stray))}")
        defined[source.stem] = names
    return defined


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, required=True, help="the build directory")
    parser.add_argument("sources", nargs="*", type=pathlib.Path, help="src/api/*.c")
    parser.add_argument("--mpich", nargs="*", type=pathlib.Path, help="abi/mpich/*.c")
    args = parser.parse_args()
    here = pathlib.Path(__file__)
    abi = table.Table(here.with_name("mpi-abi.json"))
    texts = standard.files(abi, scan(args.sources, abi.by_name))
    texts.update(checks.files(abi))
    if args.mpich:
        other = mpich.Mpich(here.with_name("mpich-abi.json"), abi)
        texts.update(mpich.files(other, scan(args.mpich, other.by_name, "mpich/")))
        texts.update(checks.mpich_files(other))
    for name, text in texts.items():
        write_if_changed(args.out / name, text)


if __name__ == "__main__":
    main()
