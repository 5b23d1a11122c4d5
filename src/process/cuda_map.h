/* SPDX-License-Identifier: MIT */
/*
 * cuda_map.h - finds where a process maps the code of libcuda
 */
#ifndef GPUSCHED_PROCESS_CUDA_MAP_H
#define GPUSCHED_PROCESS_CUDA_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* An executable mapping of a libcuda file, from one line of /proc/PID/maps. */
struct gs_cuda_map {
	uint64_t start, end;
	char path[256];
	int place; /* an O_PATH descriptor of the file; -1: none */
};
/* Parses a line. False: it is not the mapping of a libcuda's code. */
bool gs_cuda_map_parse(const char *line, struct gs_cuda_map *ret);

#endif /* GPUSCHED_PROCESS_CUDA_MAP_H */
