# SPDX-License-Identifier: BSD-3-Clause
"""The wheel: what is in it, that it needs nothing but the C library, that it can be moved, and that it goes away."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT, Env, make_env

FILES = {
    "bin/mpicc",
    "bin/mpicxx",
    "bin/mpiexec",
    "bin/mpirun",
    "bin/shoal",
    "include/mpi.h",
    "lib/libmpi.so",
    "lib/libmpi.so.12",
    "lib/libmpi_abi.so",
    "lib/libmpi_abi.so.1",
    "lib/pkgconfig/mpi_abi.pc",
    "lib/pkgconfig/shoal.pc",
    "share/man/man1/mpicc.1",
    "share/man/man1/mpicxx.1",
    "share/man/man1/mpiexec.1",
    "share/man/man1/mpirun.1",
}
# What every Linux with glibc has, and manylinux allows.
ALLOWED = {
    "libc.so.6",
    "libm.so.6",
    "libpthread.so.0",
    "librt.so.1",
    "libdl.so.2",
    "ld-linux-x86-64.so.2",
    "ld-linux-aarch64.so.1",
}
SONAMES = {"libmpi.so": "libmpi.so.12", "libmpi.so.12": "libmpi.so.12", "libmpi_abi.so.1": "libmpi_abi.so.1"}


def dynamic(path: Path, tag: str) -> list[str]:
    out = subprocess.run(["readelf", "-d", path], capture_output=True, text=True, check=True).stdout
    return re.findall(rf"\({tag}\).*\[(.*)\]", out)


def tree(prefix: Path) -> set[str]:
    """Every file below, except what Python compiles for itself."""
    files = (p for p in prefix.rglob("*") if p.is_file() and "__pycache__" not in p.parts)
    return {str(p.relative_to(prefix)) for p in files}


def test_contents(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        data = {name.split(".data/data/")[1] for name in names if ".data/data/" in name}
        executable = {
            name.split(".data/data/")[1]
            for name in names
            if ".data/data/bin/" in name and archive.getinfo(name).external_attr >> 16 & 0o111
        }
    assert data == FILES
    assert executable == {name for name in FILES if name.startswith("bin/")}
    package = {name for name in names if name.startswith("shoal/")}
    assert {"shoal/py.typed", "shoal/__main__.py", "shoal/demos/mandelbrot.py"} <= package
    assert any(name.endswith("LICENSE") for name in names)
    assert wheel.name.split("-")[2] == "py3", "the library does not depend on the version of Python"


def test_needs_only_the_c_library(env: Env) -> None:
    for name in SONAMES:
        path = env.prefix / "lib" / name
        assert set(dynamic(path, "NEEDED")) <= ALLOWED | {"libmpi_abi.so.1"}, name
        assert dynamic(path, "SONAME") == [SONAMES[name]]
    assert set(dynamic(env.bin / "mpiexec", "NEEDED")) <= ALLOWED
    for name in ("libmpi.so", "libmpi.so.12"):
        assert dynamic(env.prefix / "lib" / name, "RUNPATH") == ["$ORIGIN"]


def test_glibc_is_not_too_new(env: Env) -> None:
    """manylinux_2_28 and later: no symbol newer than the compiling system's own glibc family demands."""
    for path in (env.prefix / "lib/libmpi_abi.so.1", env.prefix / "lib/libmpi.so.12", env.bin / "mpiexec"):
        out = subprocess.run(["readelf", "-V", path], capture_output=True, text=True, check=True).stdout
        versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_(\d+\.\d+)", out)}
        assert max(versions) <= (2, 36), f"{path} needs GLIBC {max(versions)}"


def test_link_names(env: Env, tmp_path: Path) -> None:
    """-lmpi_abi and -lmpi link, and record the names that stay."""
    source = tmp_path / "size.c"
    source.write_text(
        "int MPI_Initialized(int *); int main(void) { int f; return MPI_Initialized(&f) + f; }\n"
    )
    for library, soname in (("mpi_abi", "libmpi_abi.so.1"), ("mpi", "libmpi.so.12")):
        program = tmp_path / library
        env.run(
            "gcc",
            source,
            "-o",
            program,
            f"-L{env.prefix}/lib",
            f"-Wl,-rpath,{env.prefix}/lib",
            f"-l{library}",
        )
        assert soname in dynamic(program, "NEEDED")
        env.run(program)


def test_pkg_config(env: Env) -> None:
    if not shutil.which("pkg-config"):
        pytest.skip("no pkg-config here")
    done = env.run(
        "pkg-config",
        "--cflags",
        "--libs",
        "shoal",
        env={"PKG_CONFIG_PATH": str(env.prefix / "lib/pkgconfig")},
    )
    assert f"-L{env.prefix}/lib" in done.stdout.replace("/pkgconfig/../..", "") or "-lmpi_abi" in done.stdout


