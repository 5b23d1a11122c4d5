// SPDX-License-Identifier: MIT
/* ops.c - performs operations on a TSG through an open file that has the TSG's RM client */
#include "rm/way.h"

#include <errno.h>
#include <string.h>

#include "rm/abi.h"
#include "rm/setting.h"
#include "rm/sys.h"

_Static_assert(GS_RM_SUSPEND_BATCH == NV_DISABLE_MAX, "0x2080110b");

static const char *const op_names[] = {
#define X(sym, name) [GS_RM_##sym] = name,
	GS_RM_OPS(X)
#undef X
};

const char *gs_rm_op_name(enum gs_rm_op op)
{
	return op < GS_RM_OP_MAX ? op_names[op] : NULL;
}

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

static int control(struct gs_session *s, uint32_t object, uint32_t cmd, void *params, uint32_t size,
		   struct gs_rm_result *res)
{
	uint32_t status = GS_NV_OK;
	int r = gs_rm_control(s->fd, s->tsg->client, object, cmd, params, size, &status);

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
	return s->proven ? 0 : get_timeslice(s, res);
}

/* ---- suspend, resume ------------------------------------------------------------------------- */

static int enable_some(struct gs_session *s, unsigned int from, unsigned int n, bool disable,
		       struct gs_rm_result *res)
{
	struct nv_disable_channels d = { .disable = disable, .n = n };

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
		if (r < 0)
			return r;
		found++;
	}
	if (!found)
		return -EREMOTEIO;
	res->status = GS_NV_OK;
	return 0;
}

static int enable_channels(struct gs_session *s, bool disable, struct gs_rm_result *res)
{
	unsigned int done = 0, n = s->tsg->nchannels;
	struct gs_rm_result undo = { 0 };
	int r = prove(s, res);

	if (r < 0 || !n)
		return r;
	if (!s->tsg->subdevice)
		return -ENXIO;
	if (n > GPUSCHED_MAX_CHANNELS)
		n = GPUSCHED_MAX_CHANNELS;
	while (done < n) {
		unsigned int part = n - done < NV_DISABLE_MAX ? n - done : NV_DISABLE_MAX;

		r = enable_some(s, done, part, disable, res);
		if (r == -EREMOTEIO && channel_missing(res->status)) {
			r = enable_each(s, done, part, disable, res);
			if (r < 0) /* undo the channels of this batch that succeeded */
				enable_each(s, done, part, !disable, &undo);
		}
		if (r < 0)
			break;
		done += part;
	}
	if (r < 0) {
		for (unsigned int at = 0; at < done; at += NV_DISABLE_MAX) {
			unsigned int part = done - at < NV_DISABLE_MAX ? done - at : NV_DISABLE_MAX;

			enable_some(s, at, part, !disable, &undo);
		}
		res->calls += undo.calls;
	}
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

int gs_rm_perform(struct gs_session *s, enum gs_rm_op op, uint32_t arg, struct gs_rm_result *res)
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
		return enable_channels(s, true, res);
	case GS_RM_RESUME:
		return enable_channels(s, false, res);
	case GS_RM_SCHEDULE:
		return schedule(s, arg, res);
	default:
		return -EINVAL;
	}
}
