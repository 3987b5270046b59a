# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 240
"""What ranks write arrives: whole lines, in order, all of it, and in bounded memory."""

import os
import re
import subprocess
import tempfile
import time
import unittest

import launch
from launch import run, start

WRITER = os.path.join(launch.PROGRAMS, "launch.writer")
PIECES = (
    'for i in 1 2 3 4 5; do printf "$PMI_RANK-"; sleep 0.0$((PMI_RANK % 3 + 1)); done; echo end'
)


class Lines(unittest.TestCase):
    def check_writer(self, path, ranks):
        """Every line of the file is whole, and each rank's lines are in order."""
        seen = [0] * ranks
        pattern = re.compile(rb"(\d+) (\d+) ([a-z]*)\n")
        with open(path, "rb") as f:
            for line in f:
                m = pattern.fullmatch(line)
                self.assertTrue(m, line[:200])
                rank, number, fill = int(m[1]), int(m[2]), m[3]
                self.assertEqual(number, seen[rank])
                self.assertEqual(len(set(fill)) if fill else 0, 1 if fill else 0)
                seen[rank] += 1
        return seen

    def test_100_megabytes_of_64_ranks(self):
        each = 100_000_000 // 64
        with tempfile.NamedTemporaryFile() as alone, tempfile.NamedTemporaryFile() as out:
            total = 0
            for rank in range(64):
                env = launch.clean_environment(PMI_RANK=str(rank))
                subprocess.run([WRITER, str(each)], stdout=alone, env=env, check=True)
            total = os.path.getsize(alone.name)
            with subprocess.Popen(
                [launch.MPIEXEC, "-n", "64", WRITER, str(each)],
                stdout=subprocess.PIPE,
                env=launch.clean_environment(),
            ) as p:
                # A reader with its own pace, through a pipe as users have it.
                while data := p.stdout.read(1 << 20):
                    out.write(data)
            out.flush()
            self.assertEqual(p.returncode, 0)
            self.assertEqual(os.path.getsize(out.name), total)
            self.assertTrue(all(self.check_writer(out.name, 64)))

    def test_pieces_of_a_line_stay_together(self):
        r = run("-n", 8, "sh", "-c", PIECES)
        self.assertEqual(sorted(r.stdout.splitlines()), [f"{i}-" * 5 + "end" for i in range(8)])

    def test_stdout_and_stderr_stay_apart(self):
        r = run("-n", 4, "sh", "-c", "echo out; echo err >&2")
        self.assertEqual((r.stdout, r.stderr), ("out\n" * 4, "err\n" * 4))

    def test_stdout_and_stderr_in_one_pipe_do_not_mix(self):
        script = PIECES + "; (" + PIECES + ") >&2"
        with subprocess.Popen(
            [launch.MPIEXEC, "-n", "6", "sh", "-c", script],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as p:
            lines = p.stdout.read().splitlines()
        self.assertEqual(sorted(lines), sorted(2 * [f"{i}-" * 5 + "end" for i in range(6)]))

    def test_end_without_newline(self):
        self.assertEqual(run("-n", 1, "printf", "abc").stdout, "abc")
        r = run("-n", 3, "printf", "abc")
        self.assertEqual(r.stdout, "abc\nabc\nabc")

    def test_line_of_eight_megabytes(self):
        script = (
            'import os,sys; r=os.environ["PMI_RANK"]; '
            'sys.stdout.write(r*(8<<20)+"\\n"); print("last",r)'
        )
        r = run("-n", 3, "python3", "-c", script)
        lines = r.stdout.splitlines()
        self.assertEqual(sorted(len(x) for x in lines), [6, 6, 6] + 3 * [8 << 20])
        self.assertTrue(all(len(set(x)) == 1 for x in lines if len(x) > 6))

    def test_a_long_unfinished_line_does_not_block_the_others(self):
        # Rank 0 holds the line and waits for rank 1, which must be able to write a lot first.
        with tempfile.TemporaryDirectory() as d:
            script = (
                f'import os,sys,time\nr=os.environ["PMI_RANK"]; flag="{d}/flag"\n'
                'if r=="0":\n  sys.stdout.write("0"*(3<<20)); sys.stdout.flush()\n'
                '  while not os.path.exists(flag): time.sleep(0.01)\n  print("done")\n'
                'else:\n  [print("1"*99) for i in range(40000)]; open(flag,"w")\n'
            )
            r = run("-n", 2, "python3", "-c", script)
        self.assertEqual(r.returncode, 0)
        self.assertEqual(r.stdout.count("1" * 99 + "\n"), 40000)
        self.assertEqual(r.stdout.replace("\n", "").count("0"), 3 << 20)


class Forms(unittest.TestCase):
    def test_labels(self):
        for option in ("-l", "--label", "-prepend-rank", "--tag-output"):
            r = run(option, "-n", 2, "sh", "-c", "printf a; echo b; echo c >&2")
            self.assertEqual(sorted(r.stdout.splitlines()), ["[0] ab", "[1] ab"])
            self.assertEqual(sorted(r.stderr.splitlines()), ["[0] c", "[1] c"])

    def test_files_by_pattern(self):
        with tempfile.TemporaryDirectory() as d:
            r = run(
                "-outfile-pattern",
                f"{d}/out.%r",
                "-errfile-pattern",
                f"{d}/err",
                "-n",
                3,
                "sh",
                "-c",
                "echo $PMI_RANK; echo e >&2",
            )
            self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))
            for i in range(3):
                with open(f"{d}/out.{i}", encoding="ascii") as f:
                    self.assertEqual(f.read(), f"{i}\n")
            with open(f"{d}/err", encoding="ascii") as f:
                self.assertEqual(f.read(), "e\n" * 3)
            r = run("--output-filename", f"{d}/new", "-n", 2, "sh", "-c", "echo $PMI_RANK")
            with open(f"{d}/new/1/rank.1/stdout", encoding="ascii") as f:
                self.assertEqual(f.read(), "1\n")

    def test_file_that_cannot_be_written(self):
        r = run("-outfile-pattern", "/nosuch/%r", "-n", 2, "true")
        self.assertEqual(r.returncode, 1)
        self.assertIn("cannot write '/nosuch/0'", r.stderr)

    def test_merge(self):
        r = run("--merge-stderr-to-stdout", "-n", 1, "sh", "-c", "echo a; echo b >&2; echo c")
        self.assertEqual((r.stdout, r.stderr), ("a\nb\nc\n", ""))


