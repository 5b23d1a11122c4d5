// SPDX-License-Identifier: MIT
/* fuzz_scenario.c - arbitrary scenario files */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/scenario.h"
#include "sim/scenario_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct sim_scenario *s = NULL;
	struct sim_rows rows;
	struct gs_error err = { 0 };
	static char path[64];
	static int fd = -1;

	if (fd < 0) {
		fd = memfd_create("fuzz", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
		return 0;
	sim_rows_read(path, &rows, &err);
	/* A refusal says why. */
	if (!sim_scenario_load(path, rows.n ? rows.names[rows.n - 1] : NULL, &s, &err))
		sim_scenario_free(s);
	else if (!err.text[0])
		abort();
	sim_rows_free(&rows);
	return 0;
}