def check_works(env: Env, where: Path) -> None:
    """A compiled program, mpi4py, and the shoal command, all of this environment."""
    program = where / "ring"
    env.run(env.bin / "mpicc", ROOT / "examples/ring.c", "-o", program)
    assert f"{env.prefix}/lib" in dynamic(program, "RUNPATH")
    assert "after 3 ranks" in env.mpiexec(3, program).stdout
    one = "from mpi4py import MPI; print(MPI.COMM_WORLD.allreduce(1))"
    assert env.mpiexec(2, env.python, "-c", one).stdout.split() == ["2", "2"]
    assert f" in {env.prefix}\n" in env.run(env.bin / "shoal", "info").stdout


@pytest.mark.parametrize("how", ["copied", "moved"])
def test_relocation(wheel: Path, tmp_path: Path, how: str) -> None:
    old, new = tmp_path / "old", tmp_path / "elsewhere" / "new"
    make_env(old, wheel, "mpi4py")
    new.parent.mkdir()
    if how == "copied":
        shutil.copytree(old, new, symlinks=True)
        (old / "lib/libmpi_abi.so.1").unlink()  # nothing of the old one may be used
    else:
        old.rename(new)
    check_works(Env(new), tmp_path)


def test_uninstall_and_reinstall(wheel: Path, tmp_path: Path) -> None:
    env = make_env(tmp_path / "venv")
    before = tree(env.prefix)
    env.pip("install", "--quiet", wheel)
    first = tree(env.prefix)
    assert FILES <= first
    env.run(env.bin / "shoal", "info")
    env.pip("install", "--quiet", "--force-reinstall", wheel)
    assert tree(env.prefix) == first
    env.pip("uninstall", "--yes", "--quiet", "shoal")
    assert tree(env.prefix) == before
    assert not (env.prefix / "lib/pkgconfig").exists()


def make_older(wheel: Path, folder: Path) -> Path:
    """The same wheel as version 0.0.1, with a man page that later versions no longer have."""
    version = wheel.name.split("-")[1]
    older = folder / wheel.name.replace(version, "0.0.1")
    names = (f"shoal-{version}.", "shoal-0.0.1.")
    with zipfile.ZipFile(wheel) as old, zipfile.ZipFile(older, "w") as new:
        for item in old.infolist():
            content = old.read(item)
            if item.filename.endswith((".dist-info/METADATA", ".dist-info/RECORD")):
                text = content.decode().replace(*names)
                content = text.replace(f"\nVersion: {version}\n", "\nVersion: 0.0.1\n").encode()
            item.filename = item.filename.replace(*names)
            new.writestr(item, content)
        new.writestr("shoal-0.0.1.data/data/share/man/man1/gone.1", "no longer there\n")
    return older


def test_upgrade(wheel: Path, tmp_path: Path) -> None:
    """From one version to the next: what only the older one had goes, what the new one has comes."""
    env = make_env(tmp_path / "venv")
    before = tree(env.prefix)
    env.pip("install", "--quiet", make_older(wheel, tmp_path))
    assert "share/man/man1/gone.1" in tree(env.prefix)
    env.pip("install", "--quiet", "--upgrade", wheel)
    upgraded = tree(env.prefix)
    assert FILES <= upgraded
    assert not {name for name in upgraded if "gone.1" in name or "shoal-0.0.1" in name}
    assert wheel.name.split("-")[1] in env.run(env.bin / "shoal", "info").stdout
    env.pip("uninstall", "--yes", "--quiet", "shoal")
    assert tree(env.prefix) == before


def test_user_installation(wheel: Path, new_env: Callable[..., Env], tmp_path: Path) -> None:
    """pip install --user: into ~/.local, where mpi4py's wheel looks as well."""
    home = tmp_path / "home"
    home.mkdir()
    base = new_env("mpi4py")
    # A venv has no user site; one that sees the system's packages has.
    config = base.prefix / "pyvenv.cfg"
    config.write_text(
        config.read_text().replace(
            "include-system-site-packages = false", "include-system-site-packages = true"
        )
    )
    user = {
        "HOME": str(home),
        "PYTHONUSERBASE": str(home / ".local"),
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PATH": f"{home}/.local/bin:{base.bin}:/usr/bin:/bin",
    }
    base.pip("install", "--user", "--quiet", wheel, env=user)
    assert (home / ".local/lib/libmpi.so.12").exists()
    shown = base.run(base.python, "-m", "shoal", "info", env=user).stdout
    assert f" in {home}/.local\n" in shown
    one = "from mpi4py import MPI; print(MPI.Get_library_version().split()[0], MPI.COMM_WORLD.allreduce(1))"
    done = base.run(home / ".local/bin/mpiexec", "-n", "2", base.python, "-c", one, env=user)
    assert done.stdout.split() == ["Shoal", "2"] * 2


def test_editable_sources_are_not_needed(env: Env, tmp_path: Path) -> None:
    """Nothing installed knows where it was built."""
    for name in (
        "lib/libmpi_abi.so.1",
        "lib/libmpi.so.12",
        "bin/mpiexec",
        "bin/mpicc",
        "lib/pkgconfig/shoal.pc",
    ):
        text = (env.prefix / name).read_bytes()
        assert os.fsencode(ROOT) + b"/" not in text, name
