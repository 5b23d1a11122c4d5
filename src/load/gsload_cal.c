// SPDX-License-Identifier: MIT
/*
 * gsload_cal.c - measures the GPU's speed once for several programs that start together
 *
 * A measurement is useless while other programs' kernels run. So the first program locks a file,
 * measures, and writes the result into the file, which the others read. There is one file for each
 * simulated GPU; for real GPUs, each user has files. If the file cannot be used, each program
 * measures for itself, and repeats a disturbed measurement.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "load/gsload.h"

#define KEPT_S 600 /* older results do not count, since clocks or driver may have changed */
#define LOCK_S 5   /* simulated time; a measurement takes less than 1 s */
#define ATTEMPTS 5

/* Makes a text of everything on which the result depends. */
static void key_of(const struct gsload_cuda *c, char *ret, size_t size)
{
	snprintf(ret, size, "%s/%d/%d", c->name, c->multiprocessors, c->clock_khz);
}

static void path_of(const char *key, char *ret, size_t size)
{
	const char *dir = getenv("GPUSCHED_SIM"), *run = getenv("XDG_RUNTIME_DIR");
	bool sim = dir && *dir;
	uint64_t hash = 14695981039346656037ull;

	for (const char *p = key; *p; p++)
		hash = (hash ^ (unsigned char)*p) * 1099511628211ull;
	if (!sim)
		dir = run && *run ? run : "/tmp";
	snprintf(ret, size, "%s/gsload-%u-%016" PRIx64, dir, sim ? 0 : (unsigned int)geteuid(),
		 hash);
}

/* Opens and locks the file; -1: it cannot be used, or another program keeps the lock. */
static int open_kept(const struct gsload_options *o, const char *path)
{
	uint64_t until = gs_now_ns() + (uint64_t)(LOCK_S * o->dilate * 1e9);
	CLEANUP_FD int fd =
		open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0644);
	struct stat st;

	if (fd < 0) /* with a simulated GPU, the file may belong to root: then only read it */
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
	    (st.st_uid != geteuid() && st.st_uid))
		return -1;
	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (gsload_stop || gs_now_ns() >= until || (errno != EWOULDBLOCK && errno != EINTR))
			return -1;
		gs_sleep_ns(10 * NS_PER_MS);
	}
	return TAKE_FD(fd);
}

/* Returns the rate in the file; 0: there is none, or it is too old, or for another GPU. */
static double read_kept(int fd, const char *key)
{
	char text[256] = "", *end;
	struct stat st;
	double age, v;

	if (fstat(fd, &st) || pread(fd, text, sizeof(text) - 1, 0) <= 0)
		return 0;
	age = difftime(time(NULL), st.st_mtime);
	v = strtod(text, &end);
	if (age < 0 || age > KEPT_S || !(v > 0 && v < 1e9) || *end != ' ' ||
	    strncmp(end + 1, key, strlen(key)) || strcmp(end + 1 + strlen(key), "\n"))
		return 0;
	return v;
}

/* Writes the rate. If we are killed meanwhile, readers notice that the key is incomplete. */
static void keep(int fd, const char *key, double v)
{
	char text[256];
	int n = snprintf(text, sizeof(text), "%.3f %s\n", v, key);

	/* if the file cannot be written, the next program measures too */
	if (ftruncate(fd, 0))
		return;
	if (pwrite(fd, text, (size_t)n, 0) != n && ftruncate(fd, 0))
		return;
}

void gsload_calibrate(struct gsload_cuda *c, const struct gsload_options *o,
		      struct gsload_result *r)
{
	char key[160], path[4096];
	CLEANUP_FD int fd = -1;

	r->iterations_per_us = o->iterations_per_us;
	if (r->iterations_per_us > 0)
		return;
	key_of(c, key, sizeof(key));
	path_of(key, path, sizeof(path));
	fd = open_kept(o, path);
	if (fd >= 0 && o->mode != GSLOAD_CAL)
		r->iterations_per_us = read_kept(fd, key);
	if (r->iterations_per_us > 0)
		return;
	for (int i = 0; i < ATTEMPTS && !(r->iterations_per_us > 0); i++)
		r->iterations_per_us = gsload_measure(c, o, r);
	if (!(r->iterations_per_us > 0)) {
		fprintf(stderr, "gsload: calibration failed: is another program using the GPU? "
				"Give --iterations-per-us of an idle one\n");
		exit(1);
	}
	if (fd >= 0)
		keep(fd, key, r->iterations_per_us);
}
