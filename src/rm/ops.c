// SPDX-License-Identifier: MIT
/* ops.c - performs operations on a TSG through an open file that has the TSG's RM client */
#include "rm/way.h"

#include <errno.h>
#include <string.h>

#include "basic/clock.h"
#include "rm/abi.h"
#include "rm/setting.h"
#include "rm/sys.h"

_Static_assert(GS_RM_SUSPEND_BATCH == NV_DISABLE_MAX, "0x2080110b");

/* Converts RM's status to an errno. @about_tsg: the call was made on the TSG itself. */
static int to_errno(uint32_t status, bool about_tsg)
{
	switch (status) {
	case GS_NV_OK:
		return 0;
	case GS_NV_INSUFFICIENT_PERMISSIONS:
		return -EPERM;
	case GS_NV_INVALID_CLIENT:
		return -EBADF;
	case GS_NV_OBJECT_NOT_FOUND:
	case GS_NV_INVALID_OBJECT_HANDLE:
		return about_tsg ? -ENOENT : -EREMOTEIO;
	default:
		return -EREMOTEIO;
	}
}

/*
 * Kernel RM answers these before it asks GSP (open driver 580.142, rmapi/control.c). SET_INTERLEAVE
 * turns each of GSP's errors into NOT_SUPPORTED (kernel_channel_group_api.c).
 */
static bool op_refuses(enum gs_rm_op op, uint32_t status)
{
	return status == GS_NV_INSUFFICIENT_PERMISSIONS || status == GS_NV_INVALID_CLIENT ||
	       status == GS_NV_INVALID_COMMAND ||
	       (status == GS_NV_NOT_SUPPORTED && op != GS_RM_SET_INTERLEAVE);
}

bool gs_rm_ops_refused(const struct gs_rm_step *step)
{
	if (step->res.partly)
		return false;
	switch (step->res.err) {
	case -EREMOTEIO:
		return op_refuses(step->op, step->res.status);
	case -EPERM:
	case -ERANGE:
	case -EBADF:
	case -ENXIO:
	case -ETIMEDOUT: /* not made */
	case -EAGAIN:    /* not made */
		return true;
	default:
		return false;
	}
}

static int control(struct gs_session *s, uint32_t object, uint32_t cmd, void *params, uint32_t size,
		   struct gs_rm_result *res)
{
	uint32_t status = GS_NV_OK;
	int r = gs_rm_call_control(s->fd, s->tsg->client, object, cmd, params, size, &status);

	res->calls++;
	res->status = status;
	if (r < 0)
		return r;
	return to_errno(status, object == s->tsg->tsg);
}

static int get_timeslice(struct gs_session *s, struct gs_rm_result *res)
{
	uint64_t us = 0;
	int r = control(s, s->tsg->tsg, NV_CMD_GET_TIMESLICE, &us, sizeof(us), res);

	if (!r) {
		s->proven = true;
		res->value = us > UINT32_MAX ? UINT32_MAX : (uint32_t)us;
	}
	return r;
}

/*
 * Proves by a GET_TIMESLICE that this file's client has the TSG. Call this before a control that
 * names channels: RM does not check that the channels belong to the TSG.
 */
static int prove(struct gs_session *s, struct gs_rm_result *res)
{
	uint64_t begun;
	int r;

	if (s->proven)
		return 0;
	begun = gs_now_ns();
	r = get_timeslice(s, res);
	res->proof_ns += gs_now_ns() - begun;
	return r;
}

/* ---- suspend, resume ------------------------------------------------------------------------- */

static int enable_some(struct gs_session *s, unsigned int from, unsigned int n, bool disable,
		       struct gs_rm_result *res)
{
	struct nv_disable_channels d = {
		.disable = disable,
		.n = n,
		.only_scheduling = disable && s->leaves,
	};

