# SPDX-License-Identifier: BSD-3-Clause
# TIMEOUT: 120
"""How jobs end: statuses, the line that says why, time, and that nobody is left."""

import os
import random
import re
import signal
import subprocess
import tempfile
import time
import unittest

import launch
from launch import marked, run, start, wait_until


def only_rank(n, action, others="sleep 30"):
    return ("sh", "-c", f"if [ $PMI_RANK = {n} ]; then {action}; fi; {others}")


class Statuses(unittest.TestCase):
    def test_all_well(self):
        r = run("-n", 5, "true")
        self.assertEqual((r.returncode, r.stdout, r.stderr), (0, "", ""))

    def test_exit_status_takes_the_job_down(self):
        r = run("-n", 4, *only_rank(2, "exit 5"), timeout=launch.SOON)
        self.assertEqual(r.returncode, 5)
        self.assertRegex(r.stderr, r"\Ampiexec: rank 2 \(pid \d+\) exited with status 5\n\Z")

    @unittest.skipIf(launch.sanitized(launch.BUILD), "sanitizers need more address space than any limit leaves")
    def test_no_rank_goes_on_alone(self):
        limited = f"ulimit -v 1000000; exec {os.path.join(launch.PROGRAMS, 'launch.stuck')} ring 1"
        r = run("-n", 4, "sh", "-c", limited, timeout=launch.SOON)
        self.assertEqual(r.returncode, 16)
        self.assertRegex(r.stderr, r"rank [0-3] cannot map the \d+ shared bytes .*ulimit -v")

    def test_signal(self):
        r = run("-n", 4, *only_rank(3, "kill -9 $$"))
        self.assertEqual(r.returncode, 137)
        self.assertRegex(
            r.stderr, r"\Ampiexec: rank 3 \(pid \d+\) was killed by signal 9 \(Killed\)\n\Z"
        )
        r = run("-n", 1, *only_rank(0, "kill -SEGV $$"))
        self.assertEqual(r.returncode, 139)
        self.assertIn("signal 11", r.stderr)

    def test_first_in_time_gives_the_status(self):
        r = run("-n", 3, "sh", "-c", "sleep 0.$((3 - PMI_RANK)); exit $((10 + PMI_RANK))")
        self.assertEqual(r.returncode, 12)

    def test_ranks_that_ignore_sigterm_are_killed(self):
        deaf = "trap '' TERM; sleep 30; sleep 30"
        r = run("-n", 4, *only_rank(0, "sleep 0.1; exit 1", deaf), timeout=launch.SOON)
        self.assertEqual(r.returncode, 1)

    def test_sigterm_comes_first(self):
        with tempfile.NamedTemporaryFile("r") as f:
            run(
                "-n",
                2,
                *only_rank(
                    0,
                    "sleep 0.2; exit 1",
                    f"trap 'echo term >{f.name}; exit' TERM; sleep 30 & wait",
                ),
            )
            self.assertEqual(f.read(), "term\n")

    def test_others_go_on_if_asked_to(self):
        r = run("-disable-auto-cleanup", "-n", 3, *only_rank(0, "exit 4", "sleep 0.2; echo on"))
        self.assertEqual((r.returncode, r.stdout), (4, "on\non\n"))

    def test_timeout(self):
        r = run("--timeout", "0.3", "-n", 2, "sleep", "30", timeout=launch.SOON)
        self.assertEqual(r.returncode, 124)
        self.assertIn("--timeout", r.stderr)

    def test_exit_codes_listed(self):
        r = run(
            "-print-all-exitcodes",
            "-disable-auto-cleanup",
            "-n",
            2,
            *only_rank(1, "exit 3", "true"),
        )
        self.assertIn("rank 0: status 0\n", r.stderr)
        self.assertIn("rank 1: status 3\n", r.stderr)


