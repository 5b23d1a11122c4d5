// SPDX-License-Identifier: MIT
#include "process/batch.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "process/process.h"
#include "process/reader.h"

#define STEPD "slurmstepd"
#define LEVELS 64

void gs_batch_job_of(const char *title, char ret[GS_BATCH_JOB_LEN])
{
	const char *at = title + strlen(STEPD ": [");
	size_t len;

	ret[0] = '\0';
	if (strncmp(title, STEPD ": [", strlen(STEPD ": [")) != 0)
		return;
	len = strspn(at, "0123456789");
	if (len && len < GS_BATCH_JOB_LEN && at[len] == '.')
		snprintf(ret, GS_BATCH_JOB_LEN, "%.*s", (int)len, at);
}

/* Trusts only root's processes: users can give theirs any name and title. */
int gs_batch_job(pid_t pid, char ret[GS_BATCH_JOB_LEN])
{
	struct gs_process_ids ids;
	struct gs_program program;
	int r = 0;

	ret[0] = '\0';
	for (int i = 0; i < LEVELS && pid > 1; i++, pid = ids.parent) {
		r = gs_process_ids(pid, &ids);
		if (r)
			return i ? 0 : r;
		if (ids.uid || strcmp(ids.comm, STEPD) != 0)
			continue;
		r = gs_reader_program(pid, &program);
		if (r)
			return r == -EBUSY ? -EAGAIN : r;
		gs_batch_job_of(program.args, ret);
		return 0;
	}
	return 0;
}
