// SPDX-License-Identifier: MIT
/*
 * tsgs.c - finds the program's own TSGs through its descriptors, and calls the driver for them
 *
 * An agent's thread has its own descriptor table. So it copies the program's descriptors by
 * pidfd_getfd(), as the daemon does. A process may always do that to itself.
 */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <fcntl.h>

#include "agent/agent.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "process/process.h"
#include "rm/abi.h"
#include "rm/setting.h"
#include "rm/sys.h"
#include "taps/clients.h"

struct own {
	struct gpusched_tsg rec;
	struct gpusched_channels ch;
	bool seen; /* seen in this search */
};

/*
 * Entries are added under the list's lock. A signal handler reads those that exist when the signal
 * comes.
 */
static struct own tsgs[GS_AGENT_TSGS];
static _Atomic unsigned int ntsgs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void agent_tsgs_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	ntsgs = 0;
}

/* ---- finding --------------------------------------------------------------------------------- */

struct look {
	uint32_t more;
};

static struct own *find(uint32_t client, uint32_t handle)
{
	for (unsigned int i = 0; i < ntsgs; i++)
		if (tsgs[i].rec.key.client == client && tsgs[i].rec.key.handle == handle)
			return &tsgs[i];
	return NULL;
}

static struct own *free_place(void)
{
	for (unsigned int i = 0; i < ntsgs; i++)
		if (tsgs[i].rec.flags & GPUSCHED_TSG_GONE)
			return &tsgs[i];
	return ntsgs < GS_AGENT_TSGS ? &tsgs[ntsgs] : NULL;
}

/* The program's own settings are known only at the first search: our later calls change them. */
static void found(void *user, const struct gpusched_tsg *rec, const struct gpusched_channels *ch)
{
	struct own *t = find(rec->key.client, rec->key.handle);
	struct look *l = user;
	bool was = t && !(t->rec.flags & GPUSCHED_TSG_GONE);
	uint32_t us = rec->task.is.timeslice_us;

	if (!t)
		t = free_place();
	if (!t) {
		l->more++;
		return;
	}
	t->ch = *ch;
	t->seen = true;
	if (was) {
		t->rec.owner_fd = rec->owner_fd;
		t->rec.nchannels = rec->nchannels;
		if (t->rec.task.is.timeslice_us != us)
			t->rec.task.asked.timeslice_us = t->rec.task.is.timeslice_us = us;
		return;
	}
	t->rec = *rec;
	t->rec.task.id = (uint64_t)(t - tsgs) + 1;
	if (t == &tsgs[ntsgs])
		ntsgs++;
}

/* Copies the program's descriptor if it is the driver's control file. */
static int copy(int pidfd, int number)
{
	CLEANUP_FD int fd = (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct statx st;

	if (fd < 0 || statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) ||
	    !gs_rm_sys.accept(&st))
		return -1;
	return TAKE_FD(fd);
}

static bool is_control(int number)
{
	char name[48];
	struct statx st;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", number);
	return !statx(AT_FDCWD, name, AT_STATX_DONT_SYNC, STATX_BASIC_STATS, &st) &&
	       gs_rm_sys.accept(&st);
}

static void look_at(struct gs_clients *c, int pidfd, int number, struct look *l)
{
	struct gs_holder h = {
		.start_ns = 0,
		.pid = getpid(),
		.fd = number,
		.uid = geteuid(),
		.control = true,
	};
	const struct gs_client_look look = { .holder = &h, .found = found, .user = l };
	CLEANUP_FD int fd = copy(pidfd, number);
	unsigned int failed = 0;

	gs_process_comm(h.pid, h.comm);
	for (size_t i = 0; fd >= 0 && i < c->n; i++) {
		if (!c->all[i] || !gs_client_is_of(fd, c->all[i]))
			continue;
		gs_client_read(c, fd, c->all[i], &look, &failed);
		c->all[i] = 0;
	}
}

/* /proc/self/fd lists the program's descriptors, not this thread's. */
static void look_at_all(struct gs_clients *c, struct look *l)
{
	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	CLEANUP_DIR DIR *dir = opendir("/proc/self/fd");
	bool listed = false;
	struct dirent *e;

	while (pidfd >= 0 && dir && (e = readdir(dir))) {
		int number = atoi(e->d_name);

		if (e->d_name[0] == '.' || !is_control(number))
			continue;
		if (!listed && gs_clients_list(c, NULL))
			return;
		listed = true;
		look_at(c, pidfd, number, l);
	}
}

static struct gs_gpu *gpus;
static size_t ngpus;

unsigned int agent_tsgs_list(struct gpusched_tsg *ret, unsigned int max, uint32_t *ret_more)
{
	struct gs_clients c = { .own = -1 };
	struct look l = { 0 };
	unsigned int n = 0;

	pthread_mutex_lock(&lock);
	if (!gpus)
		gs_gpus_read(&gpus, &ngpus, NULL);
	c.gpus = gpus;
	c.ngpus = ngpus;
	for (unsigned int i = 0; i < ntsgs; i++)
		tsgs[i].seen = false;
	look_at_all(&c, &l);
	gs_clients_free(&c);
	for (unsigned int i = 0; i < ntsgs; i++) {
		if (!tsgs[i].seen)
			tsgs[i].rec.flags |= GPUSCHED_TSG_GONE;
		else if (n < max)
			ret[n++] = tsgs[i].rec;
	}
	*ret_more = l.more;
	pthread_mutex_unlock(&lock);
	return n;
}

