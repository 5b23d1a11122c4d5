// SPDX-License-Identifier: MIT
/*
 * fuzz_library.c - what a user says his libcuda is: an ELF, or a line of /proc/PID/maps
 *
 * The first byte chooses. Of a line, what was taken from it must be what a libcuda can be.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "launch/launch.h"
#include "launch/launch_find.h"

static void line(const uint8_t *data, size_t n)
{
	struct gs_cuda_map map = { 0 };
	char *text = malloc(n + 1);

	if (!text)
		return;
	memcpy(text, data, n);
	text[n] = '\0';
	if (gs_cuda_map_parse(text, &map) &&
	    (!memchr(map.path, 0, sizeof(map.path)) || !strstr(map.path, "libcuda")))
		abort();
	free(text);
}

static void elf(const uint8_t *data, size_t n)
{
	static const char *const names[] = { "cuLaunchKernel", "cuLaunchKernel_ptsz",
					     "cuGraphLaunch", "cuCtxCreate_v2", "cuCtxSetCurrent" };
	static int fd = -1;
	uint64_t at[5];

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
		return;
	lseek(fd, 0, SEEK_SET);
	if (gs_launch_find_offsets(fd, names, 5, at))
		return;
	/* one place is probed once, else a launch would count twice */
	for (int i = 0; i < 5; i++)
		for (int j = 0; j < i; j++)
			if (at[i] && at[i] == at[j])
				abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	if (!n)
		return 0;
	if (data[0] == 0x7f)
		elf(data, n);
	else
		line(data + 1, n - 1);
	return 0;
}
