// SPDX-License-Identifier: MIT
#include "control/where_works.h"

#include <stddef.h>

#include "account/account.h"

void gs_where_clear(struct gs_where *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		w->tsgs[i].there = false;
}

static struct gs_where_tsg *find(struct gs_where *w, uint64_t id)
{
	struct gs_where_tsg *gone = NULL;

	for (unsigned int i = 0; i < w->n; i++)
		if (w->tsgs[i].id == id)
			return &w->tsgs[i];
		else if (!w->tsgs[i].there)
			gone = &w->tsgs[i];
	if (!gone && w->n < GS_WHERE_TSGS)
		gone = &w->tsgs[w->n++];
	if (gone)
		*gone = (struct gs_where_tsg){ .id = id };
	return gone;
}

void gs_where_add(struct gs_where *w, const struct gpusched_tsg *rec)
{
	struct gs_where_tsg *tsg = find(w, rec->task.id);

	if (!tsg)
		return;
	tsg->key = rec->key;
	tsg->gpu = rec->task.gpu;
	tsg->there = true;
}

/*
 * Gets the TSG's sums; a TSG without a turn has zero sums. False: they are unknown, since its GPU
 * has no log.
 */
static bool sums_of(const struct gs_where_tsg *tsg, const struct gs_account *account,
		    struct gs_turn_sums *ret)
{
	struct gs_account_gpu gpu;

	*ret = (struct gs_turn_sums){ 0 };
	if (!account)
		return false;
	if (!gs_account_of(account, tsg->id, ret))
		return true;
	gs_account_gpu(account, tsg->gpu, &gpu);
	return gpu.open;
}

/*
 * Notes that the TSG has worked if a turn began, or work was seen while it was alone. Being loaded
 * is no sign: a TSG without work stays loaded until another TSG has some.
 */
static void look_at(struct gs_where_tsg *tsg, const struct gs_account *account, uint64_t now)
{
	struct gs_turn_sums sums;

	if (!sums_of(tsg, account, &sums)) {
		tsg->seen_ns = 0;
		return;
	}
	if (tsg->seen_ns && sums.start_ns == tsg->start_ns && sums.worked_ns == tsg->worked_ns)
		return;
	tsg->start_ns = sums.start_ns;
	tsg->worked_ns = sums.worked_ns;
	tsg->seen_ns = now;
	tsg->idle = 0;
}

void gs_where_look(struct gs_where *w, const struct gs_account *account, uint64_t now)
{
	for (unsigned int i = 0; w->n > 1 && i < w->n; i++)
		look_at(&w->tsgs[i], account, now);
}

void gs_where_request(struct gs_where *w, const struct gs_account *account, uint64_t now)
{
	gs_where_look(w, account, now);
	for (unsigned int i = 0; i < w->n; i++) {
		struct gs_where_tsg *tsg = &w->tsgs[i];

		if (tsg->idle < GS_WHERE_REQUESTS)
			tsg->idle++;
		if (now - tsg->seen_ns < GS_WHERE_NS && tsg->idle >= GS_WHERE_REQUESTS)
			tsg->idle = GS_WHERE_REQUESTS - 1;
	}
}

bool gs_where_works(const struct gs_where *w, const struct gs_where_tsg *tsg)
{
	return w->n < 2 || !tsg->seen_ns || tsg->idle < GS_WHERE_REQUESTS;
}
