// SPDX-License-Identifier: MIT
#include "account/turns.h"
#include "account/turns_priv.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/clock.h"
#include "basic/grow.h"
#include "gpusched/abi.h"

#define LOST_MAX_NS NS_PER_MS
/*
 * In a long slice (over ALONE_NS) a TSG may have drained long before another became ready. So if a
 * turn not ended by its slice lasts longer than DOUBT_TIMES the TSG's usual turn plus DOUBT_NS, it
 * is unknown which TSGs waited.
 */
#define DOUBT_TIMES 3
#define DOUBT_NS (NS_PER_MS / 4)
/*
 * A shorter turn lowers the usual length by a quarter of the difference. A longer turn raises it by
 * a sixteenth of the usual length, however long the turn is.
 */
#define USUAL_SHORTER 4
#define USUAL_LONGER 16
/* A drained TSG that comes back within this time had hardly any pause: it is launch-bound. */
#define RETURN_NS NS_PER_MS
#define DRAIN_SMOOTH 8
#define DRAIN_SLICES 4 /* most slices of a sample in CTA and WFI mode; more need too exact a unit */

static struct node *find_or_new(struct gs_turns *t, uint64_t id)
{
	struct node *n = turns_find(t, id);

	if (n)
		return n;
	n = calloc(1, sizeof(*n));
	if (!n)
		return NULL;
	n->id = id;
	HASH_ADD(hh, t->nodes, id, sizeof(n->id), n);
	return n;
}

