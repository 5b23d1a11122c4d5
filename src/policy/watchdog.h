/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - a policy's C code run so that neither a crash nor an endless loop takes the host along
 *
 * Start, runs and stop of one watch belong to one thread; each thread has its own. A policy holds
 * no lock and owns no memory, so leaving its stack by siglongjmp() loses nothing.
 */
#ifndef GPUSCHED_POLICY_WATCHDOG_H
#define GPUSCHED_POLICY_WATCHDOG_H

/*
 * Starts the watch: a call that has taken @limit_ms (at most twice that) is left. Where it had less
 * than half of that of a processor it is the machine that is slow: then it has 20 times as long.
 */
int gs_watchdog_start(unsigned int limit_ms);
void gs_watchdog_stop(void);

#define GS_WATCHDOG_STALLED 1
#define GS_WATCHDOG_CRASHED 2
/* 0 when @fn ran to its end, else GS_WATCHDOG_*. */
int gs_watchdog_run(void (*fn)(void *arg), void *arg);
/* The signal of this thread's last crash. */
int gs_watchdog_signal(void);

#endif /* GPUSCHED_POLICY_WATCHDOG_H */
