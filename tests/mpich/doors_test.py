# SPDX-License-Identifier: BSD-3-Clause
"""Two libraries with the same function names share a process: each calls only its own, users' tools
can take functions over on both, and both reach one engine. Ends with what a call costs on each.

    doors_test.py BUILD
"""

import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
STANDARD = ["-DCOMM=void *", "-DWORLD=0x101", "-DINT=0x209", "-DPROC_NULL=-3"]
MPICH = ["-DCOMM=int", "-DWORLD=0x44000000", "-DINT=0x4c000405", "-DPROC_NULL=-1"]


def output(command, **variables):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False,
                          env={**os.environ, **variables})
    if done.returncode != 0:
        print(f"{' '.join(map(str, command))} {variables}: {done.returncode}\n"
              f"{done.stdout}{done.stderr}")
    return done.stdout


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    lib, out = build / "lib", build / "tests" / "doors"
    out.mkdir(parents=True, exist_ok=True)
    if "san.so" in output(["readelf", "-d", lib / "libmpi.so.12"]):
        print("skipped: plain programs cannot open libraries built with a sanitizer")
        return 77
    compiler = [os.environ.get("CC", "cc"), "-O2", "-Wall", "-Wextra", "-o"]
    good = True
    for name, link, flags in (("standard", "-lmpi_abi", STANDARD), ("mpich", "-lmpi", MPICH)):
        tool, plain = out / f"tool_{name}.so", out / f"plain_{name}"
        output([*compiler, tool, "-shared", "-fPIC", *flags, HERE / "doors" / "tool.c"])
        output([*compiler, plain, *flags, HERE / "doors" / "plain.c", f"-L{lib}", link,
                f"-Wl,-rpath,{lib}", f"-Wl,-rpath-link,{lib}"])
        run = [build / "bin" / "mpiexec", "-n", "2", plain]
        good &= output(run) == "2 ranks\n" * 2
        good &= output([plain]) == "1 ranks\n"
        good &= output([plain], LD_PRELOAD=str(tool)) == "1 ranks\ntool saw 3 calls\n"
        # The other library, loaded later into everybody's view, changes nothing.
        both = output([*compiler, out / f"{name}_with_other", *flags, HERE / "doors" / "plain.c",
                       f"-L{lib}", "-Wl,--no-as-needed", link,
                       "-lmpi" if link == "-lmpi_abi" else "-lmpi_abi",
                       f"-Wl,-rpath,{lib}", f"-Wl,-rpath-link,{lib}"])
        good &= both == "" and output([out / f"{name}_with_other"]) == "1 ranks\n"
    output([*compiler, out / "both", HERE / "doors" / "both.c", "-ldl"])
    for first in ("standard", "mpich"):
        for scope in ("local", "global"):
            good &= output([out / "both", lib, first, scope]) == "both doors work\n"
    output([*compiler, out / "bench", f"-I{build / 'include'}",
            HERE.parents[1] / "bench" / "doors.c", "-ldl"])
    print(output([out / "bench", lib]))
    print("good" if good else "there were failures")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
