# SPDX-License-Identifier: BSD-3-Clause
"""libmpi.so.12 exports every name of its table and nothing else, finds the engine beside itself,
and neither library calls an MPI function through a symbol that the other could take over.

    exports_test.py BUILD
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "abi"))
import mpich  # noqa: E402
import table  # noqa: E402


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """{name: kind letter} of the dynamic symbols that the library defines."""
    lines = output("nm", "-D", "--defined-only", str(library)).splitlines()
    return {words[2].split("@")[0]: words[1] for words in (line.split() for line in lines)}


def dynamic(library, tag):
    return re.findall(rf"\({tag}\).*\[(.*?)\]", output("readelf", "-d", "-W", str(library)))


def interposable(library):
    """MPI functions that the library looks up by name when it is loaded or when it calls them."""
    text = output("readelf", "-r", "-W", str(library))
    return re.findall(r"R_\S+\s+\w+\s+(P?MPIX?_[A-Z][a-z]\w*)", text)


def main():
    lib = pathlib.Path(sys.argv[1]) / "lib"
    library, engine = lib / "libmpi.so.12", lib / "libmpi_abi.so.1"
    abi = mpich.Mpich(ROOT / "abi" / "mpich-abi.json", table.Table(ROOT / "abi" / "mpi-abi.json"))
    names = exported(library)
    functions = {p + f.name for f in abi.functions for p in ("", "P")
                 if not (p and f.name in abi.no_pmpi)}
    wanted = functions | set(abi.variables)
    problems = [f"not exported: {name}" for name in sorted(wanted - names.keys())]
    problems += [f"exported, but not in the table: {name}"
                 for name in sorted(names.keys() - wanted)]
    for name in sorted(functions & names.keys()):
        expected = "T" if name.startswith(("PMPI", "MPIR_")) else "W"
        if names[name] != expected:
            problems.append(f"{name} is of kind {names[name]}, not {expected}")
    if dynamic(library, "SONAME") != [abi.soname]:
        problems.append(f"SONAME is {dynamic(library, 'SONAME')}, not {abi.soname}")
    if dynamic(library, "RUNPATH") != ["$ORIGIN"]:
        problems.append(f"RUNPATH is {dynamic(library, 'RUNPATH')}, not $ORIGIN")
    if "libmpi_abi.so.1" not in dynamic(library, "NEEDED"):
        problems.append("does not need libmpi_abi.so.1")
    link = lib / "libmpi.so"
    if not link.is_symlink() or str(link.readlink()) != "libmpi.so.12":
        problems.append("libmpi.so is not a link to libmpi.so.12")
    problems += [f"{path.name} looks up {name}" for path in (library, engine)
                 for name in interposable(path)]
    print("\n".join(problems))
    print(f"{len(abi.functions)} functions, {len(names)} names exported: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
