// SPDX-License-Identifier: MIT
/*
 * way_module.c - makes calls through gpusched.ko, which calls the driver from inside the kernel
 *
 * When this process dies or its heartbeat stops, the module restores every setting that it changed.
 * It does not see changes made in other ways. So a TSG that it changed stays on this way until it
 * has its owner's settings again, and we hold the node as long as such a TSG exists.
 */
#include "rm/module.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "gpusched/module.h"
#include "process/process.h"
#include "rm/setting.h"
#include "rm/sys.h"

/*
 * We count the hold as lost somewhat earlier than the module does. Otherwise we could count a
 * setting as made that the module has already restored.
 */
#define LOST_NS ((GPUSCHED_MODULE_BEAT_MS - 500) * NS_PER_MS)

/* A TSG with settings that the module changed; @bits has the bits of these settings. */
struct changed {
	uint32_t client, tsg, bits;
};

static struct {
	pthread_mutex_t lock;   /* protects all members below */
	int fd;                 /* -1: we do not hold the node */
	bool wanted;            /* all TSGs take this way; false: only those in @changed */
	bool lost;              /* the module may have restored all, since our heartbeat was late */
	unsigned int under_way; /* calls on @fd right now */
	uint64_t beat_ns;       /* time of the last heartbeat */
	struct changed *changed;
	size_t n, room; /* entries in @changed, and how many it can have */
} node = { .lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1 };

/* ---- the changed TSGs; callers hold the lock ------------------------------------------------- */

static struct changed *find(uint32_t client, uint32_t tsg)
{
	for (size_t i = 0; i < node.n; i++)
		if (node.changed[i].client == client && node.changed[i].tsg == tsg)
			return &node.changed[i];
	return NULL;
}

static void drop(struct changed *c)
{
	*c = node.changed[--node.n];
}

/* Grows @changed before a call, so that no allocation can fail after the call's change. */
static int make_room(void)
{
	size_t room = node.room ? 2 * node.room : 64;
	struct changed *more;

	if (node.n + node.under_way < node.room)
		return 0;
	more = reallocarray(node.changed, room, sizeof(*more));
	if (!more)
		return -ENOMEM;
	node.changed = more;
	node.room = room;
	return 0;
}

static void note(const struct gs_rm_tsg *t, uint32_t bit, bool own)
{
	struct changed *c = find(t->client, t->tsg);

	if (!c && !own) {
		c = &node.changed[node.n++];
		*c = (struct changed){ t->client, t->tsg, 0 };
	}
	if (!c)
		return;
	c->bits = own ? c->bits & ~bit : c->bits | bit;
	if (!c->bits)
		drop(c);
}

/* ---- the node -------------------------------------------------------------------------------- */

static int open_node(struct gs_error *err)
{
	int fd;

	if (gs_env()->sim)
		return gs_fail(err, -ENOTSUP, "a simulated GPU has no kernel module");
	fd = gs_rm_sys.open(GS_MODULE_PATH);
	if (fd >= 0)
		return fd;
	if (errno == ENOENT || errno == ENXIO || errno == ENODEV)
		return gs_fail(err, -ENOTSUP,
			       "the module gpusched is not loaded (no " GS_MODULE_PATH ")");
	return gs_fail(err, -errno, "%s: %s", GS_MODULE_PATH, strerror(errno));
}

static int ask(int fd, struct gs_module *ret, struct gs_error *err)
{
	struct gpusched_module_about a = { 0 };
	int r = gs_rm_sys.ioctl(fd, GPUSCHED_MODULE_ABOUT, &a);

	if (r == -EPERM)
		return gs_fail(err, r, "%s takes CAP_SYS_ADMIN: run as root", GS_MODULE_PATH);
	if (r)
		return gs_fail(err, r, "the module gpusched does not answer: %s", strerror(-r));
	if (a.abi != GPUSCHED_MODULE_ABI)
		return gs_fail(err, -ENOTSUP,
			       "the module gpusched speaks version %u of its node, this program "
			       "version %u: build both from the same sources",
			       a.abi, GPUSCHED_MODULE_ABI);
	*ret = (struct gs_module){
		.abi = a.abi,
		.hooks = a.features & GPUSCHED_MODULE_HOOKS,
		.held = a.features & GPUSCHED_MODULE_HELD,
		.tsgs = a.tsgs,
		.changed = a.changed,
		.calls = a.calls,
		.left = a.left,
	};
	snprintf(ret->driver, sizeof(ret->driver), "%.31s", a.driver);
	snprintf(ret->policy, sizeof(ret->policy), "%.15s", a.policy);
	ret->ended = a.exit_kind;
	ret->ended_code = a.exit_code;
	return 0;
}

int gs_module_about(struct gs_module *ret, struct gs_error *err)
{
	CLEANUP_FD int fd = open_node(err);

	return fd < 0 ? fd : ask(fd, ret, err);
}

