/* SPDX-License-Identifier: MIT */
/*
 * watchdog.h - runs a policy's C code so that neither a crash nor an endless loop ends the host
 *
 * Each thread has its own watch, which that thread starts, uses and stops. A policy holds no lock
 * and owns no memory, so leaving its stack by siglongjmp() loses nothing.
 */
#ifndef GPUSCHED_POLICY_WATCHDOG_H
#define GPUSCHED_POLICY_WATCHDOG_H

/*
 * Starts the watch: from now on a call is aborted when it has taken between @limit_ms and twice
 * that. If the call had a CPU for less than half of @limit_ms, the machine is busy, and the limit
 * is about 20 times as long.
 */
int gs_watchdog_start(unsigned int limit_ms);
void gs_watchdog_stop(void);

#define GS_WATCHDOG_STALLED 1
#define GS_WATCHDOG_CRASHED 2
/* Returns 0 if @fn ran to its end, else GS_WATCHDOG_*. */
int gs_watchdog_run(void (*fn)(void *arg), void *arg);
/* Returns the signal of this thread's last crash. */
int gs_watchdog_signal(void);

#endif /* GPUSCHED_POLICY_WATCHDOG_H */
