// SPDX-License-Identifier: MIT
#include "mps/join.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "mps/control.h"
#include "mps/link.h"
#include "mps/supervisor.h"

/* long enough to probe and replace an old server, and to start a new one */
#define JOIN_MS 90000
#define TRIES 3
#define RETRY_NS (100 * NS_PER_MS)

/* Asks the supervisor to let us in. -EAGAIN: the supervisor was about to end: start another. */
static int ask(const struct gs_mps_place *p, const struct gs_mps_message *say, int *ret_sock,
	       struct gs_mps_message *ret, struct gs_error *err)
{
	CLEANUP_FD int sock = gs_mps_link_connect(p);
	int r;

	if (sock < 0 || gs_mps_link_send(sock, say))
		return -EAGAIN;
	do
		r = gs_mps_link_receive(sock, ret, JOIN_MS);
	while (!r && ret->op == GS_MPS_SAY);
	if (r == -ETIMEDOUT)
		return gs_fail(err, r, "the pool's supervisor does not answer within %d s",
			       JOIN_MS / 1000);
	if (r)
		return -EAGAIN;
	if (ret->op != GS_MPS_IN)
		return gs_fail(err, ret->number < 0 ? ret->number : -EIO, "%s", ret->text);
	*ret_sock = TAKE_FD(sock);
	return 0;
}

/*
 * Sets variables that MPS reads when the client starts. The priority is only a hint; the percentage
 * is a limit.
 */
static void set_environment(const struct gs_mps_place *p, const char *gpus, const char *class_name,
			    unsigned int sm_percent)
{
	char text[16];

	gs_mps_control_environment(p, gpus);
	if (p->share)
		setenv("CUDA_MPS_CLIENT_PRIORITY", strcmp(class_name, "be") ? "0" : "1", 1);
	if (!sm_percent)
		return;
	snprintf(text, sizeof(text), "%u", sm_percent);
	setenv("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", text, 1);
}

int gs_mps_join(const struct gs_mps_place *p, const char *class_name, unsigned int sm_percent,
		struct gs_mps_joined *ret, struct gs_error *err)
{
	struct gs_mps_message say = { .op = GS_MPS_JOIN, .pid = getpid() }, answer;
	int r = gs_mps_place_gpus(say.text, err), sock = -1;

	snprintf(say.word, sizeof(say.word), "%s", class_name);
	for (int i = 0; !r && i < TRIES; i++) {
		r = gs_mps_supervisor_start(p, say.text, class_name, err);
		if (!r)
			r = ask(p, &say, &sock, &answer, err);
		if (r != -EAGAIN)
			break;
		r = i + 1 < TRIES ? 0 : gs_fail(err, -EIO, "the pool's supervisor has ended");
	}
	if (r)
		return r;
	set_environment(p, say.text, class_name, sm_percent);
	*ret = (struct gs_mps_joined){ .sock = sock, .server = answer.number };
	snprintf(ret->server_class, sizeof(ret->server_class), "%s", answer.word);
	return 0;
}

int gs_mps_join_end(const struct gs_mps_place *p, unsigned int timeout_ms)
{
	const struct gs_mps_message say = { .op = GS_MPS_END };
	uint64_t until = gs_now_ns() + timeout_ms * NS_PER_MS, now;

	while ((now = gs_now_ns()) < until) {
		CLEANUP_FD int sock = gs_mps_link_connect(p);
		struct gs_mps_message answer;
		int r = sock < 0 ? -EPIPE : gs_mps_link_send(sock, &say);

		if (sock < 0)
			return 0;
		do
			r = r ? r
			      : gs_mps_link_receive(sock, &answer,
						    (int)((until - now) / NS_PER_MS) + 1);
		while (!r && answer.op == GS_MPS_SAY);
		if (r != -EPIPE) /* the supervisor still runs, so it has refused or is slow */
			gs_sleep_ns(RETRY_NS);
	}
	return -ETIMEDOUT;
}