/* Opens and holds the node. The caller holds the lock. */
static int hold(struct gs_error *err)
{
	CLEANUP_FD int fd = open_node(err);
	struct gs_module m = { 0 };
	int r = fd < 0 ? fd : ask(fd, &m, err);

	if (r)
		return r;
	r = gs_rm_sys.ioctl(fd, GPUSCHED_MODULE_HOLD,
			    (void *)(uintptr_t)GPUSCHED_MODULE_OWN_POLICY);
	if (r)
		return gs_fail(err, r, "the module gpusched cannot be held: %s",
			       r == -EBUSY ? "another program holds it" : strerror(-r));
	node.fd = TAKE_FD(fd);
	node.beat_ns = gs_now_ns();
	node.lost = false;
	return 0;
}

int gs_module_may_use(bool hooks, bool ours, struct gs_error *err)
{
	struct gs_module m = { 0 };
	int r = gs_module_about(&m, err);

	if (!r && hooks && !m.hooks)
		return gs_fail(err, -ENOTSUP,
			       "the driver has none of gpusched's hooks (gpusched-policy(8)): "
			       "'--host module' is what there is");
	if (!r && m.policy[0] && !ours)
		return gs_fail(err, -EBUSY, "policy %s runs in gpusched.ko, by another program",
			       m.policy);
	return r;
}

int gs_module_use(struct gs_error *err)
{
	int r = 0;

	pthread_mutex_lock(&node.lock);
	if (node.fd < 0)
		r = hold(err);
	node.wanted |= !r;
	pthread_mutex_unlock(&node.lock);
	return r;
}

/*
 * Releases the module, which then restores all changed settings. The caller holds the lock, and no
 * call is under way.
 */
static void let_go(void)
{
	if (node.fd >= 0)
		close(node.fd);
	node.fd = -1;
	node.n = 0;
}

void gs_module_leave(void)
{
	pthread_mutex_lock(&node.lock);
	node.wanted = false;
	pthread_mutex_unlock(&node.lock);
}

void gs_module_end(void)
{
	pthread_mutex_lock(&node.lock);
	node.wanted = false;
	if (!node.under_way)
		let_go();
	pthread_mutex_unlock(&node.lock);
}

/*
 * Releases the module and holds it anew, since it may have restored settings that we count as made.
 * The caller holds the lock.
 */
static int begin_anew(void)
{
	if (node.under_way) /* those calls will fail soon; the next heartbeat tries again */
		return 0;
	let_go();
	node.lost = false;
	if (node.wanted)
		hold(NULL);
	return -ETIMEDOUT;
}

int gs_module_beat(void)
{
	uint64_t now = gs_now_ns();
	int r = 0;

	pthread_mutex_lock(&node.lock);
	if (node.fd < 0) {
		if (node.wanted)
			hold(NULL);
	} else if (!node.wanted && !node.n && !node.under_way) {
		let_go();
	} else {
		node.lost |= now > node.beat_ns + LOST_NS ||
			     (!node.lost && gs_rm_sys.ioctl(node.fd, GPUSCHED_MODULE_BEAT, NULL));
		if (node.lost)
			r = begin_anew();
		else
			node.beat_ns = now;
	}
	pthread_mutex_unlock(&node.lock);
	return r;
}

void gs_module_gone(uint32_t client, uint32_t tsg)
{
	struct gpusched_module_name name = { client, tsg };
	struct changed *c;

	pthread_mutex_lock(&node.lock);
	if (node.fd >= 0) {
		gs_rm_sys.ioctl(node.fd, GPUSCHED_MODULE_GONE, &name);
		c = find(client, tsg);
		if (c)
			drop(c);
	}
	pthread_mutex_unlock(&node.lock);
}

/* ---- one step -------------------------------------------------------------------------------- */

/* Checks that the TSG's owner still lives. -ESRCH: it has ended. -EAGAIN: not known right now. */
static int check_owner(const struct gs_rm_tsg *t)
{
	uint64_t start = 0;
	int r = t->started(t->pid, &start);

	if (gs_process_still(r, start, t->start_ns) == GS_STILL_NO)
		return -ESRCH;
	return r ? -EAGAIN : 0;
}

/* Describes the TSG to the module, which knows no TSG by itself. */
static int tell(int fd, const struct gs_rm_tsg *t)
{
	uint32_t channels[GPUSCHED_MAX_CHANNELS];
	struct gpusched_module_tell told = {
		.client = t->client,
		.tsg = t->tsg,
		.subdevice = t->subdevice,
		.pid = (uint32_t)t->pid,
		.nchannels = t->nchannels,
		.channels = (uintptr_t)channels,
		.own = t->own,
		.class_id = t->class_id,
		.weight = t->weight,
		.gpu_instance = t->gpu_instance,
		.compute_instance = t->compute_instance,
	};

	for (unsigned int i = 0; i < t->nchannels; i++)
		channels[i] = t->channels[i].handle;
	return gs_rm_sys.ioctl(fd, GPUSCHED_MODULE_TELL, &told);
}

