// SPDX-License-Identifier: MIT
/* hidepid.c - finds out whether /proc hides processes from other users */
#include <libmount.h>
#include <stdio.h>
#include <string.h>

#include "basic/parse.h"
#include "basic/procfs.h"
#include "process/process.h"

/* Gets the value of a mount option; "": the option is not set. */
static void option(const char *all, const char *name, char ret[16])
{
	char *value = NULL;
	size_t n = 0;

	*ret = 0;
	if (all && !mnt_optstr_get_option(all, name, &value, &n))
		snprintf(ret, 16, "%.*s", (int)n, value);
}

static struct libmnt_table *own_mounts(void)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/self/mountinfo", gs_procfs());
	return mnt_new_table_from_file(path);
}

void gs_hidepid(struct gs_hidepid *ret)
{
	struct libmnt_table *all = own_mounts();
	struct libmnt_fs *fs = all ? mnt_table_find_target(all, "/proc", MNT_ITER_BACKWARD) : NULL;
	const char *options = fs ? mnt_fs_get_fs_options(fs) : NULL;
	char mode[16], group[16];
	uint64_t gid;

	option(options, "hidepid", mode);
	option(options, "gid", group);
	mnt_unref_table(all);
	*ret = (struct gs_hidepid){
		.on = !all || (*mode && strcmp(mode, "off") && strcmp(mode, "0")),
	};
	/* with this option, gid= has no effect: users see only processes that they may trace */
	if (!strcmp(mode, "ptraceable") || !strcmp(mode, "4"))
		return;
	/* without gid=, the kernel takes root's group */
	if (!gs_parse_u64(*group ? group : "0", 0, UINT32_MAX - 1, &gid, NULL)) {
		ret->has_gid = true;
		ret->gid = (gid_t)gid;
	}
}
