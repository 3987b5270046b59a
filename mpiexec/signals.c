// SPDX-License-Identifier: BSD-3-Clause
// A signalfd instead of handlers. What the user was ignoring (nohup, background jobs of scripts)
// stays ignored, here and in the ranks.
#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "input.h"
#include "plat/error.h"
#include "plat/plat.h"
#include "run.h"
#include "say.h"

#define SECOND_NS (10000 * SHOAL_MS) // the same signal again within this time kills
#define REMIND_NS (1000 * SHOAL_MS)

static shoal_source source;
static void on_remind(shoal_timer *);
static shoal_timer remind_timer = {.fire = on_remind};
static int64_t last_ns;

static void on_remind(shoal_timer *t)
{
    (void)t;
    const shoal_run *run = &shoal_the_run;
    if (!run->alive || run->ending) return;
    shoal_say_warning("%u rank%s still there after %s; the same again kills", run->alive,
                      run->alive == 1 ? " is" : "s are",
                      run->last_signal == SIGINT ? "ctrl-C" : "the signal");
}

// SIGINT, SIGTERM, SIGHUP, SIGQUIT: the ranks decide what they do about it; again, and they die.
static void pass_on_end(int signal, bool from_terminal)
{
    shoal_run *run = &shoal_the_run;
    int64_t now = shoal_now_ns();
    bool again = run->last_signal == signal && now - last_ns < SECOND_NS;
    last_ns = now;
    run->last_signal = signal;
    if (again || !run->alive) {
        // With no rank left only output is waited for, and the user does not want to wait.
        if (!run->alive) _exit(run->status ? run->status : 128 + signal);
        run->status = 128 + signal;
        run->ending = true;
        shoal_run_kill();
        return;
    }
    // A terminal has told the ranks as well where they share its foreground group.
    if (!(from_terminal && !run->own_groups)) shoal_run_signal(signal);
    shoal_loop_after(&remind_timer, REMIND_NS);
}

static void stop_all(bool from_terminal)
{
    if (!(from_terminal && !shoal_the_run.own_groups)) shoal_run_signal(SIGTSTP);
    // Stops mpiexec here; SIGCONT lets it go on and comes as a signal of its own.
    kill(getpid(), SIGSTOP);
}

static void reap_without_pidfd(void)
{
    for (uint32_t i = 0; i < shoal_the_run.nranks; i++) {
        shoal_rank *r = &shoal_the_run.ranks[i];
        if (r->pid > 0 && r->exit.fd < 0 && !r->gone) shoal_run_on_exit(r);
    }
}

static void on_signal(shoal_source *s, uint32_t events)
{
    (void)events;
    struct signalfd_siginfo info;
    while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info) {
        int signal = (int)info.ssi_signo;
        bool from_terminal = info.ssi_code == SI_KERNEL;
        switch (signal) {
        case SIGCHLD: reap_without_pidfd(); break;
        case SIGTSTP: stop_all(from_terminal); break;
        case SIGCONT:
            shoal_run_signal(SIGCONT);
            shoal_input_foreground();
            break;
        case SIGUSR1:
        case SIGUSR2:
        case SIGWINCH:
            if (!(from_terminal && !shoal_the_run.own_groups)) shoal_run_signal(signal);
            break;
        default: pass_on_end(signal, from_terminal);
        }
    }
}

int shoal_signals_open(void)
{
    static const int wanted[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,  SIGTSTP,
                                 SIGCONT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD};
    sigset_t set;
    sigemptyset(&set);
    signal(SIGCHLD, SIG_DFL); // ignored, it would keep from us how ranks ended
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct sigaction now;
        // A blocked signal is delivered to a signalfd even if it is ignored; so leave those out.
        if (sigaction(wanted[i], NULL, &now) == 0 && now.sa_handler == SIG_IGN) continue;
        sigaddset(&set, wanted[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTTIN, SIG_IGN);
    signal(SIGTTOU, SIG_IGN);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0) return shoal_fail(SHOAL_E_SYS, "signalfd: %s", strerror(errno));
    source = (shoal_source){.fd = fd, .ready = on_signal};
    shoal_loop_watch(&source, EPOLLIN);
    return 0;
}