static void change(struct gs_turns *t, struct node *n)
{
	if (n->changed)
		return;
	n->changed = true;
	DL_APPEND2(t->changed, n, cprev, cnext);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void wait_from(struct gs_turns *t, struct node *n, uint64_t ns)
{
	if (n->suspended)
		return;
	if (n->waiting_since) {
		n->waiting_since = ns < n->waiting_since ? ns : n->waiting_since;
		return;
	}
	n->waiting_since = ns;
	t->nwaiting++;
	change(t, n);
	if (!t->loaded || t->cur == n)
		return;
	if (t->alone_ns != UINT64_MAX && ns + t->slice_ns + ALONE_NS > t->alone_ns)
		t->alone_ns = ns + t->slice_ns + ALONE_NS;
	if (t->contended_from)
		return;
	t->contended_from = ns > t->start_ns ? ns : t->start_ns;
	if (t->cur)
		change(t, t->cur);
}

static void forget_wait(struct gs_turns *t, struct node *n)
{
	t->nwaiting -= !!n->waiting_since;
	n->waiting_since = 0;
	if (t->nwaiting || !t->contended_from)
		return;
	if (t->last_ns > t->contended_from)
		t->contended_ns += t->last_ns - t->contended_from;
	t->contended_from = 0;
	if (t->cur)
		change(t, t->cur);
}

static void forget_waits(struct gs_turns *t)
{
	for (struct node *n = t->nodes; t->nwaiting && n; n = n->hh.next) {
		if (n->waiting_since)
			change(t, n);
		forget_wait(t, n);
	}
}

/* Ends the TSG's wait, if it waits. Returns how long it waited, ns. */
static uint64_t end_wait(struct gs_turns *t, struct node *n, uint64_t ns)
{
	uint64_t wait = ns > n->waiting_since ? ns - n->waiting_since : 0;
	unsigned int bucket = wait > 1 ? 63 - (unsigned int)__builtin_clzll(wait) : 0;

	if (!n->waiting_since)
		return 0;
	n->sums.wait_ns += wait;
	n->sums.waits++;
	n->sums.wait_bucket[bucket < GS_WAIT_BUCKETS ? bucket : GS_WAIT_BUCKETS - 1]++;
	forget_wait(t, n);
	return wait;
}

/* Applies launches up to @ns. A TSG waits from its launch on, if it was not loaded then. */
static void hear_launches(struct gs_turns *t, uint64_t ns)
{
	struct node *n, *next;

	for (n = t->launched; n; n = next) {
		next = n->lnext;
		if (n->launch_ns > ns)
			continue;
		DL_DELETE2(t->launched, n, lprev, lnext);
		if (n != t->cur && !t->blind && n->launch_ns > n->sums.last_end_ns)
			wait_from(t, n, n->launch_ns);
		n->launch_ns = 0;
	}
}

/* ---- why a turn ended ------------------------------------------------------------------------ */

/*
 * Learns how long a turn goes on after the end of its last slice. Only turns of one slice count (up
 * to DRAIN_SLICES in CTA and WFI mode), and only with another TSG waiting at the end, since only
 * then does the GPU have to switch. A very short slice may end before the restored work goes on;
 * such a turn says nothing about thread blocks. Blocks that take longer than a slice look shorter
 * by whole slices.
 */
static void learn_drain(struct node *n)
{
	uint64_t length = n->last.end_ns - n->last.start_ns;
	uint64_t most = n->cilp || n->mixed || !n->cut.periodic ? 1 : DRAIN_SLICES;
	uint64_t before = n->slices > 1 ? (n->slices - 1) * n->cut.slice : 0;
	int64_t drain = (int64_t)gs_slice_drain(&n->cut, length - before);
	int64_t old = (int64_t)n->sums.drain_ns;
	bool first = !n->sums.drains || n->sums.drain_nominal == n->cut.periodic;

	if (!n->slices || n->slices > most || !drain ||
	    (n->cilp && !n->assumed.ns && n->last.contended_ns < length))
		return;
	n->sums.drain_ns = (uint64_t)(first ? drain : old + (drain - old) / DRAIN_SMOOTH);
	n->sums.drain_nominal = !n->cut.periodic;
	n->sums.drains++;
}

/*
 * Estimates the part of a turn that went into restoring and saving the TSG, if it was cut off. A
 * suspension counts as cutting off; a turn with an unsure end counts half. A turn
 * that drained costs nothing here: the TSG left by itself.
 */
static void price(const struct gs_turns *t, struct node *n, enum gs_turn_end end)
{
	const struct gs_costs *costs = gs_calibration_costs(t->calibration);
	uint64_t length = n->last.end_ns - n->last.start_ns;
	uint64_t save = n->one_slice ? gs_slice_drain(&n->cut, length) : 0, ns;

	if (save < costs->save_low_ns || save > costs->save_high_ns)
		save = costs->save_ns;
	ns = save + costs->restore_ns;
	if (end == GS_TURN_DRAINED)
		return;
	if (!n->cilp || !costs->save_ns || !costs->restore_ns) {
		n->sums.unpriced++;
		return;
	}
	if (end == GS_TURN_UNSURE && !n->suspended)
		ns /= 2;
	n->sums.switching_ns += ns < length ? ns : length;
}

static void settle(struct gs_turns *t, struct node *n, enum gs_turn_end end)
{
	if (!n->pending)
		return;
	n->pending = false;
	DL_DELETE(t->pending, n);
	n->last.end = end;
	n->sums.ended[end]++;
	price(t, n, end);
	change(t, n);
	if (end == GS_TURN_SLICE) {
		n->last.contended_ns += n->assumed.ns;
		n->sums.contended_ns += n->assumed.ns;
		n->sums.contended_off_ns += n->assumed.off_ns;
		n->sums.last_work_ns = n->last.end_ns;
		learn_drain(n);
		wait_from(t, n, n->last.end_ns);
	}
	if (t->fn)
		t->fn(&n->last, t->user);
}

/* The number of other TSGs' turns since this TSG's last turn. */
static uint64_t turns_since(const struct gs_turns *t, const struct node *n)
{
	return t->sums.switches - n->switches;
}

/*
 * A TSG that was cut off comes back in its place of the round. If it does not, it had no work left.
 */
static void settle_absent(struct gs_turns *t)
{
	while (t->pending && (t->idle || turns_since(t, t->pending) > 2 * t->nnodes))
		settle(t, t->pending, GS_TURN_DRAINED);
}

static void leave_calm(struct gs_turns *t, struct node *n)
{
	if (n->calm)
		DL_DELETE2(t->calm, n, qprev, qnext);
	n->calm = false;
}

/*
 * Another TSG turns out to have waited since @ns. So all turns that began since then were contended
 * from START to END.
 */
static void was_awaited(struct gs_turns *t, uint64_t ns)
{
	while (t->calm && t->calm->qprev->last.start_ns >= ns) {
		struct node *n = t->calm->qprev;
		uint64_t length = n->last.end_ns - n->last.start_ns;

		n->sums.contended_ns += length - n->last.contended_ns;
		n->last.contended_ns = length;
		if (!n->pending && n->last.end == GS_TURN_SLICE)
			n->sums.contended_off_ns -= n->assumed.off_ns;
		n->sums.contended_off_ns -= n->doubt_ns;
		n->assumed = (struct gs_assumed){ 0 };
		n->doubt_ns = 0;
		leave_calm(t, n);
		change(t, n);
	}
}

/*
 * Counts the part of a turn that is not known to be contended as a possible error. @inout_doubt:
 * how much of that part is counted already.
 */
static void doubt(struct node *n, uint64_t length, uint64_t contended_ns, uint64_t *inout_doubt)
{
	if (length <= contended_ns + *inout_doubt)
		return;
	n->sums.contended_off_ns += length - contended_ns - *inout_doubt;
	*inout_doubt = length - contended_ns;
}

/*
 * It stays unknown whether another TSG has waited since @ns. So turns that began since then may
 * have been contended throughout.
 */
static void may_be_awaited(struct gs_turns *t, uint64_t ns)
{
	for (struct node *n = t->calm ? t->calm->qprev : NULL; n && n->last.start_ns >= ns;
	     n = n == t->calm ? NULL : n->qprev)
		doubt(n, n->last.end_ns - n->last.start_ns, n->last.contended_ns, &n->doubt_ns);
	if (t->cur && t->start_ns >= ns)
		doubt(t->cur, t->last_ns - t->start_ns, contended_so_far(t), &t->doubt_ns);
}

static void settle_returned(struct gs_turns *t, struct node *n)
{
	bool in_place = !t->idle && t->left != n && turns_since(t, n) < t->nnodes;

	if (in_place && n->turn_us)
		gs_calibration_turn(t->calibration, n->id, n->turn_us,
				    n->last.end_ns - n->last.start_ns);
	n->turn_us = 0;
	if (n->pending && in_place && n->unknown) {
		may_be_awaited(t, n->last.end_ns);
		settle(t, n, GS_TURN_UNSURE);
		return;
	}
	if (n->pending && in_place)
		was_awaited(t, n->last.end_ns);
	settle(t, n, in_place ? GS_TURN_SLICE : GS_TURN_DRAINED);
}

static void settle_all(struct gs_turns *t, enum gs_turn_end end)
{
	while (t->pending)
		settle(t, t->pending, end);
}

/*
 * The turn under way has gone on past its longest slice, so no other TSG waits. TSGs that seemed to
 * wait had drained.
 */
static void settle_alone(struct gs_turns *t)
{
	settle_all(t, GS_TURN_DRAINED);
	forget_waits(t);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void hold_until(struct gs_turns *t, uint64_t ns)
{
	uint64_t d = ns - t->last_ns;

	t->sums.held_ns += d;
	if (t->cur)
		t->cur->sums.held_ns += d;
	else
		t->sums.unattributed_ns += d;
}

/*
 * Adds the time up to @ns to held, open or unknown time. was_switch() makes open time lost time if
 * another TSG comes soon.
 */
static void pass_until(struct gs_turns *t, uint64_t ns)
{
	if (ns <= t->last_ns || !t->sums.since_ns)
		return;
	if (t->blind)
		t->sums.unknown_ns += ns - t->last_ns;
	else if (t->loaded)
		hold_until(t, ns);
	else
		t->sums.open_ns += ns - t->last_ns;
	t->last_ns = ns;
	t->sums.as_of_ns = ns;
	if (t->loaded && ns > t->alone_ns && (t->pending || t->nwaiting))
		settle_alone(t);
	if (!t->loaded && !t->blind && ns - t->start_ns >= LOST_MAX_NS && !t->idle) {
		t->idle = true;
		settle_absent(t);
	}
}

/*
 * Sets the longest slice of the turn under way, and the time after which the TSG is known to be
 * alone.
 */
static void expect_end(struct gs_turns *t, const struct node *n, uint64_t from_ns)
{
	t->slice_ns = n ? gs_calibration_cut(t->calibration, n->slice.us).longest : 0;
	t->alone_ns = t->slice_ns ? from_ns + t->slice_ns + ALONE_NS : UINT64_MAX;
}

static void apply(struct gs_turns *t, const struct setting *s)
{
	struct node *n = turns_find(t, s->id);

	if (!n)
		return;
	n->mixed |= s->what == SETS_MODE || (s->what == SETS_SLICE && s->value != n->slice.us);
	if (s->what == SETS_MODE) {
		n->slice.finishes = s->value != GPUSCHED_PREEMPT_CILP;
		return;
	}
	if (s->what == SETS_SLICE) {
		n->slice.us = s->value;
		if (n == t->cur)
			expect_end(t, n, t->last_ns);
		return;
	}
	n->suspended = s->what == SUSPENDS;
	if (!n->suspended)
		return;
	if (n->waiting_since)
		change(t, n);
	forget_wait(t, n);
	if (n->pending)
		may_be_awaited(t, n->last.end_ns);
	/* after a suspension, coming back in its place says nothing */
	settle(t, n, GS_TURN_UNSURE);
}

/* Advances the time to @ns, and applies settings on the way. */
static void advance(struct gs_turns *t, uint64_t ns)
{
	while (t->settings_at < t->nsettings && t->settings[t->settings_at].ns <= ns) {
		const struct setting *s = &t->settings[t->settings_at++];

		pass_until(t, s->ns);
		apply(t, s);
	}
	if (t->settings_at == t->nsettings)
		t->settings_at = t->nsettings = 0;
	pass_until(t, ns);
}

/*
 * Called at a START. If the gap before it was a switch, moves the gap from open to lost time. Until
 * then, t->start_ns is the time of the last END.
 */
static void was_switch(struct gs_turns *t, const struct node *next, uint64_t ns)
{
	uint64_t d = ns - t->start_ns;

	if (t->idle || t->blind || !t->sums.switches || (next && next == t->left))
		return;
	t->sums.open_ns -= d;
	t->sums.lost_ns += d;
}

/* ---- records --------------------------------------------------------------------------------- */

static void lose_track(struct gs_turns *t)
{
	struct node *n = t->cur;

	t->sums.gaps++;
	if (n) {
		change(t, n);
		n->sums.loaded = false;
		n->sums.turns++;
		n->sums.ended[GS_TURN_UNSURE]++;
	}
	settle_all(t, GS_TURN_UNSURE);
	forget_waits(t);
	t->cur = NULL;
	t->left = NULL;
	t->loaded = false;
	t->blind = true;
}

/*
 * True if the TSG had drained, and is back within RETURN_NS. Also true if only one turn came in
 * between, and was cut off after one slice: then this TSG was ready again within that slice.
 */
static bool is_return(const struct gs_turns *t, const struct node *n, uint64_t ns)
{
	const struct node *other = t->left;

	if (!n->sums.turns || n->last.end != GS_TURN_DRAINED || t->blind || t->idle || !other)
		return false;
	return ns - n->last.end_ns <= RETURN_NS ||
	       (turns_since(t, n) == 1 && other != n && other->one_slice &&
		(other->pending || other->last.end == GS_TURN_SLICE));
}

static void start(struct gs_turns *t, struct node *n, uint64_t ns)
{
	t->waited_ns = 0;
	was_switch(t, n, ns);
	if (n) {
		settle_returned(t, n);
		if (n->waiting_since && n->waiting_since <= t->start_ns && t->left &&
		    t->left != n && !t->idle && !t->blind)
			gs_calibration_gap(t->calibration, ns - t->start_ns);
		n->mixed = false;
		n->sums.returns += is_return(t, n, ns);
		t->waited_ns = end_wait(t, n, ns);
		n->sums.loaded = true;
		n->sums.start_ns = n->sums.last_work_ns = ns;
		change(t, n);
	}
	t->sums.switches++;
	t->cur = n;
	t->loaded = true;
	t->blind = false;
	t->idle = false;
	t->start_ns = ns;
	t->contended_from = t->nwaiting ? ns : 0;
	t->contended_ns = t->doubt_ns = 0;
	expect_end(t, n, ns);
	settle_absent(t);
}

static bool is_doubtful(const struct node *n, uint64_t length)
{
	return n->cut.slice > ALONE_NS && n->usual_ns &&
	       length > DOUBT_TIMES * n->usual_ns + DOUBT_NS;
}

static void learn_usual(struct node *n, uint64_t length)
{
	if (!n->usual_ns)
		n->usual_ns = length;
	else if (length < n->usual_ns)
		n->usual_ns -= (n->usual_ns - length) / USUAL_SHORTER;
	else
		n->usual_ns += n->usual_ns / USUAL_LONGER;
}

static enum gs_awaited awaited_since(const struct gs_turns *t)
{
	if (t->contended_from == t->start_ns)
		return GS_AWAITED_FROM_START;
	return t->contended_from || t->contended_ns ? GS_AWAITED_LATER : GS_AWAITED_NEVER;
}

static void end_of(struct gs_turns *t, struct node *n, uint64_t ns)
{
	uint64_t length = ns - t->start_ns;
	enum gs_awaited since = awaited_since(t);
	enum gs_slice_says says;
	uint64_t slices;

	n->cut = gs_calibration_cut(t->calibration, n->slice.us);
	says = gs_slice_says(&n->slice, &n->cut, length, since, &slices);
	if (n->mixed && says == GS_SLICE_DID_NOT)
		says = GS_SLICE_UNKNOWN; /* the old slice may have ended the turn */
	n->unknown = says == GS_SLICE_UNKNOWN;
	n->turn_us = n->mixed || n->slice.finishes || n->suspended ? 0 : n->slice.us;
	n->cilp = !n->slice.finishes;
	n->one_slice = slices == 1;
	n->slices = slices;
	n->assumed = gs_slice_contended(&n->slice, &n->cut, length, since ? 0 : slices);
	n->last = (struct gs_turn){
		.id = n->id,
		.start_ns = t->start_ns,
		.end_ns = ns,
		.contended_ns = t->contended_ns + (t->contended_from ? ns - t->contended_from : 0),
		.waited_ns = t->waited_ns,
	};
	n->doubt_ns = t->doubt_ns;
	n->sums.contended_ns += n->last.contended_ns;
	n->sums.turns++;
	n->sums.loaded = false;
	n->sums.last_end_ns = ns;
	n->sums.last_ns = length;
	if (length > n->sums.longest_ns)
		n->sums.longest_ns = length;
	if (says == GS_SLICE_DID_NOT && is_doubtful(n, length))
		settle_all(t, GS_TURN_UNSURE);
	learn_usual(n, length);
	change(t, n);
	n->switches = t->sums.switches;
	n->pending = true;
	DL_APPEND(t->pending, n);
	leave_calm(t, n);
	n->calm = n->last.contended_ns < length;
	if (n->calm)
		DL_APPEND2(t->calm, n, qprev, qnext);
	if (!n->slice.us || n->suspended)
		settle(t, n, GS_TURN_UNSURE);
	else if (says == GS_SLICE_DID_NOT)
		settle(t, n, GS_TURN_DRAINED);
	else if (says == GS_SLICE_DID)
		settle(t, n, GS_TURN_SLICE);
}

static void end(struct gs_turns *t, struct node *n, uint64_t ns)
{
	t->loaded = false;
	t->cur = NULL;
	t->left = n;
	if (n)
		end_of(t, n, ns);
	t->blind = false;
	t->start_ns = ns;
	t->contended_from = 0;
}

/*
 * RM drops the records of a context that is freed. So a TSG that ends while it is loaded has no
 * END: it was loaded until the switch to the next one.
 */
static void end_unseen(struct gs_turns *t, uint64_t next_ns)
{
	uint64_t gap = gs_calibration_costs(t->calibration)->switch_ns;
	uint64_t ns = next_ns - t->last_ns > gap ? next_ns - gap : t->last_ns;

	advance(t, ns);
	end(t, t->cur, ns);
}

/*
 * gs_turns_until() may have gone past the time of a record that was not read yet. Such a record
 * counts as of t->last_ns.
 */
static uint64_t time_of(struct gs_turns *t, const struct gs_switch *sw)
{
	bool late = sw->ns >= t->record_ns && sw->ns < t->last_ns;

	t->record_ns = sw->ns;
	return late ? t->last_ns : sw->ns;
}

int gs_turns_feed(struct gs_turns *t, const struct gs_switch *sw, uint64_t id)
{
	bool first = !t->sums.since_ns;
	struct node *n = id ? find_or_new(t, id) : NULL;
	uint64_t ns = time_of(t, sw);

	if (ns < t->last_ns)
		gs_calibration_doubt(t->calibration);
	if (first)
		t->sums.since_ns = t->sums.as_of_ns = t->last_ns = t->start_ns = ns;
	if (sw->start && n && t->cur && t->cur != n && !sw->gap && ns > t->last_ns)
		end_unseen(t, ns);
	if (sw->gap || ns < t->last_ns || (id && !n) || (sw->start && t->loaded) ||
	    (!sw->start && !first && (!t->loaded || t->cur != n)))
		lose_track(t);
	advance(t, ns);
	if (id && !n)
		return -ENOMEM;
	if (n && !n->sums.since_ns) {
		n->sums.since_ns = ns;
		t->nnodes++;
	}
	hear_launches(t, ns);
	if (sw->start)
		start(t, n, ns);
	else if (t->loaded)
		end(t, n, ns);
	else { /* the turn's START was not seen */
		t->blind = false;
		t->left = n;
		t->start_ns = ns;
		if (n) {
			n->sums.last_end_ns = n->sums.last_work_ns = ns;
			change(t, n);
		}
	}
	return 0;
}

void gs_turns_until(struct gs_turns *t, uint64_t ns)
{
	advance(t, ns);
	hear_launches(t, ns);
}

void gs_turns_launched(struct gs_turns *t, uint64_t id, uint64_t ns)
{
	struct node *n = turns_find(t, id);

	if (!n || !n->sums.since_ns || !ns)
		return;
	if (!n->launch_ns)
		DL_APPEND2(t->launched, n, lprev, lnext);
	n->launch_ns = ns;
	hear_launches(t, t->last_ns);
}

static int set(struct gs_turns *t, const struct setting *s)
{
	size_t n = t->nsettings - t->settings_at;

	if (t->settings_at > n) { /* more than half of the array is done with */
		memmove(t->settings, t->settings + t->settings_at, n * sizeof(*s));
		t->settings_at = 0;
		t->nsettings = n;
	}
	if (!find_or_new(t, s->id) || GS_GROW(t->settings, t->settings_cap, t->nsettings + 1))
		return -ENOMEM;
	t->settings[t->nsettings] = *s;
	if (t->settings_at < t->nsettings && s->ns < t->settings[t->nsettings - 1].ns)
		t->settings[t->nsettings].ns = t->settings[t->nsettings - 1].ns;
	t->nsettings++;
	advance(t, t->last_ns);
	return 0;
}

int gs_turns_slice(struct gs_turns *t, uint64_t id, uint64_t slice_us, uint64_t ns)
{
	return set(t, &(struct setting){ ns, id, SETS_SLICE, slice_us });
}

int gs_turns_mode(struct gs_turns *t, uint64_t id, uint32_t mode, uint64_t ns)
{
	return set(t, &(struct setting){ ns, id, SETS_MODE, mode });
}

int gs_turns_suspend(struct gs_turns *t, uint64_t id, bool on, uint64_t ns)
{
	return set(t, &(struct setting){ ns, id, on ? SUSPENDS : RESUMES, 0 });
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_turns_forget(struct gs_turns *t, uint64_t id)
{
	struct node *n = turns_find(t, id);

	if (!n)
		return;
	settle(t, n, GS_TURN_UNSURE);
	forget_wait(t, n);
	leave_calm(t, n);
	if (t->cur == n)
		t->cur = NULL;
	if (t->left == n)
		t->left = NULL;
	if (n->changed)
		DL_DELETE2(t->changed, n, cprev, cnext);
	if (n->launch_ns)
		DL_DELETE2(t->launched, n, lprev, lnext);
	HASH_DEL(t->nodes, n);
	t->nnodes -= n->sums.since_ns != 0;
	free(n);
}

int gs_turns_new(gs_turn_fn fn, void *user, struct gs_turns **ret)
{
	struct gs_turns *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	if (gs_calibration_new(&t->calibration)) {
		free(t);
		return -ENOMEM;
	}
	t->fn = fn;
	t->user = user;
	*ret = t;
	return 0;
}

void gs_turns_measured(struct gs_turns *t, const struct gs_costs *costs)
{
	gs_calibration_begin(t->calibration, costs);
}

void gs_turns_free(struct gs_turns *t)
{
	struct node *n, *next;

	if (!t)
		return;
	HASH_ITER(hh, t->nodes, n, next) {
		HASH_DEL(t->nodes, n);
		free(n);
	}
	gs_calibration_free(t->calibration);
	free(t->settings);
	free(t);
}