class CannotRun(unittest.TestCase):
    def test_not_found(self):
        r = run("-n", 3, "no-such-program")
        self.assertEqual(r.returncode, 127)
        self.assertEqual(r.stderr.count("cannot run"), 1)
        self.assertIn("cannot run 'no-such-program': No such file or directory", r.stderr)
        self.assertEqual(run("-n", 1, "./no/such").returncode, 127)

    def test_not_executable(self):
        with tempfile.NamedTemporaryFile("w", suffix=".py", dir=".") as f:
            r = run("-n", 2, "./" + os.path.basename(f.name))
            self.assertEqual(r.returncode, 126)
            self.assertIn("Permission denied", r.stderr)
            self.assertIn("try `python ./", r.stderr)
            r = run("-n", 2, os.path.basename(f.name))
            self.assertEqual(r.returncode, 127)
            self.assertIn("try `python " + os.path.basename(f.name), r.stderr)
        with tempfile.NamedTemporaryFile("w", dir=".") as f:
            self.assertIn("try ./", run("-n", 2, os.path.basename(f.name)).stderr)
        self.assertEqual(run("/").returncode, 126)
        self.assertIn("mpiexec -n 4 ./program", run("4", "true").stderr)
        self.assertIn("try python3", run("python", env=launch.clean_environment(PATH="/nowhere")).stderr)
        empty = run("-n", 2, "")
        self.assertEqual((empty.returncode, empty.stderr[:26]), (2, "mpiexec: no program to run"))

    def test_missing_interpreter_and_plain_script(self):
        with tempfile.TemporaryDirectory() as d:
            for name, text in (("bad", "#!/no/such/sh\n"), ("plain", "echo plain $1\n")):
                with open(f"{d}/{name}", "w", encoding="ascii") as f:
                    f.write(text)
                os.chmod(f"{d}/{name}", 0o755)
            r = run(f"{d}/bad")
            self.assertEqual(r.returncode, 127)
            self.assertIn("interpreter", r.stderr)
            self.assertEqual(run("-n", 1, f"{d}/plain", "x").stdout, "plain x\n")

    def test_second_program_missing(self):
        mark = f"31.{os.getpid()}"
        r = run("-n", 2, "sleep", mark, ":", "-n", 1, "no-such-program")
        self.assertEqual(r.returncode, 127)
        self.assertEqual(marked(mark), [])


class Signals(unittest.TestCase):
    def test_ctrl_c(self):
        p = start("-n", 4, "sleep", "30", stdout=subprocess.DEVNULL)
        time.sleep(0.2)
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=launch.SOON)[1]
        self.assertEqual((p.returncode, err), (130, ""))

    def test_ctrl_c_is_the_ranks_business(self):
        p = start("-n", 2, "sh", "-c", "trap 'echo int; exit 0' INT; echo up; sleep 30 & wait")
        self.assertEqual(p.stdout.readline() + p.stdout.readline(), "up\nup\n")
        p.send_signal(signal.SIGINT)
        out = p.communicate(timeout=launch.SOON)[0]
        self.assertEqual((p.returncode, out), (0, "int\nint\n"))

    def test_ctrl_c_twice_kills(self):
        mark = f"32.{os.getpid()}"
        p = start("-n", 3, "sh", "-c", f"trap '' INT; echo up; sleep {mark}")
        for _ in range(3):
            p.stdout.readline()
        p.send_signal(signal.SIGINT)
        time.sleep(0.3)
        self.assertIsNone(p.poll())
        p.send_signal(signal.SIGINT)
        p.communicate(timeout=launch.SOON)
        self.assertEqual(p.returncode, 130)
        self.assertTrue(wait_until(lambda: not marked(mark), 1))

    def test_sigterm_and_usr1(self):
        p = start(
            "-n", 2, "sh", "-c", "trap 'echo usr1' USR1; echo up; while :; do sleep 0.05; done"
        )
        for _ in range(2):
            p.stdout.readline()
        p.send_signal(signal.SIGUSR1)
        self.assertEqual(p.stdout.readline() + p.stdout.readline(), "usr1\nusr1\n")
        p.terminate()
        p.communicate(timeout=launch.SOON)
        self.assertEqual(p.returncode, 143)

    def test_parent_that_ignores_sigchld(self):
        script = f"trap '' CHLD; exec {launch.MPIEXEC} -n 2 sh -c 'exit 3'"
        self.assertEqual(
            subprocess.run(["bash", "-c", script], stderr=subprocess.DEVNULL).returncode, 3
        )

    def test_one_signal_reaches_wrapped_programs_once(self):
        script = (
            "import signal,time\nn=[0]\ndef h(*a): n[0]+=1\nsignal.signal(10,h)\n"
            "print('up',flush=True)\nt=time.time()+1.2\nwhile time.time()<t: time.sleep(0.05)\n"
            "print('count',n[0])"
        )
        p = start("-n", 1, "sh", "-c", f'trap "" USR1; python3 -c "{script}"; true')
        self.assertEqual(p.stdout.readline(), "up\n")
        time.sleep(0.4)
        p.send_signal(signal.SIGUSR1)
        self.assertEqual(p.communicate(timeout=launch.SOON)[0], "count 1\n")

    def test_nohup_stays_ignored(self):
        p = subprocess.Popen(
            ["sh", "-c", f"trap '' HUP; exec {launch.MPIEXEC} -n 2 sleep 0.6"],
            env=launch.clean_environment(),
        )
        time.sleep(0.2)
        p.send_signal(signal.SIGHUP)
        self.assertEqual(p.wait(launch.SOON), 0)

    def test_stop_and_continue(self):
        mark = f"33.{os.getpid()}"
        p = start("-n", 2, "sleep", mark, stdout=subprocess.DEVNULL)

        def states():
            found = set()
            for pid in marked(mark):
                with open(f"/proc/{pid}/stat", encoding="ascii") as f:
                    found.add(f.read().rsplit(")", 1)[1].split()[0])
            return found

        self.assertTrue(wait_until(lambda: len(marked(mark)) >= 3))
        p.send_signal(signal.SIGTSTP)
        self.assertTrue(wait_until(lambda: states() == {"T"}, 3), states())
        p.send_signal(signal.SIGCONT)
        self.assertTrue(wait_until(lambda: states() == {"S"}, 3), states())
        p.terminate()
        p.communicate(timeout=launch.SOON)


