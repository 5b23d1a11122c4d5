// SPDX-License-Identifier: MIT
/* Feeds the account of GPU time with the table's TSGs, and passes its figures on. */
#include "figures/gpu_time.h"

#include <string.h>

#include "account/account.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "engine/switch_cost.h"
#include "figures/cost_book.h"
#include "figures/figures.h"
#include "hub/loop.h"
#include "table/events.h"
#include "table/facts.h"

/* ---- reading --------------------------------------------------------------------------------- */

/* Facts that wait to be written to the policies' map, many in one call. */
#define TOLD_AT_ONCE 256
struct telling {
	struct gs_figures *fig;
	size_t n;
	bool fresh;
	struct gpusched_facts facts[TOLD_AT_ONCE];
};

static void put_told(struct telling *x)
{
	if (x->n && gs_facts_put(x->fig->hub->table, x->facts, x->n))
		gs_count(x->fig->hub, GS_SVC_FACTS_LEFT);
	x->n = 0;
}

static void tell_tsg(const struct gpusched_facts *facts, bool fresh, void *user)
{
	struct telling *x = user;

	x->fresh |= fresh;
	x->facts[x->n++] = *facts;
	if (x->n == TOLD_AT_ONCE)
		put_told(x);
}

static void tell_unknown(uint64_t id, void *user)
{
	struct telling *x = user;

	put_told(x); /* first write the facts that wait, since some may be of this TSG */
	gs_facts_remove(x->fig->hub->table, id);
	x->fresh = true;
}

/* The log covers the runlist of a whole GPU, not those of its MIG partitions. */
static uint32_t logged(uint32_t gpu)
{
	return gpusched_runlist_key(gpu, GPUSCHED_ENGINE_GR0);
}

static void tell_runlist(uint32_t gpu, const struct gpusched_runlist_facts *facts, void *user)
{
	struct telling *x = user;

	put_told(x);
	gs_facts_put_runlist(x->fig->hub->table, logged(gpu), facts);
}

static void tell_costs(uint32_t gpu, const struct gpusched_gpu *costs, void *user)
{
	struct telling *x = user;

	gs_facts_put_gpu(x->fig->hub->table, gpu, costs);
}

static void tell_closed(uint32_t gpu, void *user)
{
	struct telling *x = user;

	gs_facts_remove_gpu(x->fig->hub->table, gpu);
	gs_facts_remove_runlist(x->fig->hub->table, logged(gpu));
}

static void tell(struct gs_figures *fig)
{
	struct telling x = { .fig = fig };
	const struct gs_account_news news = { tell_tsg,   tell_unknown, tell_runlist,
					      tell_costs, tell_closed,  &x };

	if (!gs_facts_has(fig->hub->table))
		return;
	gs_account_tell(fig->hub->account, &news);
	put_told(&x);
	if (fig->hub->policy && x.fresh)
		gs_stock_nudge(fig->hub->policy);
}

/* With very many TSGs, launches are not read at every sample. */
#define LAUNCHES_AT_ONCE 256u
static void tell_launches(struct gs_figures *fig)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	size_t n = 0;

	if (!fig->hub->launches || (fig->sight_skips && fig->sight_skips--) ||
	    gs_table_all(fig->hub->table, &all, &n))
		return;
	fig->sight_skips = (unsigned int)(n / LAUNCHES_AT_ONCE);
	for (size_t i = 0; i < n; i++)
		if (all[i].task.known & GPUSCHED_KNOWN_LAUNCHES)
			gs_account_launched(fig->hub->account, all[i].task.id,
					    all[i].task.last_launch_ns);
}

static void tell_engine(struct gs_figures *fig)
{
	struct gs_account_gpu a;

	for (size_t i = 0; fig->hub->engine && i < fig->hub->ngpus; i++) {
		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &a);
		gs_engine_costs(fig->hub->engine, fig->hub->gpus[i].index,
				gs_costs_slice_us(&a.costs));
	}
}

/* If the next read is so far away, little happens: a fraction of a second does not matter. */
#define REST_NS (500 * NS_PER_MS)
static int on_read(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_figures *fig = user;
	uint64_t next;

	next = gs_account_read(fig->hub->account, gs_now_ns());
	/* comes after the read, which has settled the turns that were reported before */
	tell_launches(fig);
	tell(fig);
	tell_engine(fig);
	gs_cost_book_look(fig, gs_now_ns());
	gs_observers_turns_read(&fig->hub->observers);
	if (next == UINT64_MAX)
		return 0; /* the next TSG starts the timer again */
	if (next < gs_now_ns() + REST_NS)
		gs_loop_plan(src, next);
	else
		gs_loop_plan_about(src, next - NS_PER_S / 4); /* the log must not wait longer */
	return 0;
}

static void read_soon(struct gs_figures *fig)
{
	gs_loop_plan(fig->sight, gs_now_ns());
}

/* If the GPU's log is closed, it must open before the new TSG and another one take turns. */
static void read_for(struct gs_figures *fig, uint32_t gpu)
{
	struct gs_account_gpu a = { 0 };
	int enabled = SD_EVENT_OFF;

	gs_account_gpu(fig->hub->account, gpu, &a);
	sd_event_source_get_enabled(fig->sight, &enabled);
	if (!enabled || !a.open)
		read_soon(fig);
}

/* Called once per turn, when it is known why the turn ended. */
static void on_turn(const struct gs_turn *turn, void *user)
{
	struct gs_figures *fig = user;

	gs_observers_turn(&fig->hub->observers, turn);
}

static void on_spent(uint32_t gpu, uint64_t ns, void *user)
{
	struct gs_figures *fig = user;

	if (fig->hub->engine)
		gs_engine_spent(fig->hub->engine, gpu, ns);
}

