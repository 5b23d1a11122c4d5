// SPDX-License-Identifier: MIT
/*
 * await.c - waits for a daemon that is starting: it holds the lock but does not listen yet
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "lib/remote.h"

#define LOOK_NS (50 * NS_PER_MS)
#define FREE_NS NS_PER_S /* between two daemons, the lock may be free for this long */

/*
 * True if a process holds the lock. Only root may open the lock's file, so this reads the kernel's
 * list of locks, as any user may.
 */
static bool is_locked(const char *path)
{
	CLEANUP_FILE FILE *f = NULL;
	unsigned int dev_major, dev_minor;
	char line[256];
	struct stat st;
	uint64_t ino;

	if (stat(path, &st))
		return false;
	f = fopen("/proc/locks", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%*d: FLOCK ADVISORY WRITE %*d %x:%x:%" SCNu64, &dev_major,
			   &dev_minor, &ino) == 3 &&
		    ino == st.st_ino && dev_major == major(st.st_dev) &&
		    dev_minor == minor(st.st_dev))
			return true;
	return false;
}

static bool listens(void)
{
	struct remote *r = NULL;
	bool yes = !remote_new(gs_env()->socket, &r, NULL);

	remote_free(r);
	return yes;
}

bool remote_await(uint64_t ns)
{
	uint64_t now = gs_now_ns(), end = now + ns, locked_at = 0;
	bool there;

	while (!(there = listens()) && now < end) {
		if (is_locked(gs_env()->lock))
			locked_at = now;
		if (now - locked_at > FREE_NS)
			break;
		gs_sleep_ns(LOOK_NS);
		now = gs_now_ns();
	}
	return there;
}