/* Finds the setting that a step changes, and its new value. False: the step changes no setting. */
static bool setting_of(const struct gs_rm_step *step, uint32_t *ret_bit, uint32_t *ret_value)
{
	*ret_value = step->op == GS_RM_RESUME;
	*ret_bit = GPUSCHED_RUNNABLE;
	if (step->op == GS_RM_SUSPEND || step->op == GS_RM_RESUME)
		return true;
	*ret_value = step->arg;
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		*ret_bit = GS_BIT(i);
		if (gs_settings[i].op == step->op)
			return true;
	}
	return false;
}

static int preempt(int fd, const struct gs_rm_tsg *t, struct gs_rm_step *step)
{
	struct gpusched_module_preempt p = {
		.client = t->client,
		.tsg = t->tsg,
		.timeout_us = step->arg ? step->arg : GS_RM_PREEMPT_US,
	};
	int r = gs_rm_sys.ioctl(fd, GPUSCHED_MODULE_PREEMPT, &p);

	step->res.status = p.status;
	return r;
}

/*
 * Sets one setting. For the owner's own value, @want stays empty, which tells the module to stop
 * overriding the owner.
 */
static int set(int fd, const struct gs_rm_tsg *t, struct gs_rm_step *step, uint32_t bit,
	       uint32_t value)
{
	bool own = (t->own.valid & bit) && gs_field_get(&t->own, bit) == value;
	struct gpusched_module_set s = { .client = t->client, .tsg = t->tsg, .set = bit };
	int r;

	if (!own)
		gs_field_put(&s.want, bit, value);
	r = gs_rm_sys.ioctl(fd, GPUSCHED_MODULE_SET, &s);
	step->res.status = s.status;
	if (r)
		return r;
	pthread_mutex_lock(&node.lock);
	note(t, bit, own);
	pthread_mutex_unlock(&node.lock);
	return 0;
}

static bool is_gone(uint32_t status)
{
	return status == GS_NV_INVALID_CLIENT || status == GS_NV_OBJECT_NOT_FOUND ||
	       status == 0x31 /* INVALID_OBJECT */ || status == 0x33 /* INVALID_OBJECT_HANDLE */;
}

/* Translates the node's answer into way.h's errors. */
static int meaning(int r, uint32_t status)
{
	switch (r) {
	case -EREMOTEIO:
		return is_gone(status)                            ? -ENOENT
		       : status == GS_NV_INSUFFICIENT_PERMISSIONS ? -EPERM
								  : r;
	case -ETIMEDOUT: /* the module had no heartbeat from us for too long */
	case -EPERM:     /* we no longer hold the module */
		pthread_mutex_lock(&node.lock);
		node.lost = true;
		pthread_mutex_unlock(&node.lock);
		return -EAGAIN;
	case -EBUSY: /* no result in time */
		return -EINPROGRESS;
	case -ENOENT:
		return -EAGAIN;
	default:
		return r;
	}
}

static int perform(int fd, const struct gs_rm_tsg *t, struct gs_rm_step *step)
{
	uint64_t begun = gs_now_ns();
	uint32_t bit, value;
	int r = check_owner(t);

	step->res.fd = t->fd;
	if (!r) {
		r = tell(fd, t);
		if (!r && step->op == GS_RM_PREEMPT)
			r = preempt(fd, t, step);
		else if (!r)
			r = setting_of(step, &bit, &value) ? set(fd, t, step, bit, value) : -EINVAL;
		r = meaning(r, step->res.status);
		step->res.calls = 1; /* the module made at least one; it does not report how many */
	}
	step->res.err = r;
	step->res.ns = gs_now_ns() - begun;
	return r;
}

/* ---- the way --------------------------------------------------------------------------------- */

/* Begins a call and returns the node's descriptor; -1: this TSG takes another way. */
static int begin(const struct gs_rm_tsg *t)
{
	int fd = -1;

	pthread_mutex_lock(&node.lock);
	if (node.fd >= 0 && (node.wanted || find(t->client, t->tsg)) && !make_room()) {
		fd = node.fd;
		node.under_way++;
	}
	pthread_mutex_unlock(&node.lock);
	return fd;
}

static void end(void)
{
	pthread_mutex_lock(&node.lock);
	node.under_way--;
	pthread_mutex_unlock(&node.lock);
}

static int take(const struct gs_rm_tsg *tsg, struct gs_rm_step *steps, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n; i++)
		steps[i].res = (struct gs_rm_result){ .err = -ECANCELED, .fd = tsg->fd };
	for (size_t i = 0; i < n && !r; i++) {
		/* the module has no command for these two operations; they change no setting */
		bool other = steps[i].op == GS_RM_GET_TIMESLICE || steps[i].op == GS_RM_SCHEDULE;
		int fd = other ? -1 : begin(tsg);

		if (fd < 0) {
			r = gs_way_borrow.take(tsg, &steps[i], 1);
			continue;
		}
		r = perform(fd, tsg, &steps[i]);
		end();
	}
	return r;
}

static bool reaches(const struct gs_rm_tsg *tsg)
{
	bool yes;

	pthread_mutex_lock(&node.lock);
	yes = node.fd >= 0 && (node.wanted || find(tsg->client, tsg->tsg));
	pthread_mutex_unlock(&node.lock);
	return yes;
}

const struct gs_way gs_way_module = { .name = "module", .reaches = reaches, .take = take };
