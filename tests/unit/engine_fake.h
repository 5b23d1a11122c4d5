/* SPDX-License-Identifier: MIT */
/* engine_fake.h - stand in for the TSG table and RM, in memory, for the engine's tests */
#ifndef GPUSCHED_TESTS_ENGINE_FAKE_H
#define GPUSCHED_TESTS_ENGINE_FAKE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/clock.h"
#include "engine/engine.h"
#include "engine/fields.h"
#include "engine/ops.h"
#include "gate/gate.h"
#include "table/cfg.h"
#include "table/classes.h"
#include "table/started.h"
#include "taps/taps.h"

#define MAX_REC 512
#define MAX_LOG 4096

/* The calls that reached the fake RM, in order. */
struct fake_call {
	uint32_t tsg;
	enum gs_rm_op op;
	uint32_t arg;
	uint32_t changed;           /* the record's @changed at the time of the call */
	unsigned int still_stopped; /* processes that were stopped at the time of the call */
	uint64_t ns;
};

struct fake_state {
	pthread_mutex_t lock;
	struct gpusched_tsg rec[MAX_REC];
	unsigned int n;
	struct gpusched_class cls;
	struct gpusched_cfg cfg;
	struct fake_call log[MAX_LOG];
	unsigned int nlog;
	unsigned int begun; /* calls that have begun; the log has only those that have ended */
	uint32_t ended;     /* handle of the TSG whose record a restore ended; 0: none */
	uint32_t denied;    /* bits of TSGs that the fake RM does not have */
	unsigned int denied_times;
	bool elsewhere; /* a denial proves nothing, since the TSG may be on another file */
	int selves;
	bool stopped[MAX_REC]; /* the gate has stopped a process for that record */
	/* how the fake RM behaves */
	int fail_op; /* calls of this kind fail with fail_err; -1: none */
	int fail_err;
	unsigned int fail_times;
	uint64_t call_ns;  /* how long a call takes */
	uint32_t slow_tsg; /* this TSG's calls take slow_ns */
	uint64_t slow_ns;
	bool locked[MAX_REC];                 /* the owner holds the lock of its execve() */
	struct gpusched_settings hw[MAX_REC]; /* the settings in force in the hardware */
};

/* Shared memory, so that calls of the guardian's process show here. */
static struct fake_state *fake_memory;
#define fake (*fake_memory)

static __attribute__((constructor)) void fake_init(void)
{
	pthread_mutexattr_t shared;

	fake_memory =
		mmap(NULL, sizeof(fake), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (fake_memory == MAP_FAILED)
		abort();
	pthread_mutexattr_init(&shared);
	pthread_mutexattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&fake.lock, &shared);
}

static struct gpusched_tsg *fake_find(const struct gpusched_key *key)
{
	for (unsigned int i = 0; i < fake.n; i++)
		if (!memcmp(&fake.rec[i].key, key, sizeof(*key)))
			return &fake.rec[i];
	return NULL;
}

static int fake_get(struct gs_table *o, const struct gpusched_key *key, struct gpusched_tsg *ret)
{
	struct gpusched_tsg *rec;

	pthread_mutex_lock(&fake.lock);
	rec = fake_find(key);
	if (rec)
		*ret = *rec;
	pthread_mutex_unlock(&fake.lock);
	return rec ? 0 : -ENOENT;
}

