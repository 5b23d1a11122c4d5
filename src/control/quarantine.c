// SPDX-License-Identifier: MIT
#include "control/quarantine.h"

#include <stdio.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "rm/xid.h"

/* One fault gives several lines: within this time they count as one. */
#define SAME_NS (60 * NS_PER_S)
#define MEMORY_NS (24 * GS_QUARANTINE_NS) /* for how long a quarantine that is over counts */
#define USERS_NS (600 * NS_PER_S)

static uint64_t dilated(const struct gs_quarantines *q, uint64_t ns)
{
	return (uint64_t)((double)ns * (q->dilate > 0 ? q->dilate : 1));
}

static struct gs_quarantine *find(struct gs_quarantines *q, const struct gs_program_id *program)
{
	for (size_t i = 0; i < q->n; i++)
		if (!memcmp(&q->all[i].program, program, sizeof(*program)))
			return &q->all[i];
	return NULL;
}

static void forget(struct gs_quarantines *q, uint64_t now)
{
	for (size_t i = 0; i < q->n;)
		if (now > q->all[i].until_ns + dilated(q, MEMORY_NS))
			q->all[i] = q->all[--q->n];
		else
			i++;
}

static unsigned int count_of(const struct gs_quarantines *q, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < q->n; i++)
		n += q->all[i].program.uid == uid;
	return n;
}

/* Returns the user with most programs that may lose one to @uid. */
static uid_t richest(const struct gs_quarantines *q, uid_t uid)
{
	unsigned int most = count_of(q, uid);
	uid_t ret = uid;

	for (size_t i = 0; i < q->n; i++) {
		uid_t of = q->all[i].program.uid;
		unsigned int n = of == ret ? 0 : count_of(q, of);

		if (n > most && (!uid || gs_share_yields(of, n, GS_QUARANTINE_MAX))) {
			most = n;
			ret = of;
		}
	}
	return ret;
}

/*
 * A user with too many programs gives up the one that ends first. If there is no place, the user
 * with most does. NULL: nobody has one to give up.
 */
static struct gs_quarantine *place_for(struct gs_quarantines *q, uid_t uid)
{
	struct gs_quarantine *first = NULL;
	unsigned int own = count_of(q, uid);
	bool full = own >= GS_USER_MAY_QUARANTINE;

	if (!full && gs_share_allows(uid, own, q->n, GS_QUARANTINE_MAX))
		return &q->all[q->n++];
	if (!full)
		uid = richest(q, uid);
	for (size_t i = 0; i < q->n; i++) {
		struct gs_quarantine *o = &q->all[i];

		if (o->program.uid == uid && (!first || o->until_ns < first->until_ns))
			first = o;
	}
	return first;
}

static void put(struct gs_quarantines *q, const struct gs_harm_report *r, uint64_t now,
		struct gs_harm_verdict *ret)
{
	struct gs_quarantine *o = find(q, r->program);
	uint64_t ns = GS_QUARANTINE_NS;

	if (o && now - o->last_ns < dilated(q, SAME_NS))
		return;
	if (!o) {
		o = place_for(q, r->program->uid);
		if (!o) {
			ret->left = true;
			return;
		}
		memset(o, 0, sizeof(*o));
		o->program = *r->program;
	}
	for (unsigned int i = 0; i < o->times && ns < GS_QUARANTINE_MOST_NS; i++)
		ns *= 2;
	if (now >= o->until_ns)
		o->since_ns = now;
	o->until_ns = now + dilated(q, ns < GS_QUARANTINE_MOST_NS ? ns : GS_QUARANTINE_MOST_NS);
	o->last_ns = now;
	o->times++;
	o->xid = r->xid;
	ret->quarantine = o;
}

static void end_policy(struct gs_harm_verdict *ret, const char *what, int gpu)
{
	ret->ends_policy = true;
	if (gpu >= 0)
		snprintf(ret->why, sizeof(ret->why), "%s (GPU %d)", what, gpu);
	else
		snprintf(ret->why, sizeof(ret->why), "%s", what);
}

/* Two users: one alone could not end the policy for all. */
static void judge_timeout(struct gs_quarantines *q, const struct gs_harm_report *r, uint64_t now,
			  struct gs_harm_verdict *ret)
{
	bool two = q->timeout_ns && q->timeout_uid != r->program->uid &&
		   now - q->timeout_ns <= dilated(q, USERS_NS);

	q->timeout_ns = now;
	q->timeout_uid = r->program->uid;
	if (two)
		end_policy(ret,
			   "Xid 109 ended work of programs of two users within 10 minutes, shortly "
			   "after calls on them",
			   r->gpu);
}

static void judge_rpc(struct gs_quarantines *q, const struct gs_harm_report *r,
		      struct gs_harm_verdict *ret)
{
	ret->rpcs = 1;
	if (r->gpu >= 0 && (unsigned int)r->gpu < GS_XID_GPUS)
		ret->rpcs = ++q->rpcs[r->gpu];
	end_policy(ret, "Xid 119: the driver's firmware does not answer", r->gpu);
}

void gs_quarantine_judge(struct gs_quarantines *q, const struct gs_harm_report *r, uint64_t now,
			 struct gs_harm_verdict *ret)
{
	memset(ret, 0, sizeof(*ret));
	forget(q, now);
	if (r->reset)
		end_policy(ret, "a GPU is lost, or needs a reset", r->gpu);
	if (r->xid == GS_XID_RPC_TIMEOUT)
		judge_rpc(q, r, ret);
	if (!gs_xid_is_ours(r->xid) || !r->touched || !r->program)
		return;
	put(q, r, now, ret);
	if (r->xid == GS_XID_CTXSW_TIMEOUT)
		judge_timeout(q, r, now, ret);
}

void gs_quarantine_answered(struct gs_quarantines *q, uint32_t gpu)
{
	if (gpu < GS_XID_GPUS)
		q->rpcs[gpu] = 0;
}

const struct gs_quarantine *gs_quarantine_of(const struct gs_quarantines *q,
					     const struct gs_program_id *program, uint64_t now)
{
	for (size_t i = 0; i < q->n; i++)
		if (now < q->all[i].until_ns &&
		    !memcmp(&q->all[i].program, program, sizeof(*program)))
			return &q->all[i];
	return NULL;
}

bool gs_quarantine_any(const struct gs_quarantines *q, uint64_t now)
{
	for (size_t i = 0; i < q->n; i++)
		if (now < q->all[i].until_ns)
			return true;
	return false;
}