	for (unsigned int i = 0; i < n; i++) {
		d.clients[i] = s->tsg->client;
		d.channels[i] = s->tsg->channels[from + i].handle;
	}
	return control(s, s->tsg->subdevice, NV_CMD_DISABLE_CHANNELS, &d, sizeof(d), res);
}

static bool channel_missing(uint32_t status)
{
	return status == GS_NV_OBJECT_NOT_FOUND || status == 0x21 /* INVALID_CHANNEL */ ||
	       status == 0x31 /* INVALID_OBJECT */ || status == GS_NV_INVALID_OBJECT_HANDLE;
}

/*
 * Makes one call per channel, and skips channels that no longer exist. For a list of channels that
 * RM refused as a whole, since one of them was freed after the table was read.
 */
static int enable_each(struct gs_session *s, unsigned int from, unsigned int n, bool disable,
		       struct gs_rm_result *res)
{
	unsigned int found = 0;

	for (unsigned int i = 0; i < n; i++) {
		int r = enable_some(s, from + i, 1, disable, res);

		if (r == -EREMOTEIO && channel_missing(res->status))
			continue;
		res->partly |= r < 0 && found;
		if (r < 0)
			return r;
		found++;
	}
	if (!found)
		return -EREMOTEIO;
	res->status = GS_NV_OK;
	return 0;
}

/* True if RM refused the first batch, so that no channel has changed. */
static bool refused_all(bool disable, int err, const struct gs_rm_result *res)
{
	struct gs_rm_step step = { .op = disable ? GS_RM_SUSPEND : GS_RM_RESUME, .res = *res };

	step.res.err = err;
	return gs_rm_ops_refused(&step);
}

/* Returns the first error; *@ret_done: the channels up to the end of the batch that failed. */
static int enable_all(struct gs_session *s, unsigned int n, bool disable, unsigned int *ret_done,
		      struct gs_rm_result *res)
{
	unsigned int done = 0;
	int r = 0;

	while (done < n && r >= 0) {
		unsigned int part = n - done < NV_DISABLE_MAX ? n - done : NV_DISABLE_MAX;

		r = enable_some(s, done, part, disable, res);
		if (r == -EREMOTEIO && channel_missing(res->status))
			r = enable_each(s, done, part, disable, res);
		done += part;
	}
	*ret_done = done;
	return r;
}

/*
 * Without a wait the suspended TSG runs to the end of its slice, and alone runs on. This makes it
 * leave at once, and takes only its GPU's lock.
 */
static int preempt_without_wait(struct gs_session *s, struct gs_rm_result *res)
{
	struct nv_preempt p = { 0 };
	uint64_t begun = gs_now_ns();
	int r = control(s, s->tsg->tsg, NV_CMD_PREEMPT, &p, sizeof(p), res);

	res->preempt_ns = gs_now_ns() - begun;
	s->stays = r < 0 && op_refuses(GS_RM_PREEMPT, res->status);
	return r;
}

static int enable_channels(struct gs_session *s, bool disable, struct gs_rm_result *res)
{
	unsigned int done, n = s->tsg->nchannels;
	struct gs_rm_result undo = { 0 };
	int r = prove(s, res);

	if (r < 0 || !n)
		return r;
	if (!s->tsg->subdevice)
		return -ENXIO;
	if (n > GPUSCHED_MAX_CHANNELS)
		n = GPUSCHED_MAX_CHANNELS;
	r = enable_all(s, n, disable, &done, res);
	if (r < 0 && done <= NV_DISABLE_MAX && refused_all(disable, r, res))
		return r;
	if (r >= 0 && disable && s->leaves)
		r = preempt_without_wait(s, res);
	if (r >= 0)
		return r;
	/*
	 * The failed batch may have been disabled, too. A failed resume is not undone: what it
	 * enabled may run.
	 */
	res->partly = true;
	for (unsigned int at = 0; disable && at < done; at += NV_DISABLE_MAX) {
		unsigned int part = done - at < NV_DISABLE_MAX ? done - at : NV_DISABLE_MAX;
		int u = enable_some(s, at, part, false, &undo);

		if (u == -EREMOTEIO && channel_missing(undo.status))
			enable_each(s, at, part, false, &undo);
	}
	res->calls += undo.calls;
	return r;
}

