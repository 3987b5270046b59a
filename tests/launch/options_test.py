# SPDX-License-Identifier: BSD-3-Clause
"""The command line: programs, environment, directories, hosts, binding, and mistakes."""

import os
import socket
import subprocess
import tempfile
import unittest

import launch
from launch import run

WHO = ("sh", "-c", "echo $PMI_RANK/$PMI_SIZE")


def lines(*args, **kw):
    r = run(*args, **kw)
    assert r.returncode == 0, (args, r.stderr)
    return sorted(r.stdout.splitlines())


class Programs(unittest.TestCase):
    def test_how_many(self):
        want = ["0/3", "1/3", "2/3"]
        for form in (["-n", 3], ["-np", 3], ["--n", 3], ["--np=3"], ["-n3"], ["-np3"], ["-c", 3]):
            self.assertEqual(lines(*form, *WHO), want)

    def test_default_is_the_cores_or_slots(self):
        cores = len(os.sched_getaffinity(0))
        self.assertLessEqual(len(lines(*WHO)), cores)
        self.assertEqual(len(lines("-host", "localhost:3", *WHO)), 3)
        self.assertEqual(len(lines("-ppn", 2, *WHO)), 2)

    def test_sections(self):
        script = "echo $PMI_RANK $V $MPI_LOCALRANKID $SHOAL_APPNUM"
        got = lines(
            "-n",
            2,
            "-env",
            "V",
            "a",
            "sh",
            "-c",
            script,
            ":",
            "-n",
            1,
            "-x",
            "V=b",
            "sh",
            "-c",
            script,
            ":",
            "sh",
            "-c",
            script,
        )
        self.assertEqual(got, ["0 a 0 0", "1 a 1 0", "2 b 2 1", "3 3 2"])

    def test_configfile(self):
        with tempfile.NamedTemporaryFile("w") as f:
            f.write("# two programs\n-n 2 echo one\n\n-n 1 echo two\n")
            f.flush()
            self.assertEqual(lines("-configfile", f.name), ["one", "one", "two"])

    def test_wdir_and_relative_programs(self):
        with tempfile.TemporaryDirectory() as d:
            path = os.path.join(d, "tool")
            with open(path, "w", encoding="ascii") as f:
                f.write("#!/bin/sh\npwd\n")
            os.chmod(path, 0o755)
            real = os.path.realpath(d)
            self.assertEqual(lines("-wdir", d, "-n", 1, "./tool"), [real])
            self.assertEqual(lines("--wd", d, "-path", d, "-n", 1, "tool"), [real])
            env = launch.clean_environment(PATH=d + ":" + os.environ["PATH"])
            self.assertEqual(lines("-n", 1, "tool", env=env), [os.getcwd()])

    def test_double_dash_and_arguments_with_dashes(self):
        self.assertEqual(lines("-n", 1, "--", "sh", "-c", "echo $0 $1", "-n4", "--"), ["-n4 --"])
        self.assertEqual(lines("-n", 1, "sh", "-c", "echo $0", "--help"), ["--help"])


