// SPDX-License-Identifier: MIT
/* report.c - reports to the next daemon what was restored after a daemon's death */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/file.h"
#include "engine/restore.h"

/* One format for printf() and scanf(). */
#define REPORT \
	"{\"version\":1,\"died_ns\":%" PRIu64 ",\"changed\":%u,\"restored\":%u,\"gone\":%u," \
	"\"failed\":%u,\"continued\":%u}\n"
#define REPORT_MAX 4096

static void path_of(char *ret, size_t size)
{
	snprintf(ret, size, "%s/put_back", gs_env()->run_dir);
}

int gs_report_write(const struct gs_restored *done, uint64_t died_ns, struct gs_error *err)
{
	char path[300], text[256];

	path_of(path, sizeof(path));
	snprintf(text, sizeof(text), REPORT, died_ns, done->changed, done->restored, done->gone,
		 done->failed, done->continued);
	return gs_file_replace(path, text, strlen(text), err);
}

int gs_report_take(struct gs_restored *ret, uint64_t *ret_died_ns)
{
	CLEANUP_FREE unsigned char *text = NULL;
	struct gs_restored done = { 0 };
	uint64_t died_ns;
	char path[300];
	size_t len;
	int r;

	path_of(path, sizeof(path));
	r = gs_file_read_own(path, REPORT_MAX, &text, &len, NULL);
	if (r)
		return r;
	unlink(path);
	if (sscanf((const char *)text, REPORT, &died_ns, &done.changed, &done.restored, &done.gone,
		   &done.failed, &done.continued) != 6)
		return -EPROTO;
	*ret = done;
	*ret_died_ns = died_ns;
	return 0;
}
