// SPDX-License-Identifier: MIT
#include "figures/cost_book.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "account/account.h"
#include "account/kept.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "figures/figures.h"

#define PAUSE_NS (10 * NS_PER_S) /* between two comparisons of measured and kept costs */

struct gs_cost_book {
	struct gs_kept kept;
	uint64_t tried_ns; /* time of the last comparison; 0: none yet */
	bool failed;
};

static void load(struct gs_figures *fig)
{
	struct gs_error err = { 0 };
	int r = gs_kept_load(&fig->book->kept, &err);

	if (!r || r == -ENOENT)
		return;
	gs_count(fig->hub, GS_SVC_COSTS_LEFT);
	gs_log(LOG_WARNING, "costs of switches begin anew: %s", err.text);
}

static struct gs_costs begin(struct gs_figures *fig, const struct gs_gpu *gpu)
{
	struct gs_costs product = gs_costs_measured(gpu->name, fig->hub->branch);
	const struct gs_kept_gpu *k = gs_kept_find(&fig->book->kept, gpu);

	if (!k || gs_kept_counts(k, gpu, fig->hub->driver))
		return gs_kept_begin(k, &product);
	gs_count(fig->hub, GS_SVC_COSTS_ANEW);
	gs_log(LOG_NOTICE,
	       "GPU %u: its costs of switches begin anew: they were kept of driver %s and VBIOS %s",
	       gpu->index, k->driver, k->vbios[0] ? k->vbios : "-");
	return product;
}

int gs_cost_book_open(struct gs_figures *fig, struct gs_costs **ret)
{
	size_t n = fig->hub->ngpus;
	struct gs_costs *all = calloc(n ? n : 1, sizeof(*all));

	fig->book = calloc(1, sizeof(*fig->book));
	if (!all || !fig->book) {
		free(all);
		return -ENOMEM;
	}
	load(fig);
	for (size_t i = 0; i < n; i++)
		all[i] = begin(fig, &fig->hub->gpus[i]);
	*ret = all;
	return 0;
}

struct gs_costs gs_cost_book_costs(const struct gs_figures *fig, size_t i)
{
	const struct gs_gpu *gpu = &fig->hub->gpus[i];
	struct gs_costs product = gs_costs_measured(gpu->name, fig->hub->branch);
	CLEANUP_FREE struct gs_kept *kept = calloc(1, sizeof(*kept));
	const struct gs_kept_gpu *k;
	struct gs_account_gpu a;

	if (fig->hub->account) {
		gs_account_gpu(fig->hub->account, gpu->index, &a);
		return a.costs;
	}
	if (!kept || gs_kept_load(kept, NULL))
		return product;
	k = gs_kept_find(kept, gpu);
	return gs_kept_counts(k, gpu, fig->hub->driver) ? gs_kept_begin(k, &product) : product;
}

/* Writes the file. Logs only the first failure until a write succeeds. */
static void save(struct gs_figures *fig)
{
	struct gs_cost_book *b = fig->book;
	struct gs_error err = { 0 };
	int r = gs_kept_save(&b->kept, &err);

	if (r)
		gs_count(fig->hub, GS_SVC_COSTS_UNSAVED);
	if (r && !b->failed)
		gs_log(LOG_WARNING, "a restart will not know what switches cost: %s", err.text);
	b->failed = r != 0;
}

/*
 * Keeps costs that differ from the kept ones. @all: also equal ones, so that they get a new date.
 */
static void note(struct gs_figures *fig, bool all)
{
	struct gs_cost_book *b = fig->book;
	struct gs_account_gpu a;
	bool changed = b->failed;

	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		const struct gs_gpu *gpu = &fig->hub->gpus[i];
		const struct gs_kept_gpu *k = gs_kept_find(&b->kept, gpu);

		gs_account_gpu(fig->hub->account, gpu->index, &a);
		if (!gs_kept_counts(k, gpu, fig->hub->driver))
			k = NULL;
		if (gs_kept_differs(k, &a.costs) || (all && gs_kept_is_older(k, &a.costs)))
			changed |= gs_kept_put(&b->kept, gpu, fig->hub->driver, &a.costs,
					       (uint64_t)time(NULL));
	}
	if (changed)
		save(fig);
}

static bool may_write(const struct gs_figures *fig)
{
	return fig->book && fig->hub->account && !fig->hub->opts.dry_run;
}

void gs_cost_book_look(struct gs_figures *fig, uint64_t now)
{
	struct gs_cost_book *b = fig->book;

	if (!may_write(fig) || (b->tried_ns && now - b->tried_ns < PAUSE_NS))
		return;
	b->tried_ns = now;
	note(fig, false);
}

void gs_cost_book_close(struct gs_figures *fig)
{
	if (may_write(fig))
		note(fig, true);
	free(fig->book);
	fig->book = NULL;
}
