// SPDX-License-Identifier: MIT
#include "park/parking.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "basic/share.h"
#include "figures/memory.h"
#include "park/parking_room.h"
#include "park/ranks.h"
#include "park/times.h"
#include "process/process.h"
#include "table/procs.h"
#include "table/started.h"

static int save(struct gs_parking *pk, struct gs_error *err)
{
	if (!pk->loaded || !pk->dirty || pk->hub->opts.dry_run || pk->hub->opts.read_only)
		return 0;
	pk->dirty = false;
	return gs_parked_save(pk->all, err);
}

void gs_parking_dispatched(void *self)
{
	struct gs_parking *pk = self;
	struct gs_error err = { 0 };

	if (!save(pk, &err))
		return;
	gs_count(pk->hub, GS_SVC_PARK_SAVE_FAILED);
	gs_log(LOG_WARNING, "a restart will not know who is parked: %s", err.text);
}

static bool guest_has_ended(const struct gs_parked *p)
{
	return gs_started_still(p->guest, p->guest_start_ns) == GS_STILL_NO;
}

void gs_parking_beat(void *self)
{
	struct gs_parking *pk = self;
	uint64_t now = gs_now_ns();
	struct gs_memory_gpu g;
	struct gs_parked *p;

	for (size_t i = 0; i < pk->hub->ngpus; i++) {
		gs_memory_gpu(pk->figures, i, &g);
		if (g.known && pk->hub->gpus[i].index < GS_PARK_GPUS)
			gs_park_use_add(&pk->use[pk->hub->gpus[i].index], g.used_bytes, g.as_of_ns);
	}
	DL_FOREACH(pk->all, p)
		if (p->over == GS_PARKED_IS_OUT &&
		    ((p->until_ns && now >= p->until_ns) || (p->guest && guest_has_ended(p))))
			gs_parking_in(pk, p);
	gs_park_time_beat(pk);
	gs_park_progress_beat(&pk->progress, pk->hub);
	gs_park_newcomers_tend(pk);
	pk->hub->beat_soon |= pk->all || pk->window.open_ns;
}

/* ---- what is asked ---------------------------------------------------------------------------- */

static void learn(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked *p,
		  struct gs_park_check *c)
{
	for (size_t i = 0; i < ask->n; i++) {
		const struct gpusched_tsg *rec = &ask->recs[i];
		struct gs_memory_process m;
		uint32_t gpu = rec->task.gpu;

		c->mps |= (rec->flags & (GPUSCHED_TSG_MPS | GPUSCHED_TSG_ALIAS)) != 0;
		c->mig |= (rec->flags & GPUSCHED_TSG_MIG) != 0;
		c->held |= (rec->flags & (GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED)) ==
			   (GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED);
		c->many |= p->ntsgs == GS_PARKED_TSGS || gpu >= GS_PARK_GPUS;
		if (c->many)
			return;
		p->tsgs[p->ntsgs++] = rec->key;
		if (p->bytes[gpu] || !gs_memory_of(pk->figures, rec, &m))
			continue;
		p->bytes[gpu] = m.own_bytes;
		c->shared_bytes += m.shared_bytes;
		c->bytes_known = true;
	}
	c->bytes = gs_parked_bytes(p);
}

/* Learns what the taps saw of its memory. A process without an entry was not seen. */
static void learn_seen(const struct gs_parking *pk, struct gs_parked *p, struct gs_park_check *c)
{
	struct gpusched_proc proc;

	if (gs_proc_get(pk->hub->table, p->pid, &proc) ||
	    !gs_process_same(proc.start_ns, p->start_ns))
		return;
	c->seen = proc.seen;
	p->exported = proc.exported;
	c->imported = (enum gpusched_imported)proc.imported;
}

static bool is_unfit(const struct gs_parking *pk, const struct gs_parked *p)
{
	const struct gs_process *process = gs_park_idler_process(pk, p->pid, p->start_ns);

	return process && process->of[GS_PROCESS_UNFIT];
}

static int vet(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked *p,
	       struct gs_error *err)
{
	struct gs_park_check c = gs_parking_room(pk, p);
	uint64_t now = gs_now_ns(), until, again;
	const struct gs_parked *other;
	unsigned int n = 0, own = 0;
	int r;

	c.branch = pk->hub->branch;
	c.forced = ask->forced;
	c.unfit = is_unfit(pk, p);
	DL_FOREACH(pk->all, other) {
		own += other->uid == p->uid;
		n++;
	}
	if (!gs_share_allows(c.has_share ? p->uid : 0, own, n, GS_PARKED_MAX))
		return gs_fail(err, -EBUSY, "%u processes are parked already, %u of its user's", n,
			       own);
	if (pk->hub->opts.dry_run)
		return gs_fail(err, -ENOTSUP, "nothing is done: DryRun=yes");
	until = p->uid && (ask->by || ask->by_itself) ? gs_park_turns_waits(&pk->turns, p->uid, now)
						      : 0;
	if (until)
		return gs_fail(
			err, -EBUSY,
			"processes of this user's made libcuda hang: nothing of it is parked "
			"for %" PRIu64 " s",
			(uint64_t)((until - now) / NS_PER_S + 1));
	learn(pk, ask, p, &c);
	learn_seen(pk, p, &c);
	r = gs_park_check(&c, err);
	if (!r)
		r = gs_park_ranks_look(p, now, &again, err);
	return r == -EAGAIN ? 0 : r; /* then the lock waits for the answer */
}

static struct gs_parked *make(const struct gs_park_ask *ask)
{
	const struct gpusched_tsg *rec = &ask->recs[0];
	struct gs_parked *p = gs_parked_new((int32_t)rec->task.pid, rec->owner_start_ns);

