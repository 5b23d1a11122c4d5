// SPDX-License-Identifier: MIT
/* park.c - starts the helper that parks programs, and asks it whether parking works here */
#include <errno.h>
#include <poll.h>
#include <stdio.h>

#include "basic/error.h"
#include "probe/probe.h"
#include "park/helper.h"

#define HELLO_MS 20000

static int ask(const struct gs_park_helper *h, uint32_t *ret_version)
{
	const struct gs_park_request rq = { .op = GS_PARK_HELLO, .seq = 1 };
	struct pollfd p = { .fd = h->fd, .events = POLLIN };
	struct gs_park_answer a;
	int r = gs_park_helper_ask(h, &rq);

	if (!r && poll(&p, 1, HELLO_MS) <= 0)
		r = -ETIMEDOUT;
	if (!r)
		r = gs_park_helper_answer(h, &rq, &a);
	if (r)
		return r;
	*ret_version = a.version;
	return a.code;
}

void gs_probe_park(struct gs_probe *k)
{
	struct gs_park_helper h = { .fd = -1, .pidfd = -1 };
	struct gs_error err = { 0 };
	uint32_t version = 0;
	int r = gs_park_helper_start(&h, &err);

	if (r) {
		snprintf(k->detail, sizeof(k->detail), "parking: %.200s", err.text);
		snprintf(k->remedy, sizeof(k->remedy), "install gpusched as a whole");
		return;
	}
	r = ask(&h, &version);
	gs_park_helper_leave(&h, true);
	poll(&(struct pollfd){ .fd = h.pidfd, .events = POLLIN }, 1, HELLO_MS);
	gs_park_helper_reap(&h);
	k->ok = !r;
	if (r)
		snprintf(k->detail, sizeof(k->detail), "no program can be parked: %s",
			 r == -ENOSYS ? "no libcuda with checkpoint calls answers"
				      : "libcuda does not answer");
	else
		snprintf(k->detail, sizeof(k->detail),
			 "programs can be parked: libcuda for CUDA %u.%u has the calls",
			 version / 1000, version % 1000 / 10);
	if (r)
		snprintf(k->remedy, sizeof(k->remedy),
			 "install an NVIDIA driver of branch 570 or newer; all else works without");
}
