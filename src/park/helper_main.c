// SPDX-License-Identifier: MIT
/*
 * helper_main.c - gpusched-park-helper: makes libcuda's checkpoint calls for the daemon
 *
 * Descriptor 3 is the socket. When the daemon closes its end, the helper unlocks the processes that
 * it had locked, and ends: so a daemon that dies leaves no process locked. The helper also ends
 * after a minute without a request, unless a process is locked. libcuda talks to the process to be
 * parked, which can make a call hang for any time; the daemon then kills the helper.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "park/cuda.h"
#include "park/jail.h"
#include "process/process.h"
#include "rm/memory.h"
#include "rm/placeholder.h"

#define SOCKET 3
#define REST_MS 60000
#define LOCKED_MAX 64
#define UNLOCK_TRIES 20
#define CU_NOT_INITIALIZED 3

static struct {
	int usable; /* 0: calls can be made; otherwise the -errno for all requests */
	uint32_t version;
	struct locked {
		int32_t pid;
		uint64_t start_ns;
	} locked[LOCKED_MAX];
	size_t nlocked;
} self;

/* ---- a process ------------------------------------------------------------------------------- */

static int open_process(int32_t pid, uint64_t start_ns)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd >= 0 && gs_start_same(gs_proc_start_ns(pid), start_ns))
		return fd;
	if (fd >= 0)
		close(fd);
	return -ESRCH;
}

static bool has_ended(int pidfd)
{
	struct pollfd p = { .fd = pidfd, .events = POLLIN };

	return poll(&p, 1, 0) != 0;
}

static void note_lock(const struct gs_park_request *rq, int state)
{
	size_t i = 0;

	while (i < self.nlocked && self.locked[i].pid != rq->pid)
		i++;
	if (state == GS_PARK_LOCKED && i == self.nlocked && i < LOCKED_MAX)
		self.nlocked++;
	if (state == GS_PARK_LOCKED && i < LOCKED_MAX)
		self.locked[i] = (struct locked){ rq->pid, rq->start_ns };
	else if (state >= 0 && state != GS_PARK_LOCKED && i < self.nlocked)
		self.locked[i] = self.locked[--self.nlocked];
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const struct gs_rm_held *held_by(const struct gs_rm_memory *m, int32_t pid)
{
	for (size_t i = 0; i < m->n; i++)
		if (m->held[i].pid == (uint32_t)pid)
			return &m->held[i];
	return NULL;
}

/*
 * Returns the bytes that @pid holds on each GPU. -ENOTSUP: RM does not say it for one of them, or
 * there are more than GS_PARK_GPUS.
 */
static int measure(int32_t pid, uint64_t ret[GS_PARK_GPUS])
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	unsigned int branch;
	char version[64];
	size_t n = 0;
	int r = gs_rm_driver(&branch, version, sizeof(version), NULL);

	if (!r)
		r = gs_gpus_read(&gpus, &n, NULL);
	if (r || n > GS_PARK_GPUS)
		return -ENOTSUP;
	for (size_t i = 0; i < n && !r; i++) {
		struct gs_rm_memory m;
		const struct gs_rm_held *held;

		r = gs_rm_memory_read(&gpus[i], branch, &m, NULL);
		held = r ? NULL : held_by(&m, pid);
		ret[i] = held ? held->own_bytes + held->shared_bytes : 0;
		if (!r && m.cut && !held)
			r = -ENOTSUP;
		gs_rm_memory_done(&m);
	}
	return r ? -ENOTSUP : 0;
}

static int has_free(const struct gs_gpu *gpu, unsigned int branch, uint64_t need,
		    uint64_t *ret_free)
{
	struct gs_rm_memory m;
	int r = gs_rm_memory_read(gpu, branch, &m, NULL);

	*ret_free = m.free_bytes;
	gs_rm_memory_done(&m);
	return r ? -ENOTSUP : *ret_free < need ? -ENOSPC : 0;
}

static int place(const struct gs_gpu *gpu, uint64_t need, struct gs_placeholder *ret,
		 struct gs_park_answer *a)
{
	int r = gs_placeholder_take(gpu, need, ret);

	a->unsure += r && r != -ENOSPC;
	return r == -ENOSPC ? r : 0;
}

/*
 * If GPU memory is short during a restore, the process is lost. So we first allocate placeholders:
 * all the memory that the process needs, on all its GPUs. The caller frees them right before the
 * restore. If RM refuses a placeholder for another reason than short memory, RM's own count of free
 * memory must suffice.
 */
