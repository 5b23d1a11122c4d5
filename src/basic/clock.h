/* SPDX-License-Identifier: MIT */
#ifndef GPUSCHED_BASIC_CLOCK_H
#define GPUSCHED_BASIC_CLOCK_H

#include <stdint.h>
#include <time.h>

#define NS_PER_US 1000ull
#define NS_PER_MS 1000000ull
#define NS_PER_S 1000000000ull

static inline uint64_t gs_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

/* CPU time of the calling thread. */
static inline uint64_t gs_thread_cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static inline void gs_sleep_ns(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S) };

	while (nanosleep(&t, &t))
		;
}

#endif /* GPUSCHED_BASIC_CLOCK_H */
