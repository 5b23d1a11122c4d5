// SPDX-License-Identifier: MIT
/*
 * hoarder.c - preloaded library: makes HOARD_N objects of kind HOARD in the RM
 *
 * HOARD names the kind: "files", "own" (clients) or "devices", which are not used; "tsgs" without
 * a channel; "used": scheduled TSGs with one channel each; "channels", 128 in each TSG. They are
 * made before gsload starts CUDA, or HOARD_AFTER seconds later by a thread.
 */
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rm.h"

#define FIRST 0x02000000u /* handles that libcuda does not use */
#define CHANNELS_PER_TSG 128u

void die(const char *what)
{
	perror(what);
	_exit(1);
}

static void tsg(int fd, uint32_t client, uint32_t handle)
{
	uint32_t params[8] = { 0, 0, 0, 1 };

	must(rm_alloc(fd, client, RC_DEVICE, &handle, 0xa06c, params), "TSG");
}

static void channel(int fd, uint32_t client, uint32_t of, uint32_t handle)
{
	uint32_t params[128] = { 0 };

	must(rm_alloc(fd, client, of, &handle, 0xc86f, params), "channel");
}

static void one_more(char what, int fd, uint32_t client, uint32_t i)
{
	uint32_t device[14] = { 0 }, own = 0, h = FIRST + 2 * i, of;

	switch (what) {
	case 'f':
		new_client(open_ctl(O_CLOEXEC), 0);
		break;
	case 'c':
		of = FIRST + 2 * (i - i % CHANNELS_PER_TSG);
		if (h == of)
			tsg(fd, client, of);
		channel(fd, client, of, h + 1);
		break;
	case 'd':
		must(rm_alloc(fd, client, client, &h, 0x80, device), "device");
		break;
	case 'o': /* "own": clients */
		must(rm_alloc(fd, 0, 0, &own, 0x41, NULL), "client");
		break;
	default:
		tsg(fd, client, h);
		if (what != 'u')
			break;
		channel(fd, client, h, h + 1);
		rc_schedule(fd, client, h, 1);
	}
}

static void *hoard(void *after)
{
	const char *what = getenv("HOARD"), *n = getenv("HOARD_N");
	struct rlimit files = { 20000, 20000 };
	uint32_t client;
	int fd;

	if (after)
		sleep((unsigned int)atoi(after));
	setrlimit(RLIMIT_NOFILE, &files);
	fd = open_ctl(O_CLOEXEC);
	client = new_client(fd, 0);
	for (uint32_t i = 0; i < (uint32_t)atoi(n); i++)
		one_more(what[0], fd, client, i);
	fprintf(stderr, "hoarded %s %s\n", n, what);
	return NULL;
}

__attribute__((constructor)) static void begin(void)
{
	char *after = getenv("HOARD_AFTER");
	pthread_t thread;

	if (!getenv("HOARD") || !getenv("HOARD_N") ||
	    strcmp(program_invocation_short_name, "gsload") != 0)
		return;
	if (after)
		pthread_create(&thread, NULL, hoard, after);
	else
		hoard(NULL);
}
