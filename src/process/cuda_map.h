/* SPDX-License-Identifier: MIT */
/*
 * cuda_map.h - the places at which a process maps the code of a libcuda
 */
#ifndef GPUSCHED_PROCESS_CUDA_MAP_H
#define GPUSCHED_PROCESS_CUDA_MAP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* One line of /proc/PID/maps that is the code of a libcuda. */
struct gs_cuda_map {
	uint64_t start, end;
	char path[256];
	int place; /* an O_PATH descriptor of the file; -1: none */
};
bool gs_cuda_map_parse(const char *line, struct gs_cuda_map *ret);

#endif /* GPUSCHED_PROCESS_CUDA_MAP_H */
