# SPDX-License-Identifier: BSD-3-Clause
"""The table of a binary interface (abi/*.json), read into plain Python objects.

Prototypes are kept in the table as C text, one line each, because that is what people read and
compare; the little parser here takes them apart again.
"""

import json
import re
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Param:
    """One parameter of a C prototype: `ctype` without the name, `array` as written ("[]")."""

    ctype: str
    name: str
    array: str = ""

    def declare(self):
        space = "" if self.ctype.endswith("*") else " "
        return f"{self.ctype}{space}{self.name}{self.array}"

    def nameless(self):
        """The parameter as it stands in a prototype without names."""
        return f"{self.ctype} {self.array}" if self.array else self.ctype


@dataclass
class Function:
    """One function of the table. What the optional keys mean is told in abi/README.md."""

    returns: str
    name: str
    params: list
    errors: str = ""
    answer: bool = False
    by_hand: bool = False
    same_as: str = ""
    arrays: dict = field(default_factory=dict)
    deprecated: str = ""

    def signature(self, prefix="", suffix=""):
        inside = ", ".join(p.declare() for p in self.params) or "void"
        space = "" if self.returns.endswith("*") else " "
        return f"{self.returns}{space}{prefix}{self.name}{suffix}({inside})"

    def ctype(self):
        """The function's type."""
        inside = ", ".join(p.nameless() for p in self.params) or "void"
        return f"{self.returns} ({inside})"

    def param(self, name):
        return next((p for p in self.params if p.name == name), None)


def parse_param(text):
    """Takes `const int counts[]` apart; `...` stays as it is."""
    text = text.strip()
    if text == "...":
        return Param("...", "")
    match = re.fullmatch(r"(.*?)(\w+)((?:\[\d*\])*)", text)
    return Param(match.group(1).strip(), match.group(2), match.group(3))


def parse_prototype(text):
    """Takes `int MPI_X(void *a, int b)` apart into (returns, name, [Param])."""
    match = re.fullmatch(r"(.+?)(\w+)\((.*)\)", text)
    inside = match.group(3).strip()
    params = [] if inside == "void" else [parse_param(p) for p in inside.split(",")]
    return match.group(1).strip(), match.group(2), params


class Table:
    """All of one JSON file; the attributes are its keys."""

    no_pmpi = frozenset()  # functions without a second name for profiling

    def __init__(self, path):
        with open(path, encoding="utf-8") as stream:
            data = json.load(stream)
        self.soname = data["soname"]
        self.guard = data["guard"]
        self.handles = data["handles"]
        self.integers = data["integers"]
        self.structs = data["structs"]
        self.callbacks = [Function(*parse_prototype(text)) for text in data["callbacks"]]
        self.callback_aliases = data["callback_aliases"]
        self.constants = data["constants"]
        self.values = {n: v for group in self.constants for n, v in group["values"].items()}
        self.functions = []
        for entry in data["functions"]:
            returns, name, params = parse_prototype(entry.pop("c"))
            self.functions.append(Function(returns, name, params, **entry))
        self.by_name = {f.name: f for f in self.functions}

    def worker(self, name):
        """The function that does the work of this one: its _c form, or itself."""
        function = self.by_name[name]
        if function.by_hand:
            return function
        return self.by_name.get(function.same_as or name + "_c", function)
