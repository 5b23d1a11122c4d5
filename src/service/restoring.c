// SPDX-License-Identifier: MIT
/* Everything back to what the owners asked, by an instance that goes on afterwards. */
#include "service/restoring.h"

#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "service/ends.h"
#include "service/errand.h"
#include "service/instance.h"
#include "service/loop.h"
#include "service/policy.h"

#define SETTLE_MS 2000

static void restoring_work(struct gs_errand *e)
{
	struct gs_restoring *t = (struct gs_restoring *)e;

	t->code = gs_restore(e->s->o, e->s->branch, &t->done, &t->err);
}

/* Wishes that came meanwhile, and results of calls that were under way, are looked at now. */
static void restoring_end(struct gs_errand *e)
{
	struct gs_service *s = e->s;

	s->restoring = NULL;
	if (!s->e)
		return;
	sd_event_source_set_enabled(s->results, SD_EVENT_ON);
	gs_engine_touch_all(s->e);
	gs_ends_check(s); /* where an owner was gone it has swept, and told nobody of ends */
}

static void restoring_free(struct gs_errand *e)
{
	free((struct gs_restoring *)e);
}

int gs_restoring_begin(struct gs_service *s, struct gs_restoring **ret, struct gs_error *err)
{
	struct gs_restoring *t = s->restoring;
	int r;

	if (t) {
		t->errand.refs++;
		*ret = t;
		return 0;
	}
	t = calloc(1, sizeof(*t));
	if (!t)
		return gs_fail(err, -ENOMEM, "out of memory");
	t->errand = (struct gs_errand){ restoring_work, restoring_end, restoring_free };
	r = gs_errand_begin(&t->errand, s);
	if (r < 0) {
		gs_errand_unref(&t->errand);
		return gs_fail(err, r, "nothing can be put back now: %s", strerror(-r));
	}
	if (s->e) /* two at once would make calls twice */
		sd_event_source_set_enabled(s->results, SD_EVENT_OFF);
	s->restoring = *ret = t;
	return 0;
}

/* ---- the verb -------------------------------------------------------------------------------- */

void gs_restored_fill(json_t *o, const struct gs_restored *done)
{
	json_object_set_new(o, "changed", json_integer(done->changed));
	json_object_set_new(o, "restored", json_integer(done->restored));
	json_object_set_new(o, "gone", json_integer(done->gone));
	json_object_set_new(o, "failed", json_integer(done->failed));
	json_object_set_new(o, "continued", json_integer(done->continued));
	json_object_set_new(o, "time_us", json_integer((json_int_t)(done->ns / 1000)));
}

static void unref(void *state)
{
	gs_errand_unref(state);
}

static int step_restored(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_restoring *t = rq->state;

	if (!t->errand.over)
		return -EINPROGRESS;
	gs_restored_fill(rq->answer, &t->done);
	return t->code ? gs_fail(rq->err, t->code, "%s", t->err.text) : 0;
}

/* What is under way and what the policy's end asks for comes first. */
static int step_settled(struct gs_request *rq, uint64_t now_ns)
{
	static const struct gs_restored nothing;
	struct gs_restoring *t = NULL;
	int r;

	if (!gs_engine_idle(rq->s->e) && !gs_completion_is_late(&rq->c, now_ns))
		return -EINPROGRESS;
	if (rq->s->opts.dry_run) {
		gs_restored_fill(rq->answer, &nothing);
		return 0;
	}
	r = gs_restoring_begin(rq->s, &t, rq->err);
	if (r)
		return r;
	rq->state = &t->errand;
	rq->free_state = unref;
	return gs_request_wait(rq, step_restored, GS_ON_ERRAND, 0);
}

int gs_restoring_answer(struct gs_request *rq)
{
	if (!gs_arg_true(rq, "keep"))
		gs_saved_forget(rq->s);
	gs_service_policy_cancel(rq->s, "a person restored everything");
	gs_service_policy_stop(rq->s, GS_POLICY_EXIT_STOPPED, "a person restored everything");
	return gs_request_wait(rq, step_settled, GS_ON_ENGINE, SETTLE_MS);
}
