/* SPDX-License-Identifier: MIT */
/*
 * ring.c - hands the simulated driver odd descriptors, and prints TAP lines
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"
#include "sim/ring.h"

static int points, bad;

static void ok(bool good, const char *what)
{
	printf("%sok %d - %s\n", good ? "" : "not ", ++points, what);
	bad += !good;
}

static int attach(int ctl, int memfd, int bell)
{
	struct sim_ring_attach a = {
		.version = SIM_RING_VERSION,
		.memfd = memfd,
		.eventfd = bell,
	};

	return ioctl(ctl, SIM_RING_ATTACH, &a) ? errno : 0;
}

static int new_memfd(bool sealed)
{
	int fd = memfd_create("ring", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, sizeof(struct sim_ring)) ||
	    (sealed && fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK)))
		exit(1);
	return fd;
}

int verb_ring(int nwords, char **words)
{
	int ctl = open_ctl(O_CLOEXEC), memfd = new_memfd(true), loose = new_memfd(false);
	int bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	unsigned int again = 0, rings = 0;
	int r;

	setvbuf(stdout, NULL, _IOLBF, 0);
	/* the driver's only thread would wait for itself if it closed a copy of its own file */
	ok(attach(ctl, ctl, bell) == EBADF, "a device file is no ring");
	ok(attach(ctl, memfd, ctl) == EBADF, "nor a doorbell");
	ok(attach(ctl, loose, bell) == EINVAL, "a ring that could shrink is refused");
	ok(attach(ctl, -1, bell) == EBADF, "no descriptor at all");
	for (int i = 0; i < 5; i++) {
		again += attach(ctl, memfd, bell) == 0;
		close(ctl);
		ctl = open_ctl(O_CLOEXEC);
	}
	ok(again == 5, "the same doorbell serves one file after the other");
	while (!(r = attach(ctl, memfd, bell)) && rings < 10000)
		rings++;
	ok(r == EBUSY && rings >= 60, "an MPS server's clients have one each, and not without end");
	return bad != 0;
}
