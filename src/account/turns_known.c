// SPDX-License-Identifier: MIT
/* Answers queries about turns. */
#include "account/turns_priv.h"

#include <errno.h>

#include "account/usage.h"

int gs_turns_of(const struct gs_turns *t, uint64_t id, struct gs_turn_sums *ret)
{
	const struct node *n = turns_find(t, id);

	if (!n || !n->sums.since_ns)
		return -ENOENT;
	*ret = n->sums;
	ret->waiting = n->waiting_since != 0;
	ret->waiting_since_ns = n->waiting_since;
	ret->contended = n == t->cur && t->contended_from;
	if (n == t->cur)
		ret->contended_ns += contended_so_far(t);
	if (ret->contended || ret->waiting)
		ret->last_work_ns = t->last_ns;
	return 0;
}

void gs_turns_changed(struct gs_turns *t, gs_turns_changed_fn fn, void *user)
{
	struct node *n;

	while ((n = t->changed)) {
		n->changed = false;
		DL_DELETE2(t->changed, n, cprev, cnext);
		fn(n->id, user);
	}
}

void gs_turns_runlist(const struct gs_turns *t, struct gs_runlist_sums *ret)
{
	*ret = t->sums;
	ret->waiting = t->nwaiting;
	ret->blind = t->blind;
	ret->loaded = t->cur ? t->cur->id : 0;
}

struct gs_costs gs_turns_costs(const struct gs_turns *t)
{
	return *gs_calibration_costs(t->calibration);
}

const char *gs_turns_save_unknown(const struct gs_turns *t)
{
	return gs_calibration_save_unknown(t->calibration);
}

unsigned int gs_turns_contradicted(const struct gs_turns *t)
{
	return gs_calibration_contradicted(t->calibration);
}

void gs_turns_alone(struct gs_turns *t, uint64_t id, uint64_t ns, uint64_t worked_ns)
{
	struct node *n = turns_find(t, id);

	if (!n)
		return;
	n->sums.alone_ns += ns;
	n->sums.worked_ns += worked_ns;
	if ((double)worked_ns < GS_USAGE_IDLE * (double)ns)
		t->sums.idle_ns += ns;
}

void gs_turns_open(const struct gs_turns *t, gs_turn_fn fn, void *user)
{
	for (const struct node *n = t->pending; n; n = n->next)
		fn(&n->last, user);
	if (t->cur)
		fn(&(struct gs_turn){ .id = t->cur->id,
				      .start_ns = t->start_ns,
				      .end_ns = t->last_ns,
				      .waited_ns = t->waited_ns },
		   user);
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a < b ? 0 : a - b;
}

uint64_t gs_turn_used(const struct gs_turn_sums *s)
{
	uint64_t beside = less(less(s->held_ns, s->alone_ns), s->switching_ns);

	return beside + (s->worked_ns < s->alone_ns ? s->worked_ns : s->alone_ns);
}

uint64_t gs_turns_percentile(const struct gs_turn_sums *s, unsigned int percent)
{
	uint64_t seen = 0;

	for (unsigned int i = 0; s->waits && i < GS_WAIT_BUCKETS; i++) {
		seen += s->wait_bucket[i];
		if (seen * 100 >= s->waits * percent)
			return 2ull << i;
	}
	return 0;
}