static int make_sure(const struct gs_park_request *rq, struct gs_park_answer *a,
		     struct gs_placeholder *places)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	unsigned int branch;
	char version[64];
	size_t n = 0;
	int r = gs_rm_driver(&branch, version, sizeof(version), NULL);

	if (!r)
		r = gs_gpus_read(&gpus, &n, NULL);
	for (size_t i = 0; i < GS_PARK_GPUS && !r; i++) {
		uint64_t need = rq->bytes[i] + rq->margin[i];

		if (!rq->bytes[i])
			continue;
		if (i >= n)
			return -ENOTSUP;
		r = has_free(&gpus[i], branch, need, &a->bytes[i]);
		if (!r)
			r = place(&gpus[i], need, &places[i], a);
		a->gpu = (uint32_t)i;
	}
	if (r != -ENOSPC)
		memset(a->bytes, 0, sizeof(a->bytes));
	return r && r != -ENOSPC ? -ENOTSUP : r;
}

/* ---- the calls ------------------------------------------------------------------------------- */

static int bring_in(const struct gs_park_request *rq, struct gs_park_answer *a)
{
	struct gs_placeholder places[GS_PARK_GPUS];
	int r;

	for (size_t i = 0; i < GS_COUNT(places); i++)
		places[i] = (struct gs_placeholder){ -1, -1 };
	r = make_sure(rq, a, places);
	for (size_t i = 0; i < GS_COUNT(places); i++)
		gs_placeholder_drop(&places[i]);
	if (!r)
		a->result = gs_park_cuda_call(GS_PARK_IN, rq->pid, 0, NULL);
	return r;
}

static int call(const struct gs_park_request *rq, struct gs_park_answer *a)
{
	int r = rq->op == GS_PARK_OUT ? measure(rq->pid, a->bytes) : 0;

	if (r)
		return r;
	if (rq->op == GS_PARK_IN)
		return bring_in(rq, a);
	a->result = gs_park_cuda_call((enum gs_park_op)rq->op, rq->pid, rq->timeout_ms, &a->state);
	return 0;
}

static void perform(const struct gs_park_request *rq, struct gs_park_answer *a)
{
	CLEANUP_FD int pidfd = -1;

	if (rq->op == GS_PARK_HELLO || self.usable) {
		a->code = self.usable;
		a->version = self.version;
		return;
	}
	pidfd = open_process(rq->pid, rq->start_ns);
	a->code = pidfd < 0 ? pidfd : call(rq, a);
	if (!a->code && rq->op != GS_PARK_STATE &&
	    gs_park_cuda_call(GS_PARK_STATE, rq->pid, 0, &a->state))
		a->state = -1;
	if (!a->code && has_ended(pidfd))
		a->code = -ESRCH;
	note_lock(rq, a->state);
}

/* Called when the daemon has closed the socket. */
static void unlock_all(void)
{
	for (unsigned int tries = 0; self.nlocked && tries < UNLOCK_TRIES; tries++) {
		for (size_t i = self.nlocked; i--;) {
			struct gs_park_request rq = { .op = GS_PARK_UNLOCK,
						      .pid = self.locked[i].pid,
						      .start_ns = self.locked[i].start_ns };
			struct gs_park_answer a = { .state = -1 };

			perform(&rq, &a);
			if (a.code == -ESRCH)
				note_lock(&rq, GS_PARK_RUNNING);
		}
		if (self.nlocked)
			gs_sleep_ns(NS_PER_S / 4);
	}
}

static void serve(void)
{
	struct pollfd p = { .fd = SOCKET, .events = POLLIN };
	struct gs_park_request rq;

	while (self.nlocked || poll(&p, 1, REST_MS) > 0) {
		struct gs_park_answer a;

		if (recv(SOCKET, &rq, sizeof(rq), 0) != sizeof(rq))
			return;
		a = (struct gs_park_answer){
			.op = rq.op, .seq = rq.seq, .pid = rq.pid, .state = -1
		};
		perform(&rq, &a);
		if (send(SOCKET, &a, sizeof(a), MSG_NOSIGNAL) != sizeof(a))
			return;
	}
}

static void ignore_signals(void)
{
	static const int signals[] = {
		SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGPIPE, SIGUSR1, SIGUSR2
	};

	for (size_t i = 0; i < GS_COUNT(signals); i++)
		signal(signals[i], SIG_IGN);
}

int main(void)
{
	int r;

	prctl(PR_SET_NAME, "gpusched-park");
	setsid();
	ignore_signals();
	if (chdir("/"))
		return 1;
	r = gs_park_jail(SOCKET);
	self.usable = r ? r : gs_park_cuda_open(&self.version);
	serve();
	unlock_all();
	return 0;
}