class Environment(unittest.TestCase):
    def variables(self, *args, **kw):
        r = run("-n", 2, *args, "env", **kw)
        return r.stdout.splitlines()

    def test_who_am_i_in_all_dialects(self):
        got = self.variables()
        for name in (
            "PMI_RANK",
            "OMPI_COMM_WORLD_RANK",
            "OMPI_COMM_WORLD_LOCAL_RANK",
            "RANK",
            "LOCAL_RANK",
            "MPI_LOCALRANKID",
        ):
            self.assertIn(name + "=0", got)
            self.assertIn(name + "=1", got)
        for name in ("PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "WORLD_SIZE", "LOCAL_WORLD_SIZE"):
            self.assertEqual(got.count(name + "=2"), 2)
        self.assertEqual(got.count("MASTER_ADDR=127.0.0.1"), 2)
        self.assertEqual(len({x for x in got if x.startswith("MASTER_PORT=")}), 1)

    def test_what_the_user_set_stays(self):
        got = self.variables(env=launch.clean_environment(RANK="7", MASTER_PORT="1"))
        self.assertEqual(got.count("RANK=7"), 2)
        self.assertEqual(got.count("MASTER_PORT=1"), 2)
        self.assertIn("LOCAL_RANK=1", got)
        self.assertEqual(self.variables("-x", "WORLD_SIZE=9").count("WORLD_SIZE=9"), 2)

    def test_inside_another_job(self):
        got = lines(
            "-n", 2, launch.MPIEXEC, "-n", 3, "sh", "-c", "echo $RANK/$WORLD_SIZE $PMI_RANK"
        )
        self.assertEqual(got, sorted(2 * ["0/3 0", "1/3 1", "2/3 2"]))

    def test_nothing_of_the_outer_job_is_inherited(self):
        script = "ls -l /proc/self/fd | grep -c -e socket: -e memfd: -e eventfd"
        self.assertEqual(lines("-n", 1, launch.MPIEXEC, "-n", 1, "sh", "-c", script), ["3"])

    def test_choice(self):
        env = launch.clean_environment(AA="1", BB="2")
        self.assertNotIn("AA=1", self.variables("-genvnone", env=env))
        self.assertNotIn("AA=1", self.variables("-envlist", "BB,PATH", env=env))
        self.assertEqual(self.variables("-envlist", "BB,PATH", env=env).count("BB=2"), 2)
        self.assertIn("AA=1", self.variables("-genvnone", "-envall", env=env))
        self.assertIn("AA=3", self.variables("-genv", "AA", "3", env=env))
        self.assertIn("AA=4", self.variables("-genv", "AA=4", env=env))
        self.assertIn("AA=1", self.variables("-envnone", "-x", "AA", env=env))


class Hosts(unittest.TestCase):
    def test_this_machine(self):
        name = socket.gethostname()
        self.assertEqual(len(lines("-n", 2, "-host", f"localhost,{name}:2,127.0.0.1", *WHO)), 2)
        with tempfile.NamedTemporaryFile("w") as f:
            f.write(f"# hosts\nlocalhost slots=2\n{name}:1\n")
            f.flush()
            for option in ("-hostfile", "-f", "--machinefile"):
                self.assertEqual(len(lines(option, f.name, *WHO)), 3)

    def test_another_machine(self):
        r = run("-n", 2, "-host", "localhost,far.example.org", "true")
        self.assertEqual(r.returncode, 2)
        self.assertIn("'far.example.org' is not this machine", r.stderr)


class Binding(unittest.TestCase):
    SHOW = ("python3", "-c", "import os; print(sorted(os.sched_getaffinity(0)))")

    def test_cores_wrap_around_with_one_warning(self):
        cores = len(os.sched_getaffinity(0))
        r = run("-n", 2 * cores, "-bind-to", "core", *self.SHOW)
        self.assertEqual(r.returncode, 0)
        self.assertEqual(len(r.stderr.splitlines()), 1, r.stderr)
        self.assertIn("share", r.stderr)
        got = r.stdout.splitlines()
        self.assertTrue(all(got.count(x) >= 2 for x in got))
        r = run("-q", "-n", 2 * cores, "-bind-to", "core", "true")
        self.assertEqual(r.stderr, "")

    def test_units(self):
        everything = str(sorted(os.sched_getaffinity(0)))
        for unit in ("none", "socket", "numa", "machine"):
            for got in lines("-q", "-n", 2, f"--bind-to={unit}", *self.SHOW):
                self.assertTrue(set(eval(got)) <= set(eval(everything)))
        self.assertEqual(lines("-n", 1, "-bind-to", "none", *self.SHOW), [everything])
        first = min(os.sched_getaffinity(0))
        for form in (
            ["--cpu-set", first],
            ["-bind-to", f"user:{first}"],
            ["--bind-to", "hwthread", "--cpu-list", first],
        ):
            self.assertEqual(lines("-q", *form, "-n", 2, *self.SHOW), [f"[{first}]"] * 2)

    def test_pe_and_report(self):
        r = run("-q", "--map-by", "socket:PE=2", "--report-bindings", "-n", 2, "true")
        self.assertEqual(r.returncode, 0)
        self.assertEqual(len(r.stderr.splitlines()), 2)

    def test_mistakes(self):
        for args in (["-bind-to", "cor"], ["--map-by", "soket"], ["--cpu-set", "x"]):
            self.assertEqual(run(*args, "-n", 1, "true").returncode, 2)


class Mistakes(unittest.TestCase):
    def check(self, args, text):
        r = run(*args)
        self.assertEqual((r.returncode, r.stdout), (2, ""), args)
        self.assertTrue(r.stderr.startswith("mpiexec: "), r.stderr)
        self.assertEqual(r.stderr.count("\n"), 1)
        self.assertIn(text, r.stderr)

    def test_unknown_options_get_a_suggestion(self):
        self.check(["-bindto", "core", "-n", "2", "true"], "did you mean '-bind-to'?")
        self.check(["--oversubscibe", "-n", "2", "true"], "did you mean '--oversubscribe'?")
        self.check(["-tiemout", "2", "true"], "did you mean '-timeout'?")
        self.check(["-outfile-patern=x", "true"], "did you mean '-outfile-pattern'?")
        self.check(["--zzzzzzzzzzz", "true"], "--help")

    def test_bad_values(self):
        self.check(["-n", "0", "true"], "not a number")
        self.check(["-n", "x", "true"], "not a number")
        self.check(["-n", "99999", "true"], "not a number")
        self.check(["-n"], "needs a value")
        self.check(["-n", "2"], "no program")
        self.check([], "no program")
        self.check(["-stdin", "some", "true"], "neither a rank")
        self.check(["-timeout", "soon", "true"], "not a time")
        self.check(["-on-deadlock", "panic", "true"], "abort, report or ignore")
        self.check(["-label=3", "true"], "takes no value")
        self.check(["-hostfile", "/no/such", "true"], "cannot read")

    def test_stdin_for_a_rank_that_is_not_there(self):
        r = run("-stdin", 5, "-n", 2, "true")
        self.assertEqual(r.returncode, 1)
        self.assertIn("ranks 0 to 1", r.stderr)

    def test_options_of_others_are_accepted(self):
        for args in (
            ["--oversubscribe"],
            ["--allow-run-as-root"],
            ["-ppn", "2"],
            ["--mca", "btl", "^tcp"],
            ["--mca", "pml", "ob1", "-mca", "btl", "self,vader"],
            ["-launcher", "ssh"],
            ["-genvall"],
            ["--map-by", "ppr:2:node"],
            ["--rank-by", "core"],
            ["-iface", "lo"],
            ["--output", "tag"],
            ["-prefix", "/usr"],
            ["--display-map"],
            ["-rmk", "user"],
        ):
            self.assertEqual(run(*args, "-n", 2, "true").returncode, 0, args)


class Telling(unittest.TestCase):
    def test_help_version_info(self):
        for option, text in (
            ("--help", "usage:"),
            ("-h", "usage:"),
            ("--version", "MPI 5.0"),
            ("-V", "Shoal"),
            ("--info", "process_vm_readv"),
            ("-info", "Cores"),
        ):
            r = run(option)
            self.assertEqual((r.returncode, r.stderr), (0, ""))
            self.assertIn(text, r.stdout)
        self.assertLess(len(run("--help").stdout.splitlines()), 50)
        self.assertIn("The world of 7 ranks", run("-n", 7, "--info").stdout)

    def test_verbose(self):
        self.assertIn("rank 1 is process", run("-v", "-n", 2, "true").stderr)

    def test_mpirun(self):
        mpirun = os.path.join(launch.BUILD, "bin", "mpirun")
        r = subprocess.run(
            [mpirun, "-np", "2", "echo", "x"], capture_output=True, text=True, check=False
        )
        self.assertEqual(r.stdout, "x\nx\n")


if __name__ == "__main__":
    launch.main()
