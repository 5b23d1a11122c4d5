// SPDX-License-Identifier: MIT
#include "taps/simfiles.h"

#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "basic/cleanup.h"

#define MAX_SIMFILES 256 /* the size of gs_simfiles */

uint64_t gs_simfiles_kernel_dev(uint64_t st_dev)
{
	return (uint64_t)major(st_dev) << 20 | minor(st_dev);
}

int gs_simfile_parse(const char *line, struct gs_simfile_entry *ret)
{
	struct gs_simfile_entry e = {};
	uint64_t dev, ino;
	const char *name;
	int at = 0;

	if (sscanf(line, "%" SCNu64 " %" SCNu64 " %n", &dev, &ino, &at) < 2 || !at || !line[at])
		return -EINVAL;
	name = strrchr(line + at, '/');
	name = name ? name + 1 : line + at;
	e.key.dev = gs_simfiles_kernel_dev(dev);
	e.key.ino = ino;
	e.control = !strncmp(name, "nvidiactl", 9) && (!name[9] || name[9] == '\n');
	*ret = e;
	return 0;
}

int gs_simfiles_read(const char *dir, struct gs_simfile_entry **ret, size_t *ret_n,
		     struct gs_error *err)
{
	CLEANUP_FREE struct gs_simfile_entry *all = NULL;
	CLEANUP_FILE FILE *f = NULL;
	char path[PATH_MAX], line[PATH_MAX];
	size_t n = 0;

	snprintf(path, sizeof(path), "%s/simfiles", dir);
	f = fopen(path, "re");
	if (!f)
		return gs_fail(err, -errno, "cannot read %s: %s; is the simulator running?", path,
			       strerror(errno));
	all = calloc(MAX_SIMFILES, sizeof(*all));
	if (!all)
		return -ENOMEM;
	while (n < MAX_SIMFILES && fgets(line, sizeof(line), f)) {
		if (line[0] == '\n' || line[0] == '#')
			continue;
		if (gs_simfile_parse(line, &all[n]))
			return gs_fail(err, -EINVAL, "%s: not \"dev inode path\": %.80s", path,
				       line);
		n++;
	}
	*ret = TAKE_PTR(all);
	*ret_n = n;
	return 0;
}
