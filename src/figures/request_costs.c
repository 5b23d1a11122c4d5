// SPDX-License-Identifier: MIT
#include "figures/request_costs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/share.h"
#include "basic/json_sheet.h"
#include "figures/figures.h"
#include "figures/ledger.h"
#include "figures/request_cost.h"

#define WAITING 256u /* requests, until their turns are read */
#define GPUS 32u     /* at most this many GPUs' logs are watched */
#define OPEN 64u     /* turns that have not ended: one on each runlist, and a few unsettled ones */
/* By then a reading has seen the turns: an idle GPU's log is read some 33 ms late. */
#define LAG_NS (50 * NS_PER_MS)
#define REST_NS (60 * NS_PER_S) /* turns are not kept once there was no request for so long */

struct gs_request_costs {
	struct gs_cost_turns turns;
	uint64_t asked_ns; /* when the last request was told */
	bool keeps;
	struct waiting {
		struct gs_request_done done;
		uid_t uid;
	} waiting[WAITING];
	unsigned int n;
	struct gs_shares shares; /* of waiting[] */
	struct gs_cost_turn open[OPEN];
	unsigned int nopen;
	uint64_t gaps, gap_ns; /* gaps in the logs of all GPUs; when the last one was noticed */
	/*
	 * By GPU: the last reading without a log, or without a known loaded program, as before the
	 * first record.
	 */
	uint64_t blind_ns[GPUS];
};

static struct gs_request_costs *costs_of(struct gs_figures *fig)
{
	if (!fig->costs)
		fig->costs = calloc(1, sizeof(*fig->costs));
	return fig->costs;
}

static bool was_blind(const struct gs_request_costs *c, uint64_t since_ns)
{
	for (size_t i = 0; i < GPUS; i++)
		if (c->blind_ns[i] >= since_ns)
			return true;
	return false;
}

static void take_parts(struct gs_figures *fig, const struct gs_request_done *done, bool in_time)
{
	struct gs_request_costs *c = fig->costs;
	const struct gs_history_who *who = gs_ledger_who(fig, done->id);
	struct gs_request_parts parts = { .took_ns = done->took_ns, .unknown_ns = done->took_ns };
	uint64_t begin_ns = done->end_ns - done->took_ns;
	struct gs_account_gpu gpu = { 0 };

	if (!who)
		return;
	if (fig->hub->account)
		gs_account_gpu(fig->hub->account, who->gpu, &gpu);
	if (in_time && gpu.open && begin_ns > c->gap_ns && begin_ns > c->blind_ns[who->gpu % GPUS])
		gs_request_split(&c->turns, c->open, c->nopen, (uint32_t)who->pid, who->gpu,
				 begin_ns, done->end_ns, &parts);
	/* it worked on a GPU that was not seen: what others did elsewhere is no part of it */
	if (!parts.itself_ns && was_blind(c, begin_ns))
		parts = (struct gs_request_parts){ .took_ns = done->took_ns,
						   .unknown_ns = done->took_ns };
	gs_ledger_add_request(fig, done->id, &parts);
	gs_observers_request_split(&fig->hub->observers,
				   &(struct gs_request_split){
					   .id = done->id,
					   .begin_ns = done->end_ns - done->took_ns,
					   .end_ns = done->end_ns,
					   .itself_ns = parts.itself_ns,
					   .others_ns = parts.others_ns,
					   .neither_ns = parts.neither_ns,
					   .unknown_ns = parts.unknown_ns,
				   });
}

void gs_request_costs_done(void *self, const struct gs_request_done *done)
{
	struct gs_figures *fig = self;
	struct gs_request_costs *c = fig->ledger ? costs_of(fig) : NULL;
	const struct gs_history_who *who = c ? gs_ledger_who(fig, done->id) : NULL;

	if (!who)
		return;
	if (!c->keeps) { /* from now on all turns are kept */
		c->turns.n = 0;
		c->turns.since_ns = done->end_ns;
		c->keeps = true;
	}
	c->asked_ns = done->end_ns;
	if (c->n < WAITING && gs_shares_take(&c->shares, who->uid, WAITING))
		c->waiting[c->n++] = (struct waiting){ *done, who->uid };
	else
		take_parts(fig, done, false);
}

static bool name_turn(struct gs_figures *fig, const struct gs_turn *turn, struct gs_cost_turn *ret)
{
	const struct gs_history_who *who = gs_ledger_who(fig, turn->id);

	if (!who)
		return false;
	*ret = (struct gs_cost_turn){ turn->start_ns, turn->end_ns, (uint32_t)who->pid, who->gpu };
	return true;
}

