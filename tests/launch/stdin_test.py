# SPDX-License-Identifier: BSD-3-Clause
"""Who gets stdin, and how mpiexec behaves at a terminal."""

import os
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import launch
from launch import MPIEXEC, run

CAT = ("sh", "-c", 'echo "$PMI_RANK:$(cat)"')


class Modes(unittest.TestCase):
    def test_rank_0_by_default(self):
        r = run("-n", 3, *CAT, input="hello")
        self.assertEqual(sorted(r.stdout.splitlines()), ["0:hello", "1:", "2:"])

    def test_a_rank_all_none(self):
        r = run("-stdin", 2, "-n", 3, *CAT, input="hello")
        self.assertEqual(sorted(r.stdout.splitlines()), ["0:", "1:", "2:hello"])
        r = run("-stdin", "all", "-n", 3, *CAT, input="hello")
        self.assertEqual(sorted(r.stdout.splitlines()), ["0:hello", "1:hello", "2:hello"])
        r = run("--stdin=none", "-n", 2, *CAT, input="hello")
        self.assertEqual(sorted(r.stdout.splitlines()), ["0:", "1:"])

    def test_much_for_all_and_somebody_who_does_not_read(self):
        text = "".join(f"{i} some text\n" for i in range(400_000))
        script = "[ $PMI_RANK = 1 ] || cksum"
        r = run("-stdin", "all", "-n", 3, "sh", "-c", script, input=text)
        want = subprocess.run(["cksum"], input=text, capture_output=True, text=True, check=True)
        self.assertEqual(r.stdout, want.stdout * 2)

    def test_file_for_all(self):
        with tempfile.TemporaryFile("w+") as f:
            f.write("line\nrest")
            f.flush()
            f.seek(0)
            os.lseek(f.fileno(), 5, os.SEEK_SET)
            r = run("-stdin", "all", "-n", 2, *CAT, stdin=f)
        self.assertEqual(sorted(r.stdout.splitlines()), ["0:rest", "1:rest"])

    def test_what_is_not_read_stays(self):
        script = f"while read x; do {MPIEXEC} -n 2 echo $x; done"
        r = subprocess.run(
            ["sh", "-c", script],
            input="1\n2\n3\n",
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        self.assertEqual(r.stdout, "1\n1\n2\n2\n3\n3\n")

    def test_closed_stdin(self):
        r = subprocess.run(
            ["sh", "-c", f"exec {MPIEXEC} -n 2 cat <&-"],
            capture_output=True,
            text=True,
            timeout=20,
            check=False,
        )
        self.assertEqual((r.returncode, r.stdout), (0, ""))


class Terminal:
    """A program in a terminal of its own."""

    def __init__(self, *args):
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.execve(args[0], list(map(str, args)), launch.clean_environment())
        self.text = ""

    def send(self, text):
        os.write(self.fd, text.encode())

    def expect(self, text, seconds=5):
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.text += os.read(self.fd, 4096).decode()
                except OSError:
                    break
        if text not in self.text:
            raise AssertionError(f"{text!r} not in {self.text!r}")

    def read_rest(self):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                data = os.read(self.fd, 65536)
            except OSError:
                return
            if not data:
                return
            self.text += data.decode()

    def wait(self, seconds=5):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if select.select([self.fd], [], [], 0.02)[0]:
                try:
                    self.text += os.read(self.fd, 65536).decode()
                except OSError:
                    pass
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.read_rest()
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        raise AssertionError(f"still there after {seconds} s: {self.text!r}")


class AtATerminal(unittest.TestCase):
    def test_one_rank_has_the_terminal_itself(self):
        t = Terminal(
            MPIEXEC, "-n", 1, "sh", "-c", "[ -t 0 ] && [ -t 1 ] && echo tty; read x; echo got $x"
        )
        t.expect("tty")
        t.send("abc\n")
        t.expect("got abc")
        self.assertEqual(t.wait(), 0)

    def test_prompt_of_rank_0(self):
        t = Terminal(
            MPIEXEC,
            "-n",
            2,
            "sh",
            "-c",
            "[ $PMI_RANK = 1 ] && { sleep 0.4; exit; }; printf 'number: '; read x; echo got $x",
        )
        t.expect("number: ", 2)
        t.send("42\n")
        t.expect("got 42")
        self.assertEqual(t.wait(), 0)

    def test_prompt_does_not_silence_the_others(self):
        t = Terminal(
            MPIEXEC,
            "-n",
            2,
            "sh",
            "-c",
            "[ $PMI_RANK = 1 ] && { sleep 0.5; echo news; exit; }; printf 'number: '; read x",
        )
        t.expect("number: ", 2)
        t.expect("\r\nnews\r\n", 4)
        t.send("42\n")
        self.assertEqual(t.wait(), 0)

    def test_lines_are_shown_at_once(self):
        script = "import sys,time; print('early', sys.stdout.isatty()); time.sleep(3)"
        t = Terminal(MPIEXEC, "-n", 2, sys.executable, "-c", script)
        t.expect("early True\r\nearly True\r\n", 2)
        t.send("\x03")
        self.assertEqual(t.wait(), 130)

    def test_many_lines_to_a_terminal(self):
        t = Terminal(MPIEXEC, "-n", 3, "sh", "-c", "seq 20000 | sed s/^/$PMI_RANK:/")
        self.assertEqual(t.wait(20), 0)
        lines = t.text.split("\r\n")
        for rank in range(3):
            mine = [x for x in lines if x.startswith(f"{rank}:")]
            self.assertEqual(mine, [f"{rank}:{i}" for i in range(1, 20001)])

    def test_ctrl_c_key(self):
        for ranks in (1, 3):
            t = Terminal(MPIEXEC, "-n", ranks, "sh", "-c", "echo up; exec sleep 30")
            for _ in range(ranks):
                t.expect("up")
            time.sleep(0.1)
            t.send("\x03")
            self.assertEqual(t.wait(), 130)

    def test_ctrl_c_key_reaches_a_single_rank_once(self):
        script = (
            "import signal,time\nn=[0]\ndef h(*a): n[0]+=1\nsignal.signal(2,h)\n"
            "print('up',flush=True)\n"
            "t=time.time()+1\nwhile time.time()<t: time.sleep(0.1)\nprint('count',n[0],flush=True)"
        )
        for ranks in (1, 2):
            t = Terminal(MPIEXEC, "-n", ranks, "python3", "-c", script)
            t.expect("up")
            time.sleep(0.3)
            t.send("\x03")
            t.expect("count 1")
            self.assertEqual(t.wait(), 0)

    def test_hang_up(self):
        mark = f"35.{os.getpid()}"
        t = Terminal(MPIEXEC, "-n", 2, "sleep", mark)
        self.assertTrue(launch.wait_until(lambda: len(launch.marked(mark)) >= 3))
        os.close(t.fd)
        os.waitpid(t.pid, 0)
        self.assertTrue(launch.wait_until(lambda: not launch.marked(mark), 2))

    def test_end_of_input(self):
        t = Terminal(MPIEXEC, "-n", 2, "sh", "-c", "cat; echo end $PMI_RANK")
        t.expect("end 1")
        t.send("abc\n")
        t.expect("abc\r\nabc")
        t.send("\x04")
        t.expect("end 0")
        self.assertEqual(t.wait(), 0)


if __name__ == "__main__":
    launch.main()