static int suspend(struct gs_session *s, bool leaves, struct gs_rm_result *res)
{
	int r;

	s->leaves = leaves;
	s->stays = false;
	r = enable_channels(s, true, res);
	if (!s->stays)
		return r;
	/* its channels are enabled again: what is left is the suspension that waits */
	s->leaves = false;
	res->partly = false;
	r = enable_channels(s, true, res);
	res->partly |= r < 0;
	return r;
}

/* ---- the other operations -------------------------------------------------------------------- */

static int set_preempt_mode(struct gs_session *s, uint32_t mode, struct gs_rm_result *res)
{
	struct nv_preempt_mode p = { .flags = NV_PREEMPT_FLAG_COMPUTE, .compute = mode };
	int r;

	r = prove(s, res);
	if (r < 0)
		return r;
	if (!s->tsg->subdevice || !s->tsg->nchannels)
		return -ENXIO;
	p.channel = s->tsg->channels[0].handle;
	return control(s, s->tsg->subdevice, NV_CMD_SET_PREEMPT_MODE, &p, sizeof(p), res);
}

static int preempt(struct gs_session *s, uint32_t timeout_us, struct gs_rm_result *res)
{
	struct nv_preempt p = { .wait = 1, .manual_timeout = 1, .timeout_us = timeout_us };

	if (!timeout_us)
		p.timeout_us = GS_RM_PREEMPT_US;
	else if (timeout_us > NV_PREEMPT_TIMEOUT_MAX_US)
		return -ERANGE;
	return control(s, s->tsg->tsg, NV_CMD_PREEMPT, &p, sizeof(p), res);
}

static int schedule(struct gs_session *s, bool enable, struct gs_rm_result *res)
{
	struct nv_schedule p = { .enable = enable };

	return control(s, s->tsg->tsg, NV_CMD_SCHEDULE, &p, nv_schedule_size(s->tsg->branch), res);
}

static int set_timeslice(struct gs_session *s, uint32_t us, struct gs_rm_result *res)
{
	uint64_t value = us;

	return control(s, s->tsg->tsg, NV_CMD_SET_TIMESLICE, &value, sizeof(value), res);
}

static int set_interleave(struct gs_session *s, uint32_t level, struct gs_rm_result *res)
{
	return control(s, s->tsg->tsg, NV_CMD_SET_INTERLEAVE, &level, sizeof(level), res);
}

static bool out_of_range(enum gs_rm_op op, uint32_t arg)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (gs_settings[i].name && gs_settings[i].op == op)
			return !gs_field_in_range(GS_BIT(i), arg);
	return false;
}

int gs_rm_ops_perform(struct gs_session *s, enum gs_rm_op op, uint32_t arg,
		      struct gs_rm_result *res)
{
	if (out_of_range(op, arg))
		return -ERANGE;
	switch (op) {
	case GS_RM_GET_TIMESLICE:
		return get_timeslice(s, res);
	case GS_RM_SET_TIMESLICE:
		return set_timeslice(s, arg, res);
	case GS_RM_SET_INTERLEAVE:
		return set_interleave(s, arg, res);
	case GS_RM_SET_PREEMPT_MODE:
		return set_preempt_mode(s, arg, res);
	case GS_RM_PREEMPT:
		return preempt(s, arg, res);
	case GS_RM_SUSPEND:
		return suspend(s, arg, res);
	case GS_RM_RESUME:
		return enable_channels(s, false, res);
	case GS_RM_SCHEDULE:
		return schedule(s, arg, res);
	default:
		return -EINVAL;
	}
}
