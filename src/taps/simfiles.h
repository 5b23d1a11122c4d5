/* SPDX-License-Identifier: MIT */
/*
 * simfiles.h - reads the list of simulated files, DIR/simfiles with lines of "dev ino path"
 */
#ifndef GPUSCHED_TAPS_SIMFILES_H
#define GPUSCHED_TAPS_SIMFILES_H

#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "gpusched/abi.h"

struct gs_simfile_entry {
	struct gpusched_simfile key;
	uint32_t control; /* 1: the control file, nvidiactl */
};

/* Converts st_dev of stat(2) to the kernel's internal form (major << 20 | minor). */
uint64_t gs_simfiles_kernel_dev(uint64_t st_dev);
/* Parses one line. 0, -EINVAL. */
int gs_simfile_parse(const char *line, struct gs_simfile_entry *ret);
int gs_simfiles_read(const char *dir, struct gs_simfile_entry **ret, size_t *ret_n,
		     struct gs_error *err);

#endif /* GPUSCHED_TAPS_SIMFILES_H */