void gs_request_costs_turn(void *self, const struct gs_turn *turn)
{
	struct gs_figures *fig = self;
	struct gs_cost_turn named;

	if (fig->costs && fig->costs->keeps && name_turn(fig, turn, &named))
		gs_cost_turns_add(&fig->costs->turns, &named);
}

static void take_open(const struct gs_turn *turn, void *user)
{
	struct gs_figures *fig = user;
	struct gs_request_costs *c = fig->costs;

	if (c->nopen < OPEN && name_turn(fig, turn, &c->open[c->nopen]))
		c->nopen++;
}

static void look_at_logs(struct gs_figures *fig, uint64_t now)
{
	struct gs_request_costs *c = fig->costs;
	uint64_t gaps = 0;

	for (size_t i = 0; fig->hub->account && i < fig->hub->ngpus; i++) {
		struct gs_account_gpu gpu;

		gs_account_gpu(fig->hub->account, fig->hub->gpus[i].index, &gpu);
		gaps += gpu.sums.gaps;
		if (!gpu.open || !gpu.sums.since_ns || gpu.sums.blind)
			c->blind_ns[fig->hub->gpus[i].index % GPUS] = now;
	}
	if (gaps != c->gaps)
		c->gap_ns = now;
	c->gaps = gaps;
}

void gs_request_costs_read(void *self)
{
	struct gs_figures *fig = self;
	struct gs_request_costs *c = fig->costs;
	uint64_t now = gs_now_ns();
	unsigned int left = 0;

	if (!c || !c->keeps)
		return;
	look_at_logs(fig, now);
	if (c->n && c->waiting[0].done.end_ns + LAG_NS <= now && fig->hub->account) {
		c->nopen = 0;
		gs_account_open(fig->hub->account, take_open, fig);
	}
	for (unsigned int i = 0; i < c->n; i++) {
		const struct waiting *w = &c->waiting[i];

		if (w->done.end_ns + LAG_NS > now) {
			c->waiting[left++] = *w;
			continue;
		}
		take_parts(fig, &w->done, true);
		gs_shares_give(&c->shares, w->uid);
	}
	c->n = left;
	c->keeps = c->n || now - c->asked_ns < REST_NS;
}

void gs_request_costs_end(struct gs_figures *fig)
{
	if (fig->costs)
		gs_shares_done(&fig->costs->shares);
	free(fig->costs);
	fig->costs = NULL;
}

/* ---- figures --------------------------------------------------------------------------------- */

bool gs_request_costs_known(const struct gs_figures *fig, const struct gpusched_tsg *rec)
{
	return gs_ledger_requests(fig, rec);
}

static void put_slo(json_t *r, const struct gs_slo_of_time *of, uint64_t slo_ns)
{
	const struct gs_slo_counts *slo = &of->counts;
	bool known = slo->requests && of->slo_ns == slo_ns;

	gs_json_put_number(r, "slo_us", slo_ns, slo_ns / NS_PER_US);
	gs_json_put_number(r, "slo_requests", known, slo->requests);
	gs_json_put_number(r, "slo_missed", known, slo->missed);
	gs_json_put_number(r, "slo_missed_itself", known, slo->itself);
	gs_json_put_number(r, "slo_missed_others", known, slo->others);
}

void gs_request_costs_put(const struct gs_figures *fig, const struct gpusched_tsg *rec, json_t *o)
{
	const struct gs_request_cost *c = gs_ledger_requests(fig, rec);
	json_t *r = c ? json_object() : json_null();

	if (c) {
		gs_json_put_number(r, "n", true, c->n);
		gs_json_put_number(r, "p50_us", true, gs_request_cost_ns(c, 50) / NS_PER_US);
		gs_json_put_number(r, "p90_us", true, gs_request_cost_ns(c, 90) / NS_PER_US);
		gs_json_put_number(r, "p99_us", true, gs_request_cost_ns(c, 99) / NS_PER_US);
		gs_json_put_number(r, "itself_ms", true, c->sum.itself_ns / NS_PER_MS);
		gs_json_put_number(r, "others_ms", true, c->sum.others_ns / NS_PER_MS);
		gs_json_put_number(r, "neither_ms", true, c->sum.neither_ns / NS_PER_MS);
		gs_json_put_number(r, "unknown_ms", true, c->sum.unknown_ns / NS_PER_MS);
		put_slo(r, &c->slo_now,
			gs_class_extras(fig->hub->classes, rec->task.class_id).slo_ns);
	}
	json_object_set_new(o, "requests", r);
}
