# SPDX-License-Identifier: BSD-3-Clause
"""libmpi_abi.so.1 exports every name of the table and the doors' entry, nothing else, and needs only the C library.

    exports_test.py BUILD
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / "abi"))
import standard  # noqa: E402
import table  # noqa: E402

PLAIN = re.compile(r"(libc|libm|libpthread|librt|libdl|ld-linux[-\w]*)\.so\.\d+")
SANITIZER = re.compile(r"lib(a|t|ub|l)san\.so")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def exported(library):
    """{name: kind letter} of the dynamic symbols that the library defines."""
    lines = output("nm", "-D", "--defined-only", str(library)).splitlines()
    return {words[2].split("@")[0]: words[1] for words in (line.split() for line in lines)}


def dynamic(library, tag):
    text = output("readelf", "-d", "-W", str(library))
    return re.findall(rf"\({tag}\).*\[(.*?)\]", text)


def main():
    library = pathlib.Path(sys.argv[1]) / "lib" / "libmpi_abi.so.1"
    abi = table.Table(ROOT / "abi" / "mpi-abi.json")
    names = exported(library)
    problems = [f"not exported: {name}" for name in (standard.ENGINE_TABLE,) if name not in names]
    names.pop(standard.ENGINE_TABLE, None)
    wanted = {prefix + f.name for f in abi.functions for prefix in ("", "P")}
    problems += [f"not exported: {name}" for name in sorted(wanted - names.keys())]
    problems += [f"exported, but not in the table: {name}" for name in sorted(names.keys() - wanted)]
    for name in sorted(wanted & names.keys()):
        expected = "T" if name.startswith("PMPI_") else "W"
        if names[name] != expected:
            problems.append(f"{name} is of kind {names[name]}, not {expected}")
    needed = dynamic(library, "NEEDED")
    problems += [f"needs {n}" for n in needed if not PLAIN.fullmatch(n) and not SANITIZER.match(n)]
    if dynamic(library, "SONAME") != [abi.soname]:
        problems.append(f"SONAME is {dynamic(library, 'SONAME')}, not {abi.soname}")
    problems += [f"carries a search path: {p}" for tag in ("RPATH", "RUNPATH")
                 for p in dynamic(library, tag)]
    print("\n".join(problems))
    print(f"{len(names)} names exported, needs {', '.join(needed)}: {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
