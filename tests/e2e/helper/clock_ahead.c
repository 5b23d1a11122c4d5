// SPDX-License-Identifier: MIT
/* clock_ahead.c - preloaded library: shows the wall clock one hour ahead */
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (!r && clock == CLOCK_REALTIME)
		t->tv_sec += 3600;
	return r;
}
