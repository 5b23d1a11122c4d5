/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - runs a policy's C code so that neither a crash nor an endless loop ends the host
 *
 * One thread starts, runs and stops a watch; each thread has its own. A policy holds no lock and
 * owns no memory, so leaving its stack by siglongjmp() loses nothing.
 */
#ifndef GPUSCHED_POLICY_WATCHDOG_H
#define GPUSCHED_POLICY_WATCHDOG_H

/*
 * Starts the watch: a call that has taken @limit_ms (at most twice that) is left. If the call had a
 * processor for less than half of that time, the machine is slow: then it has 20 times as long.
 */
int gs_watchdog_start(unsigned int limit_ms);
void gs_watchdog_stop(void);

#define GS_WATCHDOG_STALLED 1
#define GS_WATCHDOG_CRASHED 2
/* Returns 0 if @fn ran to its end, else GS_WATCHDOG_*. */
int gs_watchdog_run(void (*fn)(void *arg), void *arg);
/* The signal of this thread's last crash. */
int gs_watchdog_signal(void);

#endif /* GPUSCHED_POLICY_WATCHDOG_H */
