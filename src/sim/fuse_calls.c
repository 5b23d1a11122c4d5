/* SPDX-License-Identifier: MIT */
/*
 * fuse_calls.c - makes ioctls on the simulated files take the time that RM takes
 *
 * A call that needs RM's locks waits for earlier calls, mostly for those of all GPUs. It takes
 * effect part of the way through its duration, and is answered at the end. Meanwhile the server
 * handles other requests.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "sim/fuse_priv.h"
#include "sim/rm_abi.h"

struct call {
	struct sim_server *s;
	fuse_req_t req;
	struct handle *h;
	struct sim_caller caller;
	unsigned int cmd;
	uint64_t effect_ns, reply_ns;
	bool done, hang;
	int result;
	size_t size, out_size;
	struct call *next;
	unsigned char data[] __attribute__((aligned(8)));
};

/* ---- the caller ----------------------------------------------------------------------------- */

static int mem_read(const struct sim_caller *c, uint64_t at, void *to, size_t n)
{
	struct iovec here = { to, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_readv(c->tid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

static int mem_write(const struct sim_caller *c, uint64_t at, const void *from, size_t n)
{
	struct iovec here = { (void *)from, n }, there = { (void *)(uintptr_t)at, n };

	return process_vm_writev(c->tid, &here, 1, &there, 1, 0) == (ssize_t)n ? 0 : -EFAULT;
}

/* Reads the number after @key in /proc/TID/status. */
static bool status_value(pid_t tid, const char *key, int base, unsigned long long *ret)
{
	char path[64], buf[4096], *at;
	CLEANUP_FD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = read(fd, buf, sizeof(buf) - 1);
	if (n <= 0)
		return false;
	buf[n] = 0;
	at = strstr(buf, key);
	if (!at)
		return false;
	*ret = strtoull(at + strlen(key), NULL, base);
	return true;
}

static bool capable(const struct sim_caller *c, int capability)
{
	unsigned long long caps;

	return status_value(c->tid, "\nCapEff:", 16, &caps) && (caps >> capability & 1);
}

void sim_caller_fill(struct sim_caller *c, fuse_req_t req, bool need_tgid)
{
	const struct fuse_ctx *ctx = fuse_req_ctx(req);
	unsigned long long tgid;

	*c = (struct sim_caller){
		.tid = ctx->pid,
		.tgid = ctx->pid,
		.uid = ctx->uid,
		.read = mem_read,
		.write = mem_write,
		.capable = capable,
		.map = sim_fuse_caller_map,
	};
	if (need_tgid && status_value(ctx->pid, "\nTgid:", 10, &tgid))
		c->tgid = (pid_t)tgid;
}

/* ---- the ring ------------------------------------------------------------------------------- */

static int attach(struct sim_server *s, struct handle *h, const struct sim_caller *c,
		  struct sim_ring_attach *a)
{
	const struct sim_params *p = &s->config->params;
	CLEANUP_FD int memfd = -1;
	CLEANUP_FD int bell = -1;
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET, .data.fd = -1 };
	unsigned int parts = s->config->rm.mig ? s->config->rm.mig : p->gr_engines;
	unsigned int n = p->copy_engines / parts; /* copy engines of one GPU instance */
	int *grown, r;

	if (a->version != SIM_RING_VERSION)
		return -EINVAL;
	grown = reallocarray(h->doorbells, h->ndoorbells + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	h->doorbells = grown;
	memfd = sim_fuse_caller_memfd(c, a->memfd);
	bell = sim_fuse_caller_eventfd(c, a->eventfd);
	if (memfd < 0 || bell < 0)
		return -EBADF;
	/*
	 * edge-triggered and never read: a client that empties the doorbell first cannot block us
	 * in read()
	 */
	if (epoll_ctl(s->epoll, EPOLL_CTL_ADD, bell, &ev) < 0)
		return -errno;
	r = sim_rings_attach(s->rings, h->file, memfd);
	if (r < 0) {
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, bell, NULL);
		return r;
	}
	h->doorbells[h->ndoorbells++] = TAKE_FD(bell);
	a->blocks_at_once = p->blocks_at_once;
	a->queue_depth = p->queue_depth;
	for (unsigned int i = 0; i < GS_COUNT(a->copy_engine); i++)
		a->copy_engine[i] = sim_copy_engine((p->cuda_copy_engine + i) % (n ? n : 1));
	a->dilate = s->config->dilate;
	return 0;
}

/* ---- calls ---------------------------------------------------------------------------------- */

static void perform(struct call *k)
{
	struct sim_server *s = k->s;

	k->done = true;
	if (k->cmd == SIM_RING_ATTACH)
		k->result = attach(s, k->h, &k->caller, (struct sim_ring_attach *)k->data);
	else
		k->result = sim_rm_ioctl(s->rm, k->h->file, k->cmd, k->data, k->size, &k->caller);
}

static void answer(struct call *k)
{
	if (k->result < 0)
		fuse_reply_err(k->req, -k->result);
	else
		fuse_reply_ioctl(k->req, k->result, k->data, k->out_size);
	free(k);
}

static uint64_t due(const struct call *k)
{
	return k->done ? k->reply_ns : k->effect_ns;
}

static void queue(struct sim_server *s, struct call *k)
{
	struct call **at = &s->calls;

	while (*at && due(*at) <= due(k))
		at = &(*at)->next;
	k->next = *at;
	*at = k;
}

uint64_t sim_calls_next(const struct sim_server *s)
{
	return s->calls ? due(s->calls) : UINT64_MAX;
}

void sim_calls_run(struct sim_server *s, uint64_t now)
{
	while (s->calls && due(s->calls) <= now) {
		struct call *k = s->calls;

		s->calls = k->next;
		if (!k->done) {
			perform(k);
			if (k->reply_ns > now) {
				queue(s, k);
				continue;
			}
		}
		answer(k);
	}
}

void sim_calls_free(struct sim_server *s)
{
	while (s->calls) {
		struct call *k = s->calls;

		s->calls = k->next;
		k->result = -ENODEV;
		answer(k);
	}
}

/* A hung call ends only when its caller is killed; then FUSE calls this function. */
static void interrupted(fuse_req_t req, void *user)
{
	struct call *k = user;

	for (struct call **at = &k->s->calls; *at; at = &(*at)->next)
		if (*at == k && k->hang) {
			*at = k->next;
			k->result = -EINTR;
			answer(k);
			return;
		}
}

/*
 * Takes RM's locks for a call, and returns when it has them. A preemption and a mode take their
 * GPU's, all other calls that use the GPU those of all GPUs.
 */
static uint64_t take_locks(struct sim_server *s, const struct sim_cost *cost, uint64_t now,
			   uint64_t time)
{
	bool one = cost->call == SIM_CALL_PREEMPT || cost->call == SIM_CALL_SET_PREEMPT_MODE;
	uint64_t start = now > s->host_free ? now : s->host_free;

	for (unsigned int gpu = 0; gpu < SIM_MAX_GPUS; gpu++)
		if ((!one || (int)gpu == cost->gpu) && s->gpu_free[gpu] > start)
			start = s->gpu_free[gpu];
	if (one)
		s->gpu_free[cost->gpu] = start + time;
	else
		s->host_free = start + time;
	return start;
}

static void set_times(struct sim_server *s, struct call *k)
{
	struct sim_cost cost = sim_rm_cost(s->rm, k->h->file, k->cmd, k->data, k->size);
	uint64_t now = sim_model_now(s->model), start = now, time;

	if (cost.call == SIM_CALL_DISABLE) {
		const struct sim_os_control *os = (const void *)k->data;
		uint8_t p[9] = { 0 }; /* up to only_scheduling */

		if (!mem_read(&k->caller, os->params, p, sizeof(p)))
			cost.call = !p[0] ? SIM_CALL_ENABLE : p[8] ? SIM_CALL_LEAVE : cost.call;
	} else if (cost.call == SIM_CALL_PREEMPT) {
		const struct sim_os_control *os = (const void *)k->data;
		uint8_t wait = 1;

		if (!mem_read(&k->caller, os->params, &wait, sizeof(wait)) && !wait)
			cost.call = SIM_CALL_KICK;
	}
	/* only a borrower's call hangs, so that the owner's program can start */
	if (cost.hang && (cost.any || k->caller.tgid != sim_rm_file_opener(k->h->file))) {
		k->hang = true;
		k->effect_ns = k->reply_ns = UINT64_MAX;
		return;
	}
	/* no delay: FUSE itself already takes longer than RM would */
	if (cost.call == SIM_CALL_OTHER) {
		k->effect_ns = k->reply_ns = now;
		return;
	}
	time = sim_call_time(s->model, cost.call);
	if (cost.gpu >= 0)
		start = take_locks(s, &cost, now, time);
	k->effect_ns = start + time * s->config->params.call_effect_pct / 100;
	k->reply_ns = start + time;
}

void sim_call_start(struct sim_server *s, fuse_req_t req, struct handle *h, unsigned int cmd,
		    const void *in, size_t in_size, size_t out_size)
{
	size_t size = in_size > out_size ? in_size : out_size;
	struct call *k;
	bool tgid;

	if (size > MAX_IOCTL || (cmd == SIM_RING_ATTACH && size < sizeof(struct sim_ring_attach))) {
		fuse_reply_err(req, EINVAL);
		return;
	}
	k = calloc(1, sizeof(*k) + size + 64);
	if (!k) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	k->s = s;
	k->req = req;
	k->h = h;
	k->cmd = cmd;
	k->size = size;
	k->out_size = out_size;
	if (in_size)
		memcpy(k->data, in, in_size);
	tgid = cmd == SIM_RING_ATTACH || _IOC_NR(cmd) == SIM_ESC_ALLOC ||
	       _IOC_NR(cmd) == SIM_ESC_DUP || _IOC_NR(cmd) == SIM_ESC_MAP ||
	       s->config->rm.faults[0].cmd;
	sim_caller_fill(&k->caller, req, tgid);
	set_times(s, k);
	queue(s, k);
	if (k->hang)
		fuse_req_interrupt_func(req, interrupted, k);
	else
		sim_calls_run(s, sim_model_now(s->model));
}