static int fake_all(struct gs_table *o, struct gpusched_tsg **ret, size_t *ret_n)
{
	pthread_mutex_lock(&fake.lock);
	*ret = calloc(fake.n + 1, sizeof(**ret));
	memcpy(*ret, fake.rec, fake.n * sizeof(**ret));
	*ret_n = fake.n;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int fake_channels(struct gs_table *o, const struct gpusched_key *key,
			 struct gpusched_channels *ret)
{
	*ret = (struct gpusched_channels){ .n = 2, .ch = { { 0x10, 1 }, { 0x11, 2 } } };
	return 0;
}

static int fake_poke(struct gs_table *o, struct gpusched_poke *p)
{
	struct gpusched_tsg *rec;
	int r = 0;

	pthread_mutex_lock(&fake.lock);
	rec = fake_find(&p->key);
	if (!rec)
		r = -ENOENT;
	else if (rec->task.id != p->id)
		r = -ESTALE;
	if (r)
		goto out;
	gs_fields_poke(rec, p);
out:
	pthread_mutex_unlock(&fake.lock);
	return r;
}

static int fake_cfg(struct gs_table *o, struct gpusched_cfg *ret)
{
	pthread_mutex_lock(&fake.lock);
	*ret = fake.cfg;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int fake_class(struct gs_table *o, uint32_t id, struct gpusched_class *ret)
{
	*ret = fake.cls;
	return 0;
}

static int fake_next_epoch(struct gs_table *o)
{
	fake.cfg.epoch++;
	return 0;
}

static int fake_heartbeat(struct gs_table *o, uint64_t ns)
{
	fake.cfg.heartbeat_ns = ns;
	return 0;
}

static int fake_policy_active(struct gs_table *o, bool active)
{
	fake.cfg.policy_active = active;
	return 0;
}

static int fake_self_add(struct gs_table *o, pid_t tgid)
{
	fake.selves++;
	return 0;
}

static int fake_self_del(struct gs_table *o, pid_t tgid)
{
	fake.selves--;
	return 0;
}

static int fake_open(struct gs_table **ret, struct gs_error *err)
{
	*ret = (struct gs_table *)&fake;
	return 0;
}

static void fake_close(struct gs_table *o)
{
}

static int fake_launches_forget(void)
{
	return 0;
}

static int fake_gate_release(struct gs_table *o, bool all, struct gs_released *ret)
{
	struct gs_released sum = { 0 };

	pthread_mutex_lock(&fake.lock);
	for (unsigned int i = 0; i < fake.n; i++) {
		struct gpusched_tsg *rec = &fake.rec[i];

		if (!fake.stopped[i] || (!all && (rec->flags & GPUSCHED_TSG_HELD)))
			continue;
		fake.stopped[i] = false;
		rec->flags &= ~GPUSCHED_TSG_HELD;
		sum.continued++;
	}
	pthread_mutex_unlock(&fake.lock);
	if (ret)
		*ret = sum;
	return 0;
}

static int fake_sweep(struct gs_table *o, void (*fn)(const struct gpusched_tsg *, void *),
		      void *user, struct gs_error *err)
{
	return 0;
}

/* Notes the record's handle in fake.ended, in place of ending the record. */
static int fake_end(struct gs_table *o, const struct gpusched_tsg *rec,
		    void (*fn)(const struct gpusched_tsg *rec, void *user), void *user)
{
	pthread_mutex_lock(&fake.lock);
	fake.ended = rec->key.handle;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static void fake_apply(unsigned int i, enum gs_rm_op op, uint32_t arg)
{
	switch (op) {
	case GS_RM_SET_TIMESLICE:
		fake.hw[i].timeslice_us = arg;
		break;
	case GS_RM_SET_INTERLEAVE:
		fake.hw[i].interleave = (gs_u8)arg;
		break;
	case GS_RM_SET_PREEMPT_MODE:
		fake.hw[i].preempt_mode = (gs_u8)arg;
		break;
	case GS_RM_SUSPEND:
		fake.hw[i].runnable = 0;
		break;
	case GS_RM_RESUME:
		fake.hw[i].runnable = 1;
		break;
	default:
		break;
	}
}

static int fake_step(const struct gs_rm_tsg *tsg, struct gs_rm_step *step)
{
	unsigned int i, still_stopped = 0;
	uint64_t ns;
	int r = 0;

	pthread_mutex_lock(&fake.lock);
	fake.begun++;
	ns = tsg->tsg == fake.slow_tsg ? fake.slow_ns : fake.call_ns;
	pthread_mutex_unlock(&fake.lock);
	gs_sleep_ns(ns);
	pthread_mutex_lock(&fake.lock);
	for (i = 0; i < fake.n && fake.rec[i].key.handle != tsg->tsg; i++)
		;
	assert_true(i < fake.n);
	for (unsigned int k = 0; k < fake.n; k++)
		still_stopped += fake.stopped[k];
	fake.log[fake.nlog++] = (struct fake_call){
		.still_stopped = still_stopped,
		.tsg = tsg->tsg,
		.op = step->op,
		.arg = step->arg,
		.changed = fake.rec[i].changed,
		.ns = gs_now_ns(),
	};
	if (tsg->tsg == fake.denied && fake.denied_times) {
		fake.denied_times--;
		r = -ENOENT;
		step->res.status = 0x57;
		step->res.denied = !fake.elsewhere;
	} else if ((int)step->op == fake.fail_op && fake.fail_times) {
		fake.fail_times--;
		r = fake.fail_err;
		step->res.status = 0x65;
	} else {
		fake_apply(i, step->op, step->arg);
	}
	step->res.err = r;
	step->res.calls = 1;
	step->res.ns = fake.call_ns;
	pthread_mutex_unlock(&fake.lock);
	return r;
}

static bool fake_is_locked(uint32_t tsg)
{
	bool locked = false;

	pthread_mutex_lock(&fake.lock);
	for (unsigned int i = 0; i < fake.n; i++)
		locked |= fake.rec[i].key.handle == tsg && fake.locked[i];
	pthread_mutex_unlock(&fake.lock);
	return locked;
}

static int fake_borrow(const struct gs_rm_tsg *tsg)
{
	int r = gs_wait_begin(tsg->wait, tsg->pid, tsg->uid);

	if (r)
		return r;
	while (fake_is_locked(tsg->tsg))
		gs_sleep_ns(NS_PER_MS);
	return gs_wait_end(tsg->wait) ? 0 : -ECANCELED;
}

static int fake_take(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		steps[i].res = (struct gs_rm_result){ .err = -ECANCELED };
	for (size_t i = 0; i < n; i++) {
		int r = steps[i].res.err = fake_borrow(tsg);

		if (!r)
			r = fake_step(tsg, &steps[i]);
		if (r)
			return r;
	}
	return 0;
}

static const struct gs_way fake_way = { .name = "fake", .take = fake_take };

static void fake_way_gone(uint32_t client, uint32_t tsg)
{
	(void)client;
	(void)tsg;
}

static const struct gs_way *fake_way_of(const struct gs_rm_tsg *tsg)
{
	return &fake_way;
}

static inline void fake_lock(uint32_t n, bool locked)
{
	pthread_mutex_lock(&fake.lock);
	fake.locked[n - 1] = locked;
	pthread_mutex_unlock(&fake.lock);
}

/* Makes calls on this TSG take this long from now on. */
static inline void fake_slow(uint32_t tsg, uint64_t ns)
{
	pthread_mutex_lock(&fake.lock);
	fake.slow_tsg = tsg;
	fake.slow_ns = ns;
	pthread_mutex_unlock(&fake.lock);
}

static inline unsigned int fake_begun(void)
{
	unsigned int n;

	pthread_mutex_lock(&fake.lock);
	n = fake.begun;
	pthread_mutex_unlock(&fake.lock);
	return n;
}

/* Waits until @n calls have begun. */
static inline void wait_begun(unsigned int n)
{
	for (int i = 0; i < 10000 && fake_begun() < n; i++)
		gs_sleep_ns(NS_PER_MS);
	assert_true(fake_begun() >= n);
}

/* Makes a compute TSG as CUDA does; @n is its handle and id. */
static struct gpusched_tsg *fake_tsg(uint32_t n, uint32_t gpu)
{
	struct gpusched_tsg *rec = &fake.rec[fake.n];

	pthread_mutex_lock(&fake.lock);
	*rec = (struct gpusched_tsg){
		.key = { .file = 1, .client = 0xc1d00000 + n, .handle = n },
		.flags = GPUSCHED_TSG_SCHEDULED,
		.h_subdevice = 3,
		.nchannels = 2,
		.task = {
			.id = n,
			.gpu = gpu,
			.kind = GPUSCHED_KIND_COMPUTE,
			.engine = 1,
			.pid = 4000 + n,
			.created_ns = gs_now_ns(),
			.asked = {
				.valid = GPUSCHED_ALL_SETTINGS,
				.timeslice_us = 2048,
				.interleave = 1,
				.preempt_mode = 2,
				.runnable = 1,
			},
		},
	};
	fake.hw[fake.n] = rec->task.asked;
	fake.n++;
	pthread_mutex_unlock(&fake.lock);
	return rec;
}

static void fake_reset(void)
{
	pthread_mutex_lock(&fake.lock);
	memset(fake.rec, 0, sizeof(fake.rec));
	memset(fake.stopped, 0, sizeof(fake.stopped));
	fake.n = fake.nlog = fake.begun = 0;
	fake.cls = (struct gpusched_class){ .suspend_limit_ms = 10000, .starve_limit_ms = 100 };
	fake.cfg = (struct gpusched_cfg){ .policy_active = 1 };
	fake.selves = 0;
	fake.ended = fake.denied = fake.denied_times = 0;
	fake.elsewhere = false;
	fake.fail_op = -1;
	fake.fail_times = 0;
	fake.fail_err = -EREMOTEIO;
	fake.call_ns = 1000;
	fake.slow_tsg = 0;
	memset(fake.locked, 0, sizeof(fake.locked));
	fake.slow_ns = 0;
	gs_engine_ops = (struct gs_engine_ops){
		.open = fake_open,
		.close = fake_close,
		.get = fake_get,
		.all = fake_all,
		.channels = fake_channels,
		.poke = fake_poke,
		.cfg = fake_cfg,
		.class_get = fake_class,
		.next_epoch = fake_next_epoch,
		.heartbeat = fake_heartbeat,
		.policy_active = fake_policy_active,
		.self_add = fake_self_add,
		.self_del = fake_self_del,
		.sweep = fake_sweep,
		.end = fake_end,
		.gate_release = fake_gate_release,
		.launches_forget = fake_launches_forget,
		.way_of = fake_way_of,
		.way_gone = fake_way_gone,
		.restore_way = &fake_way,
		.stuck_ns = 5 * NS_PER_S,
	};
	pthread_mutex_unlock(&fake.lock);
}

static void fake_want(struct gpusched_tsg *rec, uint32_t bit, uint32_t value)
{
	pthread_mutex_lock(&fake.lock);
	rec->task.want.valid |= bit;
	if (bit == GPUSCHED_TIMESLICE)
		rec->task.want.timeslice_us = value;
	else if (bit == GPUSCHED_INTERLEAVE)
		rec->task.want.interleave = (gs_u8)value;
	else if (bit == GPUSCHED_PREEMPT_MODE)
		rec->task.want.preempt_mode = (gs_u8)value;
	else
		rec->task.want.runnable = (gs_u8)value;
	pthread_mutex_unlock(&fake.lock);
}

/* Counts the calls of one kind on @tsg in the log; @tsg 0: on any TSG. */
static inline unsigned int fake_count(uint32_t tsg, enum gs_rm_op op)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < fake.nlog; i++)
		n += (!tsg || fake.log[i].tsg == tsg) && fake.log[i].op == op;
	return n;
}

/* Functions of the table to which the real ops refer. No test calls them. */
#define UNREACHED(name, args) \
	int name args \
	{ \
		abort(); \
	}
UNREACHED(gs_table_open, (struct gs_table * *ret, struct gs_error *err))
UNREACHED(gs_table_get,
	  (struct gs_table * o, const struct gpusched_key *key, struct gpusched_tsg *ret))
UNREACHED(gs_table_all, (struct gs_table * o, struct gpusched_tsg **ret, size_t *ret_n))
UNREACHED(gs_table_channels,
	  (struct gs_table * o, const struct gpusched_key *key, struct gpusched_channels *ret))
UNREACHED(gs_table_poke, (struct gs_table * o, struct gpusched_poke *poke))
UNREACHED(gs_table_cfg, (struct gs_table * o, struct gpusched_cfg *ret))
UNREACHED(gs_procs_class_get, (struct gs_table * o, uint32_t id, struct gpusched_class *ret))
UNREACHED(gs_cfg_next_epoch, (struct gs_table * o))
UNREACHED(gs_cfg_heartbeat, (struct gs_table * o, uint64_t ns))
UNREACHED(gs_cfg_policy_active, (struct gs_table * o, bool active))
UNREACHED(gs_cfg_self_add, (struct gs_table * o, pid_t tgid))
UNREACHED(gs_cfg_self_del, (struct gs_table * o, pid_t tgid))
UNREACHED(gs_gate_release, (struct gs_table * o, bool all, struct gs_released *ret))
UNREACHED(gs_launches_forget, (void))
UNREACHED(gs_started, (pid_t pid, uint64_t *ret_ns))
UNREACHED(gs_holders_find_fd, (void *table, pid_t pid, uint64_t file))
UNREACHED(gs_sweep, (struct gs_table * o, void (*fn)(const struct gpusched_tsg *rec, void *user),
		     void *user, struct gs_error *err))
UNREACHED(gs_sweep_one, (struct gs_table * t, const struct gpusched_tsg *rec,
			 void (*fn)(const struct gpusched_tsg *rec, void *user), void *user))
void gs_table_close(struct gs_table *o)
{
	abort();
}

#endif /* GPUSCHED_TESTS_ENGINE_FAKE_H */
