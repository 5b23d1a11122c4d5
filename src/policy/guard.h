/* SPDX-License-Identifier: MIT */
/*
 * guard.h - a policy's C code run so that neither a crash nor an endless loop takes the host along
 *
 * Start, runs and stop of one watch belong to one thread; each thread has its own. A policy holds
 * no lock and owns no memory, so leaving its stack by siglongjmp() loses nothing.
 */
#ifndef GPUSCHED_POLICY_GUARD_H
#define GPUSCHED_POLICY_GUARD_H

/* Starts the watch: calls longer than @limit_ms (at most twice that) are left. */
int gs_guard_start(unsigned int limit_ms);
void gs_guard_stop(void);

#define GS_GUARD_STALLED 1
#define GS_GUARD_CRASHED 2
/* 0 when @fn ran to its end, else GS_GUARD_*. */
int gs_guard_run(void (*fn)(void *arg), void *arg);
/* The signal of this thread's last crash. */
int gs_guard_signal(void);

#endif /* GPUSCHED_POLICY_GUARD_H */