class Readers(unittest.TestCase):
    def test_closed_pipe_ends_the_job(self):
        mark = f"0.{os.getpid()}1"
        p = start("-n", 4, "sh", "-c", f"yes {mark}")
        self.assertEqual(p.stdout.readline(), mark + "\n")
        p.stdout.close()
        self.assertEqual(p.wait(launch.SOON), 141)
        self.assertEqual(p.stderr.read(), "")
        p.stderr.close()
        self.assertEqual(launch.marked(mark), [])

    def test_slow_reader_costs_no_memory(self):
        p = start("-n", 8, WRITER, 50_000_000)
        time.sleep(0.5)
        with open(f"/proc/{p.pid}/status", encoding="ascii") as f:
            status = dict(line.split(":", 1) for line in f if ":" in line)
        anonymous = int(status["RssAnon"].split()[0])
        p.terminate()
        p.stdout.close()
        p.stderr.close()
        p.wait(launch.SOON)
        self.assertLess(anonymous, 16 * 1024)  # KiB

    def test_a_daemon_that_keeps_the_pipe_is_not_waited_for(self):
        with tempfile.NamedTemporaryFile("r") as pid_file:
            leave = f"sleep 20 & echo $! >>{pid_file.name}; echo started"
            r = run("-n", 2, "sh", "-c", leave, timeout=launch.SOON)
            self.assertEqual(r.stdout, "started\n" * 2)
            for pid in map(int, pid_file.read().split()):
                os.kill(pid, 15)  # what a rank leaves behind is left alone: it must be there

    def test_full_disk_is_told(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            p = start("-n", 2, "echo", "hello", stdout=full)
            err = p.communicate(timeout=launch.SOON)[1]
        self.assertEqual(p.returncode, 1)
        self.assertIn("No space left", err)


if __name__ == "__main__":
    launch.main()
