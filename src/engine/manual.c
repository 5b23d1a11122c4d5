// SPDX-License-Identifier: MIT
/* manual.c - a person's wishes: they override the policy's until cleared */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "engine/internal.h"
#include "engine/ops.h"

static int check(const struct gpusched_tsg *rec, const struct gpusched_settings *set,
		 struct gs_error *err)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if ((set->valid & GS_BIT(i)) &&
		    gs_setting_check(GS_BIT(i), gs_field_get(set, GS_BIT(i)), err))
			return -ERANGE;
	if (set->valid == GPUSCHED_PREEMPT_MODE && rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return gs_fail(err, -ENOTSUP,
			       "tsg %llu is not a compute TSG: it has no preemption mode to set",
			       (unsigned long long)rec->task.id);
	return 0;
}

/* At most one runnable TSG of a runlist has a slice below the switch cost (law 4). */
static int check_slice(struct gs_engine *e, const struct gpusched_tsg *rec,
		       const struct gpusched_settings *set, struct gs_error *err)
{
	struct gs_node *n = gs_node_find(e, &rec->key), *keeper = gs_keeper_of(e, &rec->task);
	struct gpusched_tsg other;

	if (!(set->valid & GPUSCHED_TIMESLICE) || set->timeslice_us >= e->opts.switch_cost_us)
		return 0;
	if (!keeper || keeper == n || gs_engine_ops.get(e->o, &keeper->key, &other) ||
	    !(other.manual.valid & GPUSCHED_TIMESLICE))
		return 0;
	e->counters[GS_ENG_REFUSED_SLICE]++;
	return gs_fail(
		err, -EBUSY,
		"tsg %llu has a slice below the switch cost (%u us) on the same runlist, and "
		"two would only switch: give tsg %llu at least %u us, or suspend one of them",
		(unsigned long long)other.task.id, e->opts.switch_cost_us,
		(unsigned long long)rec->task.id, e->opts.switch_cost_us);
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

/* A person asks anew: what was given up is tried again, at once. */
static void try_anew(struct gs_node *n, uint32_t which)
{
	if (!n)
		return;
	n->gave_up &= ~which;
	n->fails = 0;
}

int gs_engine_set_manual(struct gs_engine *e, const struct gpusched_key *key,
			 const struct gpusched_settings *wish, uint64_t for_ns,
			 struct gs_error *err)
{
	struct gpusched_settings wanted = *wish, *set = &wanted;
	struct gpusched_poke p = { .key = *key, .what = GPUSCHED_POKE_MANUAL };
	int r = get(e, key, &p.rec, err);

	if (!r)
		r = check(&p.rec, set, err);
	if (!r)
		r = check_slice(e, &p.rec, set, err);
	if (r < 0)
		return r;
	if (p.rec.task.kind != GPUSCHED_KIND_COMPUTE)
		gs_field_unset(set, GPUSCHED_PREEMPT_MODE);
	p.id = p.rec.task.id;
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (set->valid & GS_BIT(i))
			gs_field_put(&p.rec.manual, GS_BIT(i), gs_field_get(set, GS_BIT(i)));
	if (set->valid & GPUSCHED_RUNNABLE) {
		p.what |= GPUSCHED_POKE_SUSPEND;
		p.rec.suspend_until_ns = !set->runnable && for_ns ? gs_now_ns() + for_ns : 0;
	}
	if (e->opts.dry_run) /* only in this engine's mind: told, never stored */
		return gs_look_dry(e, &p.rec);
	r = gs_engine_ops.poke(e->o, &p);
	if (r < 0)
		return gs_fail(err, r, "writing the TSG table: %s", strerror(-r));
	try_anew(gs_node_find(e, key), set->valid);
	return gs_engine_touch(e, key);
}

int gs_engine_clear_manual(struct gs_engine *e, const struct gpusched_key *key, uint32_t which)
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
	if (e->opts.dry_run)
		return gs_look_dry(e, &p.rec);
	r = gs_engine_ops.poke(e->o, &p);
	if (r < 0)
		return r;
	try_anew(gs_node_find(e, key), which);
	return gs_engine_touch(e, key);
}

int gs_engine_preempt(struct gs_engine *e, const struct gpusched_key *key, struct gs_error *err)
{
	struct gpusched_tsg rec;
	struct gs_node *n;
	int r = get(e, key, &rec, err);

	if (r < 0)
		return r;
	n = gs_node_of(e, &rec);
	if (n) {
		n->preempt = n->preempting = true; /* when a call is under way: after it */
		r = gs_look(e, n, &rec);
	}
	return !n || r < 0 ? gs_fail(err, -ENOMEM, "out of memory") : 0;
}

int gs_engine_preempted(struct gs_engine *e, const struct gpusched_key *key,
			struct gs_rm_result *ret)
{
	const struct gs_node *n = gs_node_find(e, key);

	if (!n)
		return -ENOENT;
	if (n->preempting)
		return -EINPROGRESS;
	*ret = n->preempted;
	return n->preempted.err;
}
