// SPDX-License-Identifier: MIT
/*
 * helper_main.c - gpusched-park-helper: makes libcuda's checkpoint calls for the daemon
 *
 * Descriptor 3 is the socket. When the daemon closes its end, the helper unlocks the processes that
 * it had locked, and ends: so a daemon that dies leaves no process locked. The helper also ends
 * after a minute without a request, unless a process is locked. Calls of libcuda talk to the
 * process to be parked, which can make a call hang for any time; the daemon then kills the helper.
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
#include "basic/env.h"
#include "park/cuda.h"
#include "park/jail.h"
#include "process/process.h"
#include "rm/memory.h"
#include "rm/placeholder.h"

#define SOCKET 3
#define REST_MS 60000
#define LOCKED_MAX 64
#define UNLOCK_TRIES 20

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

	if (fd >= 0 && gs_process_same(gs_proc_start_ns(pid), start_ns))
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

/* GPU memory of a process, and the memory around it. */
struct measured {
	uint64_t held[GS_PARK_GPUS];
	bool shared;           /* it has memory of another process open */
	uint64_t free, others; /* bytes on all GPUs: free; of other processes, shared ones twice */
};

static void add_up(const struct gs_rm_memory *m, int32_t pid, size_t gpu, struct measured *ret)
{
	const struct gs_rm_held *held = held_by(m, pid);

	ret->held[gpu] = held ? held->own_bytes : 0;
	ret->shared |= held && held->shared_bytes;
	ret->free += m->free_bytes;
	for (size_t i = 0; i < m->n; i++)
		if (&m->held[i] != held)
			ret->others += m->held[i].own_bytes + m->held[i].shared_bytes;
}

/*
 * -ENOTSUP: RM does not say for one of the GPUs what @pid holds, or there are more than
 * GS_PARK_GPUS.
 */
static int measure(int32_t pid, struct measured *ret)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	unsigned int branch;
	char version[64];
	size_t n = 0;
	int r = gs_rm_driver(&branch, version, sizeof(version), NULL);

	*ret = (struct measured){ .shared = false };
	if (!r)
		r = gs_gpus_read(&gpus, &n, NULL);
	if (r || n > GS_PARK_GPUS)
		return -ENOTSUP;
	for (size_t i = 0; i < n && !r; i++) {
		struct gs_rm_memory m;

		r = gs_rm_memory_read(&gpus[i], branch, &m, NULL);
		if (!r)
			add_up(&m, pid, i, ret);
		if (!r && m.cut && !held_by(&m, pid))
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

/* Memory of it that others have open stays where it is: known if nothing else changed meanwhile. */
static uint64_t kept(int32_t pid, const struct measured *before)
{
	uint64_t held = 0, freed;
	struct measured now;

	if (measure(pid, &now) || now.others != before->others || now.free < before->free)
		return GS_PARK_KEPT_UNKNOWN;
	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		held += before->held[i];
	freed = now.free - before->free;
	return freed < held ? held - freed : 0;
}

static int take_out(const struct gs_park_request *rq, struct gs_park_answer *a)
{
	struct measured before;
	int r = measure(rq->pid, &before);
	uint64_t held = 0;

	if (r || before.shared)
		return r ? r : -EXDEV;
	memcpy(a->bytes, before.held, sizeof(a->bytes));
	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		held += before.held[i];
	if (held > rq->room)
		return -EDQUOT;
	a->result = gs_park_cuda_call(GS_PARK_OUT, rq->pid, 0, NULL);
	a->kept = a->result ? 0 : kept(rq->pid, &before);
	return 0;
}

static int call(const struct gs_park_request *rq, struct gs_park_answer *a)
{
	if (rq->op == GS_PARK_OUT)
		return take_out(rq, a);
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
	if (!r)
		r = gs_park_cuda_open(&self.version);
	/* a simulated libcuda asks the other process by a unix socket */
	if (!r && !gs_env()->sim)
		r = gs_park_jail_sockets();
	self.usable = r;
	serve();
	unlock_all();
	return 0;
}