	if (!p)
		return NULL;
	p->uid = rec->task.uid;
	p->by = ask->by;
	p->class_id = rec->task.class_id;
	p->until_ns = ask->until_ns;
	p->by_itself = ask->by_itself;
	p->by_policy = ask->by_policy;
	p->alone = ask->forced;
	p->guest = ask->guest;
	p->guest_start_ns = ask->guest_start_ns;
	snprintf(p->comm, sizeof(p->comm), "%.*s", GPUSCHED_COMM_LEN, rec->task.comm);
	p->core.wish = GS_PARK_WISH_OUT;
	return p;
}

/* Adds the process to the list and the file, so that a later daemon knows it if this one dies. */
static int enter(struct gs_parking *pk, struct gs_parked *p, struct gs_error *err)
{
	int r = gs_parking_watch(pk, p, false);

	if (r == -EAGAIN)
		return gs_fail(
			err, r,
			"process %d is not parked: nobody can say now whether it is still the "
			"same process; try again later",
			p->pid);
	if (r)
		return gs_fail(err, r, "process %d: %s", p->pid, strerror(-r));
	DL_APPEND(pk->all, p);
	pk->dirty = true;
	r = save(pk, err);
	if (!r)
		return 0;
	DL_DELETE(pk->all, p);
	return gs_fail(err, r, "who is parked cannot be saved: %s", strerror(-r));
}

int gs_parking_out(struct gs_parking *pk, const struct gs_park_ask *ask, struct gs_parked **ret,
		   struct gs_error *err)
{
	struct gs_parked *p = gs_parking_find(pk, (int32_t)ask->recs[0].task.pid);
	int r;

	if (p)
		return gs_fail(err, -EBUSY, "it is %s already", gs_parked_state(p));
	p = make(ask);
	if (!p)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = vet(pk, ask, p, err);
	if (!r)
		r = enter(pk, p, err);
	if (r) {
		gs_parked_unref(p);
		return r;
	}
	gs_parked_ref(p);
	*ret = p;
	gs_park_sign_begin(pk, p);
	gs_parking_aside(pk, p, true);
	gs_parking_go_on(pk);
	return 0;
}

void gs_parking_in(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->over != GS_PARKED_UNDER_WAY && p->over != GS_PARKED_IS_OUT)
		return;
	if (p->core.wish != GS_PARK_WISH_IN)
		p->wanted_ns = gs_now_ns();
	p->core.wish = GS_PARK_WISH_IN;
	p->core.failed = false;
	p->core.not_before_ns = 0;
	p->over = GS_PARKED_UNDER_WAY;
	p->until_ns = 0;
	p->guest = 0;
	p->why = (struct gs_error){ 0 };
	p->hangs = false;
	gs_parking_go_on(pk);
}

void gs_parking_stay(struct gs_parking *pk, struct gs_parked *p)
{
	if (p->over != GS_PARKED_UNDER_WAY || p->core.wish != GS_PARK_WISH_IN)
		return;
	p->core.wish = GS_PARK_WISH_SETTLE;
	p->core.short_of_memory = false;
	p->core.not_before_ns = 0;
	gs_parking_go_on(pk);
}

/* ---- life ------------------------------------------------------------------------------------- */

int gs_parking_new(struct gs_hub *hub, struct gs_figures *figures, struct gs_parking **ret)
{
	struct gs_parking *pk = calloc(1, sizeof(*pk));

	if (!pk)
		return -ENOMEM;
	pk->hub = hub;
	pk->figures = figures;
	pk->helper.fd = pk->helper.pidfd = -1;
	*ret = pk;
	return 0;
}

static void load(struct gs_parking *pk)
{
	struct gs_parked *loaded = NULL, *p, *next;
	struct gs_error err = { 0 };
	int r = gs_parked_load(&loaded, &err);

	pk->loaded = true;
	pk->probes_stale = true; /* processes with probes may have ended while no daemon ran */
	if (r && r != -ENOENT)
		gs_log(LOG_WARNING, "who is parked is not known: %s", err.text);
	DL_FOREACH_SAFE(loaded, p, next) {
		DL_DELETE(loaded, p);
		if (pk->hub->opts.read_only) {
			p->over = p->core.lost ? GS_PARKED_LOST : GS_PARKED_IS_OUT;
		} else if (gs_parking_watch(pk, p,
					    true)) { /* the process ended while no daemon ran */
			pk->dirty = true;
			gs_parked_unref(p);
			continue;
		}
		DL_APPEND(pk->all, p);
	}
}

int gs_parking_start(struct gs_parking *pk, struct gs_error *err)
{
	int r = pk->hub->opts.read_only ? 0 : gs_parking_timer(pk, err);

	if (r)
		return r;
	load(pk);
	gs_park_newcomers_end(pk);
	if (!pk->hub->opts.dry_run)
		gs_parking_go_on(pk); /* does nothing if read-only, as there is no timer */
	return 0;
}

void gs_parking_end(struct gs_parking *pk)
{
	gs_park_time_tell_all(pk);
	gs_parking_dispatched(pk);
	/* before the calls below, which run the loop: no new request may begin */
	pk->due = sd_event_source_disable_unref(pk->due);
	gs_parking_leave_helper(pk, false);
	gs_parking_leave_aside(pk);
	gs_park_progress_end(&pk->progress);
	gs_park_sign_end(pk);
	gs_park_newcomers_end(pk);
}

void gs_parking_free(struct gs_parking *pk)
{
	struct gs_parked *p, *next;

	if (!pk)
		return;
	gs_parking_reap(pk);
	gs_park_idlers_free(pk);
	gs_shares_done(&pk->settings);
	DL_FOREACH_SAFE(pk->all, p, next) {
		DL_DELETE(pk->all, p);
		gs_parked_unref(p);
	}
	free(pk);
}
