# SPDX-License-Identifier: BSD-3-Clause
"""The test of mpi.h: a C and a C++ program that assert every entry of the table.

What the compiler can judge is a static assertion. The values of handles and other addresses are
no constant expressions of C, so these are compared at run time.
"""

from standard import MADE, SPDX, wrap

C_WORDS = {"assert": "_Static_assert", "same": "__builtin_types_compatible_p"}
CXX_WORDS = {"assert": "static_assert", "same": "SAME"}


def is_address(group):
    return group["type"] != "int" and group["type"] != "MPI_Offset"


def assertions(table, words):
    """Every fact of the table as one static assertion in the given language's words."""
    def same(a, b):
        return f"{words['same']}({a}, {b})"

    for group in table.constants:
        for name, value in group["values"].items():
            if is_address(group):
                yield same(f"__typeof__({name})", group["type"]), f"type of {name}"
            else:
                yield f"{name} == {value}", name
    for name, c in table.handles.items():
        yield same(name, c), name
    for name, entry in table.integers.items():
        yield same(name, entry["c"]), name
        yield f"sizeof({name}) == {entry['size']}", f"size of {name}"
    for struct in table.structs:
        name = struct["name"]
        yield f"sizeof({name}) == {struct['size']}", f"size of {name}"
        yield f"alignof({name}) == {struct['align']}", f"alignment of {name}"
        for entry in struct["fields"]:
            field = entry["name"]
            yield f"offsetof({name}, {field}) == {entry['offset']}", f"offset of {field}"
            yield f"sizeof((({name} *)0)->{field}) == {entry['size']}", f"size of {field}"
    for callback in table.callbacks:
        yield same(callback.name, callback.ctype()), callback.name
    for alias, target in table.callback_aliases.items():
        yield same(alias, target), alias
    for function in table.functions:
        for name in (function.name, "P" + function.name):
            if name[1:] in table.no_pmpi:
                continue
            yield same(f"__typeof__({name})", function.ctype()), name


def text(table, words, head):
    lines = [SPDX + MADE + "// Asserts every entry of the table against mpi.h.", *head, ""]
    for fact, name in assertions(table, words):
        lines.append(wrap(f'{words["assert"]}({fact}, "{name}");', ""))
    lines += ["", "int main(void)", "{", "    int wrong = 0;"]
    for group in table.constants:
        if is_address(group):
            lines += [f'    wrong += differs("{n}", (intptr_t){n}, (intptr_t)(__typeof__({n})){v});'
                      for n, v in group["values"].items()]
    lines += ["    return wrong != 0;", "}", ""]
    return "\n".join(lines)


DIFFERS = """
static int differs(const char *name, intptr_t value, intptr_t expected)
{
    if (value == expected) return 0;
    printf("%s is %lld, not %lld\\n", name, (long long)value, (long long)expected);
    return 1;
}"""


def files(table):
    c_head = ["#include <mpi.h>", "#include <stdalign.h>", "#include <stddef.h>",
              "#include <stdio.h>", DIFFERS]
    cxx_head = ["#include <mpi.h>", "#include <cstddef>", "#include <cstdio>",
                "#include <type_traits>", DIFFERS,
                "\n#define SAME(...) (std::is_same<__VA_ARGS__>::value)"]
    return {"generated/abi_table.c": text(table, C_WORDS, c_head),
            "generated/abi_table.cc": text(table, CXX_WORDS, cxx_head)}


def mpich_files(table):
    """The same for the MPICH ABI, to be compiled with the mpi.h of MPICH itself."""
    head = ["#include <mpi.h>", "#include <stdalign.h>", "#include <stddef.h>",
            "#include <stdint.h>", "#include <stdio.h>", DIFFERS]
    return {"generated/mpich_table.c": text(table, C_WORDS, head)}
