// SPDX-License-Identifier: MIT
/* accept.c - decides whether a file is the driver's control file */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "rm/abi.h"
#include "rm/sys.h"

static bool is_control(const char *path)
{
	const char *name = strrchr(path, '/');

	name = name ? name + 1 : path + strspn(path, " ");
	return !strncmp(name, "nvidiactl", 9) && (!name[9] || name[9] == '\n');
}

/*
 * True if the simulator's list names this file. Each line of simfiles has a device number (in the
 * kernel's or stat's encoding), an inode and a path.
 */
static bool registered(uint32_t major_, uint32_t minor_, uint64_t ino)
{
	char path[256], line[512];
	uint64_t kernel_dev = (uint64_t)major_ << 20 | minor_;
	uint64_t stat_dev = makedev(major_, minor_);
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "%s/simfiles", gs_env()->sim_dir);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		char *end;
		uint64_t dev = strtoull(line, &end, 0), in;

		if (end == line)
			continue;
		in = strtoull(end, &end, 0);
		if (in == ino && (dev == kernel_dev || dev == stat_dev) && is_control(end))
			return true;
	}
	return false;
}

bool gs_rm_sys_accept(const struct statx *st)
{
	if (gs_env()->sim)
		return registered(st->stx_dev_major, st->stx_dev_minor, st->stx_ino);
	return S_ISCHR(st->stx_mode) && st->stx_rdev_major == NV_MAJOR &&
	       st->stx_rdev_minor == NV_CTL_MINOR;
}
