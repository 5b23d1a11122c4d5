/* SPDX-License-Identifier: MIT */
/*
 * rm.h - calls the RM, and mostly ends the program with the reason if the RM refuses
 */
#ifndef GPUSCHED_TESTS_HELPER_RM_H
#define GPUSCHED_TESTS_HELPER_RM_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../unit/rm_client.h"
#include "helper.h"

static inline int open_ctl(int flags)
{
	int fd = open("/dev/nvidiactl", O_RDWR | flags);

	if (fd < 0)
		die("/dev/nvidiactl");
	return fd;
}

static inline void must(uint32_t status, const char *what)
{
	if (!status)
		return;
	fprintf(stderr, "helper: %s: status 0x%x\n", what, status);
	exit(1);
}

/* Returns the RM's status. If *@handle is 0, the RM chooses a handle and sets it. */
static inline uint32_t rm_alloc(int fd, uint32_t root, uint32_t parent, uint32_t *handle,
				uint32_t class_, void *params)
{
	uint32_t w[12] = { root, parent, *handle, class_ };
	uint64_t p = (uintptr_t)params;

	memcpy(&w[4], &p, sizeof(p));
	if (rc_call(fd, 0x2b, w, 48))
		return 0xffff;
	*handle = w[2];
	return w[10];
}

/* Makes a client with device and subdevice. Returns its handle, which the RM chooses. */
static inline uint32_t new_client(int fd, uint32_t gpu)
{
	uint32_t device[14] = { gpu }, sub[2] = { 0 }, client = 0, h;

	must(rm_alloc(fd, 0, 0, &client, 0x41, NULL), "client");
	h = RC_DEVICE;
	must(rm_alloc(fd, client, client, &h, 0x80, device), "device");
	h = RC_SUBDEVICE;
	must(rm_alloc(fd, client, RC_DEVICE, &h, 0x2080, sub), "subdevice");
	return client;
}

/* Makes a scheduled TSG with one channel (@handle + 1), and sets its slice to @us. */
static inline void new_tsg_of(int fd, uint32_t client, uint32_t handle, uint64_t us)
{
	uint32_t params[8] = { 0, 0, 0, 1 }, channel[128] = { 0 }, h = handle;

	must(rm_alloc(fd, client, RC_DEVICE, &h, 0xa06c, params), "TSG");
	h = handle + 1;
	must(rm_alloc(fd, client, handle, &h, 0xc86f, channel), "channel");
	rc_schedule(fd, client, handle, 1);
	rc_timeslice(fd, client, handle, us);
}

static inline void new_tsg(int fd, uint32_t client, uint32_t handle)
{
	new_tsg_of(fd, client, handle, 2048);
}

#endif /* GPUSCHED_TESTS_HELPER_RM_H */