/* ---- calling --------------------------------------------------------------------------------- */

/* Allows only timeslices, preemption and suspension, though RM would do more. */
static bool is_allowed(uint32_t op)
{
	return op < GS_RM_OP_MAX && op != GS_RM_SCHEDULE;
}

/* Notes the call in the TSG's record, as the daemon's engine does. */
static void note(struct own *t, uint32_t op, uint32_t arg, bool clear)
{
	struct gpusched_tsg *rec = &t->rec;
	uint32_t bit = op == GS_RM_SUSPEND || op == GS_RM_RESUME ? GPUSCHED_RUNNABLE : 0;
	uint32_t value = op == GS_RM_SUSPEND ? 0 : op == GS_RM_RESUME ? 1 : arg;

	for (unsigned int i = 0; i < GS_NFIELDS && !bit; i++)
		if (gs_settings[i].name && gs_settings[i].op == op)
			bit = GS_BIT(i);
	if (!bit)
		return;
	gs_field_put(&rec->task.is, bit, value);
	rec->task.assumed &= ~bit;
	rec->changed |= bit;
	gs_field_put(&rec->manual, bit, value);
	if (clear || op == GS_RM_RESUME) {
		rec->changed &= ~bit;
		gs_field_unset(&rec->manual, bit);
	}
	if (bit == GPUSCHED_RUNNABLE) {
		rec->suspend_by = value ? 0 : GPUSCHED_BY_PERSON;
		rec->suspended_ns = value ? 0 : gs_now_ns();
	}
}

/* Returns true if the program is to give way on the GPU. */
static bool call(struct own *t, uint32_t op, uint32_t arg, bool clear, struct gs_agent_answer *a)
{
	static struct gs_rm_tsg tsg; /* static because it is large; used under the lock */
	struct gs_rm_step step = { .op = (enum gs_rm_op)op, .arg = arg };

	tsg = (struct gs_rm_tsg){
		.pid = getpid(),
		.uid = geteuid(),
		.fd = (int)t->rec.owner_fd,
		.client = t->rec.key.client,
		.tsg = t->rec.key.handle,
		.subdevice = t->rec.h_subdevice,
		.nchannels = t->ch.n,
	};
	memcpy(tsg.channels, t->ch.ch, sizeof(tsg.channels));
	a->err = gs_way_borrow.take(&tsg, &step, 1);
	a->status = step.res.status;
	a->value = step.res.value;
	a->calls += step.res.calls;
	a->ns += step.res.ns;
	if (!a->err)
		note(t, op, arg, clear);
	t->rec.errors = a->err ? t->rec.errors + 1 : 0;
	t->rec.last_status = a->err ? a->status : t->rec.last_status;
	return op == GS_RM_PREEMPT || op == GS_RM_SUSPEND;
}

bool agent_tsgs_call(const struct gs_agent_request *rq, struct gs_agent_answer *a)
{
	bool yields = false;
	struct own *t;

	pthread_mutex_lock(&lock);
	t = find(rq->client, rq->tsg);
	if (!is_allowed(rq->op))
		a->err = -EINVAL;
	else if (!t || t->rec.flags & GPUSCHED_TSG_GONE)
		a->err = -ENOENT;
	else
		yields = call(t, rq->op, rq->arg, rq->clear, a);
	pthread_mutex_unlock(&lock);
	return yields;
}

bool agent_tsgs_call_number(uint32_t number, uint32_t op, uint32_t arg, struct gs_agent_answer *a)
{
	static struct gpusched_tsg unused[GS_AGENT_TSGS];
	bool yields = false;
	uint32_t more;

	if (!is_allowed(op) || number > GS_AGENT_TSGS) {
		a->err = -EINVAL;
		return false;
	}
	if (!ntsgs)
		agent_tsgs_list(unused, GS_AGENT_TSGS, &more);
	pthread_mutex_lock(&lock);
	a->err = -ENOENT;
	for (unsigned int i = 0; i < ntsgs; i++) {
		struct own *t = &tsgs[i];
		bool meant = number ? t->rec.task.id == number
				    : t->rec.task.kind == GPUSCHED_KIND_COMPUTE;

		if (meant && !(t->rec.flags & GPUSCHED_TSG_GONE))
			yields = call(t, op, arg, false, a);
	}
	pthread_mutex_unlock(&lock);
	return yields;
}

/*
 * Takes no lock, allocates nothing, makes one ioctl per TSG. If the descriptor's number belongs to
 * another file by now, RM refuses the call.
 */
int agent_tsgs_call_at_once(uint32_t number, uint32_t op, uint32_t arg)
{
	unsigned int n = ntsgs;
	int r = -ENOENT;

	if (op != GS_RM_PREEMPT && op != GS_RM_SET_TIMESLICE)
		return -EINVAL;
	for (unsigned int i = 0; i < n; i++) {
		const struct gpusched_tsg *rec = &tsgs[i].rec;
		struct gs_rm_tsg tsg = { .client = rec->key.client, .tsg = rec->key.handle };
		struct gs_session s = { .tsg = &tsg, .fd = (int)rec->owner_fd };
		struct gs_rm_result res = { 0 };

		if (number ? rec->task.id != number : rec->task.kind != GPUSCHED_KIND_COMPUTE)
			continue;
		r = gs_rm_ops_perform(&s, (enum gs_rm_op)op, arg, &res);
	}
	return r;
}
