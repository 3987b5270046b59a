# SPDX-License-Identifier: BSD-3-Clause
"""shoal info, shoal doctor and shoal demo; the doctor also with things that are wrong."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Env, make_env


def doctor(env: Env, **variables: str) -> tuple[int, list[dict[str, str]]]:
    done = env.run("python", "-m", "shoal", "doctor", "--json", check=False, env=variables, timeout=120)
    return done.returncode, json.loads(done.stdout)


def levels(found: list[dict[str, str]], text: str) -> list[str]:
    return [f["level"] for f in found if text in f["what"]]


def test_info(env: Env) -> None:
    out = env.run("shoal", "info").stdout
    for word in (
        "Shoal ",
        "standard ABI 1.0",
        "usable",
        "process_vm_readv",
        "Limits",
        "mpi4py",
        str(env.prefix),
    ):
        assert word in out
    assert env.run("python", "-m", "shoal", "info").stdout.splitlines()[0] == out.splitlines()[0]
    version = env.run("shoal", "--version").stdout.split()[1]
    assert out.startswith(f"Shoal {version}\n")


def test_doctor_is_content(env: Env) -> None:
    status, found = doctor(env)
    assert status == 0
    assert levels(found, "mpiexec on PATH is Shoal's") == ["ok"]
    assert levels(found, "loads Shoal") == ["ok"]
    assert levels(found, "two ranks started and talked") == ["ok"]
    assert not [f for f in found if f["level"] == "warn"]
    assert "All is well." in env.run("shoal", "doctor").stdout


def test_doctor_sees_a_foreign_mpiexec(env: Env, tmp_path: Path) -> None:
    other = tmp_path / "mpiexec"
    other.write_text("#!/bin/sh\necho HYDRA build details\n")
    other.chmod(0o755)
    _, found = doctor(env, PATH=f"{tmp_path}:{env.bin}:/usr/bin:/bin")
    assert levels(found, f"mpiexec on PATH is {other} (HYDRA build details), not Shoal's") == ["warn"]


def test_doctor_sees_the_mpiexec_of_another_shoal(env: Env, tmp_path: Path) -> None:
    (tmp_path / "mpiexec").write_bytes((env.bin / "mpiexec").read_bytes())
    (tmp_path / "mpiexec").chmod(0o755)
    _, found = doctor(env, PATH=f"{tmp_path}:{env.bin}:/usr/bin:/bin")
    assert levels(found, "another environment's") == ["warn"]
    assert levels(found, "not Shoal's") == []


def test_doctor_misses_mpiexec(env: Env) -> None:
    done = env.run(env.python, "-m", "shoal", "doctor", env={"PATH": "/nowhere"}, check=False, timeout=120)
    assert "mpiexec is not on PATH" in done.stdout
    assert f"add {env.bin} to PATH" in done.stdout


def test_doctor_sees_variables(env: Env, tmp_path: Path) -> None:
    (tmp_path / "libmpi.so.40").touch()
    _, found = doctor(env, MPI4PY_LIBMPI=str(env.prefix / "lib/libmpi.so.12"), LD_LIBRARY_PATH=str(tmp_path))
    assert levels(found, "MPI4PY_LIBMPI=") == ["warn"]
    assert levels(found, "LD_LIBRARY_PATH leads to") == ["warn"]


@pytest.mark.network
def test_doctor_sees_another_mpi(wheel: Path, tmp_path: Path) -> None:
    """MPICH's package writes over our files, and takes them away when it goes."""
    env = make_env(tmp_path / "venv", wheel, "mpi4py")
    env.pip("install", "--quiet", "mpich")
    status, found = doctor(env)
    assert status == 1
    assert levels(found, "the package mpich") == ["warn"]
    assert levels(found, "bin/mpiexec changed, ") == ["fail"]
    assert levels(found, "mpiexec on PATH is Shoal's") == []
    assert levels(found, "loads another MPI: MPICH") == ["fail"]
    assert [f["do"] for f in found if f"pip install --force-reinstall {wheel}" in f["do"]]
    env.pip("uninstall", "--yes", "--quiet", "mpich")
    status, found = doctor(env)
    assert status == 1
    assert levels(found, "not installed: ") == ["fail"]
    env.pip("install", "--quiet", "--force-reinstall", wheel)
    assert doctor(env)[0] == 0


def test_doctor_without_mpi4py(wheel: Path, new_env: Callable[..., Env]) -> None:
    env = new_env(wheel)
    status, found = doctor(env)
    assert status == 0
    assert levels(found, "mpi4py is not installed") == ["note"]
    assert levels(found, "two processes started") == ["ok"]
    done = env.run("shoal", "demo", check=False)
    assert done.returncode == 1
    assert "pip install mpi4py numpy" in done.stdout


def read_png(path: Path) -> tuple[int, int, bytes]:
    """Width, height and the pixels' bytes; checks every checksum on the way."""
    data, at, pixels, size = path.read_bytes(), 8, b"", (0, 0)
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b"IHDR":
            size = struct.unpack(">II", body[:8])
        elif kind == b"IDAT":
            pixels += body
        at += 12 + length
    return *size, zlib.decompress(pixels)


def test_demo(env: Env, tmp_path: Path) -> None:
    picture = tmp_path / "out.png"
    out = env.run("shoal", "demo", "--quick", "--out", picture, timeout=120).stdout
    assert [line.strip() for line in out.splitlines() if "hello from" in line][3].startswith(
        "hello from rank 3 of 4"
    )
    assert "times as fast on" in out
    assert "mpiexec: deadlock: all 2 ranks wait" in out
    assert "status 86" in out
    assert "by multiprocessing.Pipe" in out
    width, height, pixels = read_png(picture)
    assert (width, height) == (300, 200)
    assert len(pixels) == height * (1 + 3 * width)
    assert len(set(pixels)) > 50, "not one colour"