class Leftovers(unittest.TestCase):
    def setUp(self):
        self.mark = f"34.{os.getpid()}{random.randrange(10**6)}"
        self.places = {d: set(os.listdir(d)) for d in ("/dev/shm", "/tmp") if os.path.isdir(d)}

    def tearDown(self):
        launch.kill_marked(self.mark)

    def left(self):
        return [
            f"{d}/{n}"
            for d, before in self.places.items()
            for n in set(os.listdir(d)) - before
            if "shoal" in n.lower() or "mpi" in n.lower()
        ]

    def test_kill_9_of_mpiexec(self):
        p = start("-n", 4, "sleep", self.mark)
        self.assertTrue(wait_until(lambda: len(marked(self.mark)) >= 5))
        p.kill()
        p.communicate()
        self.assertTrue(wait_until(lambda: not marked(self.mark), 2), marked(self.mark))
        self.assertEqual(self.left(), [])

    def test_kill_9_of_mpiexec_with_wrappers(self):
        p = start(
            "-n",
            3,
            "sh",
            "-c",
            f"sleep {self.mark}; true",
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self.assertTrue(wait_until(lambda: len(marked(self.mark)) >= 7))
        p.kill()
        p.wait()
        self.assertTrue(wait_until(lambda: not marked(self.mark), 2), marked(self.mark))

    def test_wrapped_ranks_end_with_the_job(self):
        r = run("-n", 3, *only_rank(0, "sleep 0.2; exit 7", f"sleep {self.mark}; true"))
        self.assertEqual(r.returncode, 7)
        self.assertEqual(marked(self.mark), [])

    def test_no_zombie_and_no_keeper_left(self):
        run("-n", 2, "true")
        names = subprocess.run(
            ["ps", "-eo", "comm,ppid"], capture_output=True, text=True, check=False
        )
        own = re.findall(rf"^(shoal-keeper|mpiexec)\s+{os.getpid()}$", names.stdout, re.MULTILINE)
        self.assertEqual(own, [])

    def test_kill_9_of_random_ranks(self):
        for _ in range(10):
            p = start("-n", 4, "sleep", self.mark, stdout=subprocess.DEVNULL)
            self.assertTrue(wait_until(lambda: len(marked(self.mark)) >= 5))
            victim = random.choice([x for x in marked(self.mark) if x != p.pid])
            os.kill(victim, signal.SIGKILL)
            err = p.communicate(timeout=launch.SOON)[1]
            self.assertEqual(p.returncode, 137)
            self.assertIn(f"(pid {victim}) was killed by signal 9", err)
            self.assertEqual(marked(self.mark), [])


if __name__ == "__main__":
    launch.main()
