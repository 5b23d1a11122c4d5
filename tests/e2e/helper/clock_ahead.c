// SPDX-License-Identifier: MIT
/*
 * clock_ahead.c - preloaded library: shows the wall clock ahead, by the seconds that the file
 * $CLOCK_AHEAD has, or by an hour
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long ahead(void)
{
	const char *path = getenv("CLOCK_AHEAD");
	long s = 3600;
	FILE *f = path ? fopen(path, "re") : NULL;

	if (f && fscanf(f, "%ld", &s) != 1)
		s = 0;
	if (f)
		fclose(f);
	return s;
}

__attribute__((visibility("default"))) int clock_gettime(clockid_t clock, struct timespec *t)
{
	int r = (int)syscall(SYS_clock_gettime, clock, t);

	if (!r && clock == CLOCK_REALTIME)
		t->tv_sec += ahead();
	return r;
}

__attribute__((visibility("default"))) time_t time(time_t *ret)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	if (ret)
		*ret = t.tv_sec;
	return t.tv_sec;
}
