# SPDX-License-Identifier: BSD-3-Clause
"""Where Shoal lies: the prefix that pip installed lib/, bin/ and include/ into.

It is found from the list of installed files, so that a moved or copied environment answers with the place it
is at now, and a --user installation with the user's own directory.
"""

from __future__ import annotations

import hashlib
import json
import os
import shlex
import sys
import sysconfig
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

MARK = "lib/libmpi_abi.so.1"


@dataclass(frozen=True)
class Place:
    """One installation of Shoal."""

    prefix: Path

    @property
    def lib(self) -> Path:
        return self.prefix / "lib"

    @property
    def bin(self) -> Path:
        return self.prefix / "bin"

    @property
    def mpiexec(self) -> Path:
        return self.bin / "mpiexec"

    @property
    def engine(self) -> Path:
        return self.lib / "libmpi_abi.so.1"

    @property
    def door(self) -> Path:
        return self.lib / "libmpi.so.12"


def _installed_files() -> list[metadata.PackagePath]:
    try:
        return list(metadata.files("shoal") or [])
    except metadata.PackageNotFoundError:
        return []


def find_place() -> Place:
    """The installation that belongs to this Python package."""
    for file in _installed_files():
        if file.as_posix().endswith(MARK):
            return Place(Path(os.path.normpath(file.locate())).parent.parent)
    for prefix in (sys.prefix, sysconfig.get_config_var("userbase") or "", sys.base_prefix):
        if prefix and (Path(prefix) / MARK).exists():
            return Place(Path(prefix))
    return Place(Path(sys.prefix))


def changed_files() -> list[tuple[Path, str]]:
    """Files of lib/ and bin/ that are not what pip installed: (path, "missing" or "changed")."""
    found: list[tuple[Path, str]] = []
    for file in _installed_files():
        path = Path(os.path.normpath(file.locate()))
        if path.parent.name not in ("lib", "bin") or file.hash is None:
            continue
        if not path.exists():
            found.append((path, "missing"))
            continue
        digest = hashlib.new(file.hash.mode, path.read_bytes()).digest()
        if urlsafe_b64encode(digest).rstrip(b"=").decode() != file.hash.value:
            found.append((path, "changed"))
    return found


def install_again() -> str:
    """The command that installs what is installed here once more, from where pip took it."""
    source = "shoal"
    try:
        recorded = metadata.distribution("shoal").read_text("direct_url.json")
    except metadata.PackageNotFoundError:
        recorded = None
    if recorded:
        facts = json.loads(recorded)
        source = facts["url"]
        parts = urlsplit(source)
        if "vcs_info" in facts:
            source = f"{facts['vcs_info']['vcs']}+{source}"
        elif parts.scheme == "file":
            source = url2pathname(parts.path)
            if not Path(source).exists():
                source = "/path/to/shoal"
    return f"pip install --force-reinstall {shlex.quote(source)}"