static uint32_t server_of(uint32_t pid, void *user)
{
	const struct gs_figures *fig = user;

	return fig->server_of(pid, fig->server_user);
}

int gs_gpu_time_start(struct gs_figures *fig, struct gs_error *err)
{
	CLEANUP_FREE struct gs_costs *begin = NULL;
	struct gs_account_opts opts = {
		.size = sizeof(opts),
		.gpus = fig->hub->gpus,
		.ngpus = fig->hub->ngpus,
		.branch = fig->hub->branch,
		.on_turn = on_turn,
		.on_spent = on_spent,
		.server_of = server_of,
		.user = fig,
	};
	int r;

	if (!fig->hub->opts.daemon || !fig->hub->config->account || fig->hub->watch_only)
		return 0;
	r = gs_cost_book_open(fig, &begin);
	opts.begin = begin;
	if (!r)
		r = gs_account_new(&opts, &fig->hub->account);
	if (!r)
		r = gs_facts_begin(fig->hub->table);
	if (!r)
		r = gs_loop_timer(fig->hub, on_read, fig, &fig->sight);
	return r < 0 ? gs_fail(err, r, "the account of GPU time cannot start: %s", strerror(-r))
		     : 0;
}

void gs_gpu_time_end(struct gs_figures *fig)
{
	fig->sight = sd_event_source_disable_unref(fig->sight);
	gs_cost_book_close(fig);
	gs_account_free(fig->hub->account);
	fig->hub->account = NULL;
}

/* ---- the observer's functions ---------------------------------------------------------------- */

void gs_gpu_time_record(void *self, const struct gpusched_tsg *rec)
{
	struct gs_figures *fig = self;
	struct gpusched_channels ch = { 0 };

	if (!fig->hub->account || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return;
	if (gs_table_channels(fig->hub->table, &rec->key, &ch))
		ch.n = 0;
	if (gs_account_tsg(fig->hub->account, rec, &ch, gs_table_maker(fig->hub->table, rec).pid))
		gs_log(LOG_WARNING, "TSG %llu: no memory for its GPU time",
		       (unsigned long long)rec->task.id);
	read_for(fig, rec->task.gpu);
}

void gs_gpu_time_ended(void *self, const struct gs_end *end)
{
	struct gs_figures *fig = self;
	if (!fig->hub->account)
		return;
	gs_account_gone(fig->hub->account, end->id);
	gs_facts_remove(fig->hub->table, end->id);
}

void gs_gpu_time_policy(void *self)
{
	struct gs_figures *fig = self;
	const struct gs_policy_info *info =
		fig->hub->policy ? gs_policy_running(fig->hub->policy) : NULL;

	if (!fig->hub->account)
		return;
	gs_account_eager(fig->hub->account, info && info->flags & GPUSCHED_F_FACTS);
	gs_account_samples(fig->hub->account,
			   info && info->flags & GPUSCHED_F_FACTS && info->reads & GS_READS_GPU);
	read_soon(fig);
}

/* The engine calls this to learn when a TSG last worked. */
void gs_gpu_time_complete(struct gs_figures *fig, struct gpusched_tsg *rec)
{
	struct gpusched_facts f;

	rec->task.known &= ~GPUSCHED_KNOWN_LAST_RUN;
	if (!fig->hub->account || gs_account_facts(fig->hub->account, rec->task.id, &f))
		return;
	rec->task.known |= GPUSCHED_KNOWN_LAST_RUN;
	rec->task.last_run_ns = gs_facts_last_run(&f, gs_now_ns());
}

void gs_gpu_time_event(void *self, const struct gpusched_event *ev)
{
	struct gs_figures *fig = self;
	struct gpusched_tsg rec;

	if (!fig->hub->account)
		return;
	switch (ev->type) {
	case GPUSCHED_EV_CHANNEL:
		if (!gs_table_get(fig->hub->table, &ev->key, &rec))
			gs_gpu_time_record(fig, &rec);
		break;
	case GPUSCHED_EV_TIMESLICE:
		gs_account_slice(fig->hub->account, ev->id, ev->arg[0], ev->ns);
		break;
	case GPUSCHED_EV_PREEMPT_MODE:
		gs_account_mode(fig->hub->account, ev->id, ev->arg[0], ev->ns);
		break;
	default:
		break;
	}
}

void gs_gpu_time_call(void *self, const struct gs_engine_call *call)
{
	struct gs_figures *fig = self;
	if (!fig->hub->account || call->res.err || call->dry_run)
		return;
	if (call->op == GS_RM_SET_TIMESLICE)
		gs_account_slice(fig->hub->account, call->id, call->arg, gs_now_ns());
	if (call->op == GS_RM_SET_PREEMPT_MODE)
		gs_account_mode(fig->hub->account, call->id, call->arg, gs_now_ns());
	if (call->op == GS_RM_SUSPEND || call->op == GS_RM_RESUME)
		gs_account_runnable(fig->hub->account, call->id, call->op == GS_RM_RESUME,
				    gs_now_ns());
}

/* Brings all figures up to the same moment, for an answer. */
void gs_gpu_time_flush(struct gs_figures *fig)
{
	if (fig->hub->account)
		gs_account_flush(fig->hub->account, gs_now_ns());
	gs_observers_turns_read(&fig->hub->observers);
}

void gs_gpu_time_catch_up(struct gs_figures *fig)
{
	if (fig->hub->account)
		gs_account_catch_up(fig->hub->account, gs_now_ns());
	gs_observers_turns_read(&fig->hub->observers);
}
