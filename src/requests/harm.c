// SPDX-License-Identifier: MIT
#include "requests/harm.h"

#include "basic/clock.h"
#include "basic/env.h"
#include "control/harm.h"
#include "requests/view.h"
#include "requests/requests.h"

struct judging {
	const struct gs_view *view;
	struct gs_findings *ret;
};

static bool may_see(const struct judging *j, uid_t uid)
{
	const unsigned int needs = GS_SEES_WHO | GS_SEES_TIMES;

	return !j->view || (gs_view_process(j->view, uid) & needs) == needs;
}

/* All may know what happened to a GPU, but not to another user's program. */
static void on_told(const struct gs_harm_told *t, void *user)
{
	const struct judging *j = user;
	bool seen = t->owned && may_see(j, t->uid);

	if (t->owned && !seen && !t->xid.reset && !t->rpcs)
		return;
	gs_verdict_xid(&(struct gs_xid_facts){ .number = t->xid.number,
					       .reset = t->xid.reset,
					       .gpu = t->gpu,
					       .tsg = seen ? t->tsg : 0,
					       .pid = seen ? t->xid.pid : 0,
					       .uid = seen ? t->uid : 0,
					       .comm = t->comm,
					       .had = seen ? t->had : "",
					       .rpcs = t->rpcs,
					       .ended_policy = t->ended_policy,
					       .since_ns = t->first_ns },
		       j->ret);
}

static void on_failed(const struct gs_harm_failed *f, void *user)
{
	const char *status = gs_rm_status_name(f->status);
	const struct judging *j = user;

	if (!may_see(j, f->uid))
		return;
	gs_verdict_failed_call(
		&(struct gs_failed_call_facts){ .tsg = f->tsg,
						.pid = f->pid,
						.uid = f->uid,
						.comm = f->comm,
						.gpu = f->gpu == GPUSCHED_GPU_UNKNOWN ? -1
										      : (int)f->gpu,
						.call = gs_rm_op_name(f->op),
						.status = status ? status : "an unknown status",
						.since_ns = f->ns },
		j->ret);
}

static void on_quarantine(const struct gs_quarantine *q, void *user)
{
	const struct judging *j = user;
	uint64_t now = gs_now_ns();

	if (!may_see(j, q->program.uid) || now >= q->until_ns)
		return;
	gs_verdict_quarantine(
		&(struct gs_quarantine_facts){
			.program = q->program.exe,
			.uid = q->program.uid,
			.xid = q->xid,
			.times = q->times,
			.since_ns = q->since_ns,
			.left_ns = (uint64_t)((double)(q->until_ns - now) / gs_env()->dilate),
		},
		j->ret);
}

void gs_harm_judge(const struct gs_requests *rs, const struct gs_view *view,
		   struct gs_findings *ret)
{
	struct judging j = { view, ret };

	gs_harm_each(rs->control, on_told, &j);
	gs_harm_each_failed(rs->control, on_failed, &j);
	gs_harm_each_quarantine(rs->control, on_quarantine, &j);
}
