# SPDX-License-Identifier: BSD-3-Clause
"""A rank that speaks PMI-1 by hand; run by pmi_test.py under mpiexec. argv[1] says what it does."""

import os
import socket
import sys
import time

rank, size = int(os.environ["PMI_RANK"]), int(os.environ["PMI_SIZE"])
sock = socket.socket(fileno=int(os.environ["PMI_FD"]))
stream = sock.makefile("rwb", buffering=0)


def ask(line):
    stream.write(line.encode() + b"\n")
    return stream.readline().decode().rstrip("\n")


def words(line):
    return dict(w.split("=", 1) for w in line.split() if "=" in w)


def whole_life():
    answer = words(ask("cmd=init pmi_version=1 pmi_subversion=1"))
    assert answer["cmd"] == "response_to_init" and answer["rc"] == "0", answer
    maxes = words(ask("cmd=get_maxes"))
    assert maxes["cmd"] == "maxes" and int(maxes["vallen_max"]) >= 256, maxes
    assert words(ask("cmd=get_appnum"))["appnum"] == "0"
    assert words(ask("cmd=get_universe_size"))["size"] == str(size)
    name = words(ask("cmd=get_my_kvsname"))["kvsname"]
    mapping = ask(f"cmd=get kvsname={name} key=PMI_process_mapping")
    assert mapping.endswith(f"value=(vector,(0,1,{size}))"), mapping
    put = words(ask(f"cmd=put kvsname={name} key=k{rank} value=v-{rank} with spaces"))
    assert put["rc"] == "0", put
    assert words(ask("cmd=barrier_in"))["cmd"] == "barrier_out"
    for i in range(size):
        got = ask(f"cmd=get kvsname={name} key=k{i}")
        assert got.endswith(f"value=v-{i} with spaces"), got
    assert words(ask(f"cmd=get kvsname={name} key=absent"))["rc"] != "0"
    assert words(ask("cmd=get kvsname=other key=k0"))["rc"] != "0"
    if rank == 0:
        assert words(ask("cmd=publish_name service=shop port=p1"))["rc"] == "0"
        assert words(ask("cmd=publish_name service=shop port=p2"))["rc"] != "0"
    ask("cmd=barrier_in")
    assert words(ask("cmd=lookup_name service=shop"))["port"] == "p1"
    assert words(ask("cmd=lookup_name service=none"))["rc"] != "0"
    ask("cmd=barrier_in")
    if rank == 0:
        assert words(ask("cmd=unpublish_name service=shop"))["rc"] == "0"
        assert words(ask("cmd=unpublish_name service=shop"))["rc"] != "0"
    spawn = ask("mcmd=spawn\nnprocs=1\nexecname=true\nendcmd")
    assert words(spawn)["cmd"] == "spawn_result" and words(spawn)["rc"] != "0", spawn
    assert words(ask("cmd=finalize"))["cmd"] == "finalize_ack"
    print("ok")


def nonsense():
    for line in (
        "",
        "hello",
        "cmd",
        "=",
        "cmd=",
        "cmd=nosuch a=b",
        "mcmd=other",
        "cmd=init",
        "cmd=put",
        "cmd=put kvsname=x key=y",
        "\x00\x01\xff",
        "cmd=get key=" + "k" * 3000,
        "a=b " * 40,
    ):
        answer = words(ask(line))
        assert answer.get("rc", "0") != "0", (line[:40], answer)
    answer = words(ask("cmd=put key=" + "x" * 100_000))  # longer than any line may be
    assert answer["rc"] != "0"
    name = words(ask("cmd=get_my_kvsname"))["kvsname"]
    for key, value in (("k" * 65, "v"), ("k", "v" * 1025)):
        assert words(ask(f"cmd=put kvsname={name} key={key} value={value}"))["rc"] != "0"
    for i in range(20_000):  # more values than anybody needs: refused at some point
        if words(ask(f"cmd=put kvsname={name} key=key{i} value=x"))["rc"] != "0":
            break
    else:
        raise AssertionError("the table has no limit")
    print("ok")


def flood():
    """Never reads an answer; mpiexec must not wait for it."""
    sock.settimeout(0.2)
    try:
        while True:
            sock.send(b"cmd=get_maxes\n" * 1000)
    except OSError:
        pass
    print("ok")


def pieces():
    for c in b"cmd=get_maxes\n":
        stream.write(bytes([c]))
        time.sleep(0.01)
    assert words(stream.readline().decode())["cmd"] == "maxes"
    print("ok")


def leave():
    """Ends between init and finalize, while others wait."""
    ask("cmd=init pmi_version=1 pmi_subversion=1")
    if rank == 0:
        os._exit(0)
    ask("cmd=barrier_in")


def never():
    """Rank 0 ends without a word; the others wait for it as MPI_Init would."""
    if rank == 0:
        return
    ask("cmd=init pmi_version=1 pmi_subversion=1")
    ask("cmd=barrier_in")


def abort():
    if rank == 1:
        stream.write(b"cmd=abort exitcode=9 message=two words\n")
        os._exit(3)
    time.sleep(20)


globals()[sys.argv[1]]()
