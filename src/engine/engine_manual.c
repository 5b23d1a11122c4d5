// SPDX-License-Identifier: MIT
/*
 * engine_manual.c - sets a person's wishes, which come before the policy's until they are cleared
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "engine/internal.h"
#include "engine/ops.h"
#include "engine/switch_cost.h"

static int check(struct gs_engine *e, const struct gpusched_tsg *rec,
		 const struct gpusched_settings *set, struct gs_error *err)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if ((set->valid & GS_BIT(i)) &&
		    gs_setting_check(GS_BIT(i), gs_field_get(set, GS_BIT(i)), err))
			return -ERANGE;
	if (set->valid == GPUSCHED_PREEMPT_MODE && rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return gs_fail(err, -ENOTSUP,
			       "tsg %llu is not a compute TSG: it has no preemption mode to set",
			       (unsigned long long)rec->task.id);
	if (set->valid & GPUSCHED_PREEMPT_MODE &&
	    gs_core_mode_spans(e->core, rec, set->preempt_mode)) {
		gs_core_counters(e->core)[GS_ENG_REFUSED_SPAN]++;
		/* not -ENOTSUP, which is what the copy TSGs beside it answer */
		return gs_fail(err, -EPERM,
			       "tsg %llu: process %u has work on two GPUs; in mode %s its thread "
			       "blocks may wait for the other GPU until the driver ends it",
			       (unsigned long long)rec->task.id, rec->task.pid,
			       gs_setting_word(GPUSCHED_PREEMPT_MODE, set->preempt_mode));
	}
	if (rec->flags & GPUSCHED_TSG_PARTIAL && set->valid & GPUSCHED_RUNNABLE && !set->runnable)
		return gs_fail(err, -ENOTSUP,
			       "tsg %llu can't be suspended: process %u has more channels than its "
			       "share of the table, and those would work on",
			       (unsigned long long)rec->task.id, rec->task.pid);
	return 0;
}

/* At most one runnable TSG of a runlist may have a slice below the switch cost. */
static int check_slice(struct gs_engine *e, const struct gpusched_tsg *rec,
		       const struct gpusched_settings *set, uid_t by, struct gs_error *err)
{
	uint32_t cost = gs_core_switch_cost_us(e->core, rec->task.gpu);
	uint64_t rival;

	if (!(set->valid & GPUSCHED_TIMESLICE))
		return 0;
	rival = gs_core_rival(e->core, rec, set->timeslice_us, by != 0);
	if (!rival)
		return 0;
	gs_core_counters(e->core)[GS_ENG_REFUSED_SLICE]++;
	return gs_fail(
		err, -EBUSY,
		"tsg %llu has a slice below the switch cost (%u us) on the same runlist, and "
		"two would only switch: give tsg %llu at least %u us, or suspend one of them",
		(unsigned long long)rival, cost, (unsigned long long)rec->task.id, cost);
}

static int get(struct gs_engine *e, const struct gpusched_key *key, struct gpusched_tsg *rec,
	       struct gs_error *err)
{
	int r = gs_engine_ops.get(e->o, key, rec);

	if (r == -ENOENT || (!r && (rec->flags & GPUSCHED_TSG_GONE)))
		return gs_fail(err, -ENOENT, "that TSG is gone");
	if (r < 0)
		return gs_fail(err, r, "reading the TSG table: %s", strerror(-r));
	return 0;
}

/* Writes the person's wish into the record, and compares the TSG. */
static int wish(struct gs_engine *e, struct gpusched_poke *p, uint32_t which, uid_t by,
		struct gs_error *err)
{
	const struct gs_news news = { .anew = which,
				      .user = by != 0 }; /* anew: retries what was given up */
	struct gs_todo todo;
	int r;

	if (e->opts.dry_run) { /* only in this engine's memory: reported, never stored */
		r = gs_core_look(e->core, &p->rec, NULL, gs_now_ns(), &todo);
		return r < 0 ? r : gs_jobs_carry_out(e, &todo);
	}
	r = gs_engine_ops.poke(e->o, p);
	if (r < 0)
		return gs_fail(err, r, "writing the TSG table: %s", strerror(-r));
	return gs_engine_tell(e, &p->key, &news);
}

int gs_engine_set_manual(struct gs_engine *e, const struct gpusched_key *key,
			 const struct gpusched_settings *asked, uint64_t for_ns, uid_t by,
			 struct gs_error *err)
{
	struct gpusched_settings wanted = *asked, *set = &wanted;
	struct gpusched_poke p = {
		.key = *key,
		.what = GPUSCHED_POKE_MANUAL | GPUSCHED_POKE_FLAGS,
	};
	int r = get(e, key, &p.rec, err);

	if (!r)
		r = check(e, &p.rec, set, err);
	if (!r)
		r = check_slice(e, &p.rec, set, by, err);
	if (r < 0)
		return r;
	if (p.rec.task.kind != GPUSCHED_KIND_COMPUTE)
		gs_field_unset(set, GPUSCHED_PREEMPT_MODE);
	p.id = p.rec.task.id;
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (set->valid & GS_BIT(i))
			gs_field_put(&p.rec.manual, GS_BIT(i), gs_field_get(set, GS_BIT(i)));
	p.flags_mask = set->valid << GPUSCHED_TSG_USERS_SHIFT;
	p.rec.flags = by ? p.rec.flags | p.flags_mask : p.rec.flags & ~p.flags_mask;
	if (set->valid & GPUSCHED_RUNNABLE) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		p.rec.suspend_until_ns = !set->runnable && for_ns ? gs_now_ns() + for_ns : 0;
	}
	return wish(e, &p, set->valid, by, err);
}

int gs_engine_clear_manual(struct gs_engine *e, const struct gpusched_key *key, uint32_t which,
			   uid_t by)
{
	struct gpusched_poke p = { .key = *key, .what = GPUSCHED_POKE_MANUAL };
	int r = get(e, key, &p.rec, NULL);

	if (r < 0)
		return r;
	p.id = p.rec.task.id;
	p.rec.manual.valid &= ~which;
	if (which & GPUSCHED_RUNNABLE) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		p.rec.suspend_until_ns = 0;
	}
	return wish(e, &p, which, by, NULL);
}

int gs_engine_preempt(struct gs_engine *e, const struct gpusched_key *key, uid_t by,
		      struct gs_error *err)
{
	/* a preempt comes after the call under way */
	const struct gs_news news = { .preempt = true, .user = by != 0 };
	struct gpusched_tsg rec;
	int r = get(e, key, &rec, err);

	if (r < 0)
		return r;
	r = gs_engine_tell(e, key, &news);
	return r < 0 ? gs_fail(err, r, "that TSG cannot be preempted: %s", strerror(-r)) : 0;
}

int gs_engine_preempted(struct gs_engine *e, const struct gpusched_key *key,
			struct gs_rm_result *ret)
{
	return gs_core_preempted(e->core, key, ret);
}
