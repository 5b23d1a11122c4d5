// SPDX-License-Identifier: MIT
#include "account/calibration.h"
#include "account/clusters.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define WINDOW_NS GS_WINDOW_NS
#define TURNS GS_SAMPLE_MAX /* number of last turns that are kept for each slice */
/* A slice shows in a turn's length if it is at least this many windows long. */
#define SHOWS 10u
#define LEARN_US (SHOWS * WINDOW_NS / 1000)
/*
 * The unit is the real length of one us of a slice, in ps. MIN and MAX bound it on any GPU. A unit
 * above USUAL or below LEAST needs more proof: see is_proven().
 */
#define UNIT_MIN_PS 750000u
#define UNIT_LEAST_PS 900000u
#define UNIT_USUAL_PS 1400000u
#define UNIT_MAX_PS 2200000u
#define NOMINAL_PS 1000000u /* the unit that the driver assumes */
#define SAVE_MAX_NS (2 * NS_PER_MS)
#define SLICES_MAX 16u /* turns of more slices would need too exact a unit */

#define SLOTS 12u  /* different slices that are tracked */
#define STEPS 4u   /* most slices by which two clusters may differ */
#define SOON 16u   /* new turns until a slice is evaluated again, while its cut is unknown */
#define AT_ONCE 4u /* new turns until then after the GPU's clocks have changed */
#define ENOUGH 16u /* turns that are enough for a cluster or a fit */
/* this many turns that end alike, but at an unusual time after a slice, show that clocks changed */
#define ODD 6u
#define GAPS 64u
#define GAPS_ENOUGH 32u

/* The turns of one slice that was in force. */
struct slot {
	uint64_t us, used; /* us 0: the slot is unused */
	struct gs_length turns[TURNS];
	unsigned int n, at, fresh; /* fresh: turns since the last evaluation */
	struct gs_cluster main;    /* the cluster with more than half of the turns; n 0: none */
	/* The confirmed length of turns that the slice ends; n 0: none. */
	struct gs_cluster cut;
	bool doubted; /* the costs in use do not hold for this slice */
	/* the GPU's clocks have changed, and turns are too few to learn the new costs */
	bool changed;
	uint64_t odd_ns;
	/* unusual turns since the last usual one; they end @odd_ns after a slice */
	unsigned int odd;
};

struct gs_calibration {
	struct gs_costs costs; /* the costs in use */
	/* Initial costs from elsewhere, less those that the log contradicted. */
	struct gs_costs measured;
	unsigned int contradicted; /* how often the log contradicted @measured */
	struct slot slots[SLOTS];
	uint64_t clock; /* counts turns, to find the slot that was used longest ago */
	struct gs_length gaps[GAPS];
	unsigned int ngaps, gap_at;
};

/* ---- hypotheses ------------------------------------------------------------------------------ */

/* A hypothesis: a turn that its slice ends lasts k slices, with @unit_ps per us, plus @save ns. */
struct fit {
	uint64_t unit_ps, save;
	unsigned int explains;           /* turns that the fit explains; 0: there is no fit */
	unsigned int its, its_explained; /* turns of the suggesting TSG; of those, explained ones */
	/* two TSGs suggest it: their turns changed with their slices */
	bool moved_alike;
};

static uint64_t slice_ns(uint64_t us, uint64_t unit_ps)
{
	return us * unit_ps / 1000;
}

static bool fits(const struct fit *f, uint64_t us, uint64_t length)
{
	uint64_t period = slice_ns(us, f->unit_ps), past;

	if (length < period + f->save - (f->save < WINDOW_NS / 2 ? f->save : WINDOW_NS / 2))
		return false;
	past = (length + WINDOW_NS / 2 - f->save) % period;
	return past <= WINDOW_NS;
}

/*
 * If two fits are equally good, the longer unit wins: half of a unit always explains the same
 * turns.
 */
static void keep_better(struct fit *best, const struct fit *f)
{
	if (f->explains * 20 >= best->explains * 19 &&
	    (f->unit_ps > best->unit_ps || f->explains * 19 > best->explains * 20))
		*best = *f;
}

/*
 * True if the unit is usual, or proven by more clusters: requests of two or three lengths may
 * suggest a unit that no GPU has.
 */
static bool is_proven(const struct fit *f, uint64_t us, const struct gs_sample *x)
{
	unsigned int clusters = 0;
	bool one = false; /* there is a cluster of turns of a single slice */

	if (f->unit_ps >= UNIT_LEAST_PS && f->unit_ps <= UNIT_USUAL_PS)
		return true;
	for (unsigned int i = 0; i < x->nclusters; i++) {
		uint64_t length = x->clusters[i].mid;

		clusters += fits(f, us, length);
		one |= fits(f, us, length) && length < slice_ns(us, f->unit_ps) * 2;
	}
	return clusters >= 3 ? one || f->unit_ps > UNIT_USUAL_PS
			     : f->moved_alike && f->unit_ps < UNIT_LEAST_PS;
}

static void try_fit(uint64_t us, const struct gs_sample *x, uint64_t maker, struct fit f,
		    struct fit *best)
{
	if (f.unit_ps < UNIT_MIN_PS || f.unit_ps > UNIT_MAX_PS || !f.save || f.save > SAVE_MAX_NS ||
	    !is_proven(&f, us, x))
		return;
	for (unsigned int i = 0; i < x->n; i++) {
		bool fit = fits(&f, us, x->lengths[i].ns), its = x->lengths[i].id == maker;

		f.explains += fit;
		f.its += its;
		f.its_explained += its && fit;
	}
	keep_better(best, &f);
}

/*
 * True if the fit explains over half of the turns. A quarter is enough if it has three quarters of
 * the suggesting TSG's turns: others may be services that are never cut off.
 */
static bool is_good(const struct fit *f, unsigned int turns)
{
	if (f->explains < ENOUGH)
		return false;
	return f->explains * 2 > turns ||
	       (f->explains * 4 > turns && f->its_explained * 4 >= f->its * 3);
}

/*
 * Finds a fit from one TSG with two clusters: they differ in the number of slices, not in the save.
 */
static struct fit fit_two_k(uint64_t us, const struct gs_sample *x)
{
	struct fit best = { 0 };

	for (unsigned int i = 0; i < x->nclusters; i++) {
		for (unsigned int k = 0; k < x->nclusters; k++) {
			const struct gs_cluster *a = &x->clusters[i], *b = &x->clusters[k];
			uint64_t maker = gs_clusters_share(a, b);

			if (a->mid >= b->mid || !maker)
				continue;
			for (unsigned int steps = 1; steps <= STEPS; steps++) {
				uint64_t period = (b->mid - a->mid) / steps;

				struct fit f = { .unit_ps = period * 1000 / us,
						 .save = period ? a->mid % period : 0 };

				try_fit(us, x, maker, f, &best);
			}
		}
	}
	return best;
}

/* Finds a fit from a TSG's cluster that moved when the TSG's slice changed. */
static struct fit fit_moved(const struct gs_calibration *c, const struct slot *s,
			    const struct gs_sample *x)
{
	struct fit best = { 0 };

	for (unsigned int i = 0; s->main.n && i < SLOTS; i++) {
		const struct slot *o = &c->slots[i], *l = s->us > o->us ? s : o;
		const struct slot *r = l == s ? o : s; /* the shorter slice */
		uint64_t unit, short_ns;

		if (o == s || o->us < LEARN_US || !o->main.n ||
		    !gs_clusters_share(&s->main, &o->main) || (l->us - r->us) * 4 < l->us ||
		    l->main.mid <= r->main.mid)
			continue;
		unit = (l->main.mid - r->main.mid) * 1000 / (l->us - r->us);
		short_ns = slice_ns(r->us, unit);
		if (r->main.mid > short_ns)
			try_fit(s->us, x, gs_clusters_share(&s->main, &o->main),
				(struct fit){ .unit_ps = unit,
					      .save = r->main.mid - short_ns,
					      .moved_alike =
						      gs_clusters_share_two(&s->main, &o->main) },
				&best);
	}
	return best;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/*
 * True if there is evidence that the slice made its main cluster. Either two TSGs came back in
 * their place after turns of that length, or one TSG's turns changed with its slice.
 */
static bool is_confirmed(const struct gs_calibration *c, const struct slot *s)
{
	bool moved = false;

	if (!s->main.n || s->us < LEARN_US || s->main.mid < slice_ns(s->us, NOMINAL_PS))
		return false;
	for (unsigned int i = 0; i < SLOTS; i++) {
		const struct slot *o = &c->slots[i];

		moved |= o != s && o->main.n && gs_clusters_share(&s->main, &o->main) &&
			 apart(o->us, s->us) * 4 >= s->us &&
			 (o->us < s->us) == (o->main.mid < s->main.mid) &&
			 apart(o->main.mid, s->main.mid) * 2 >=
				 slice_ns(apart(o->us, s->us), NOMINAL_PS);
	}
	return moved || s->main.maker[1];
}

/* ---- what is known --------------------------------------------------------------------------- */

static void forget_restore(struct gs_costs *costs)
{
	costs->restore_ns = costs->idle_turn_ns = costs->restore_at_s = 0;
	costs->restore_basis = GS_COST_UNKNOWN;
}

static void forget_save(struct gs_costs *costs)
{
	costs->unit_ps = costs->save_low_ns = costs->save_ns = costs->save_high_ns = 0;
	costs->save_at_s = 0;
	costs->save_basis = GS_COST_UNKNOWN;
	forget_restore(costs);
}

static void forget_switch(struct gs_costs *costs)
{
	costs->switch_ns = costs->switch_at_s = 0;
	costs->switch_basis = GS_COST_UNKNOWN;
}

/*
 * Forgets a cost that the log contradicts. A cost known from elsewhere is dropped from c->measured
 * too.
 */
static void contradict(struct gs_calibration *c, enum gs_cost_basis basis,
		       void (*forget)(struct gs_costs *costs))
{
	if (gs_cost_is_prior(basis)) {
		c->contradicted++;
		forget(&c->measured);
	}
	forget(&c->costs);
}

/*
 * True if the log agrees with a save known from elsewhere. Then the restore, which no log shows,
 * holds as well.
 */
static bool confirms(const struct gs_costs *costs, const struct fit *f)
{
	return gs_cost_is_prior(costs->save_basis) && f->save >= costs->save_low_ns &&
	       f->save <= costs->save_high_ns;
}

/* Adopts the fit's costs. Each turn that the fit explains is a sample of the save. */
static void take_fit(struct gs_calibration *c, uint64_t us, const struct gs_sample *x,
		     const struct fit *f)
{
	uint64_t period = slice_ns(us, f->unit_ps), low = f->save, high = low;

	for (unsigned int i = 0; i < x->n; i++) {
		uint64_t length = x->lengths[i].ns, save;

		if (!fits(f, us, length))
			continue;
		save = length - (length + WINDOW_NS / 2 - f->save) / period * period;
		low = save < low ? save : low;
		high = save > high ? save : high;
	}
	if (gs_cost_is_prior(c->costs.save_basis) && !confirms(&c->costs, f))
		contradict(c, c->costs.save_basis, forget_save);
	c->costs.unit_ps = f->unit_ps;
	c->costs.save_ns = f->save;
	c->costs.save_low_ns = low - low / 4;
	c->costs.save_high_ns = high + high / 4 + WINDOW_NS / 4;
	c->costs.save_basis = GS_COST_CALIBRATED;
	c->costs.save_at_s = 0;
	for (unsigned int i = 0; i < SLOTS; i++) {
		c->slots[i].cut.n = 0;
		c->slots[i].doubted = c->slots[i].changed = false;
	}
}

/* The number of turns that the costs in use explain. */
static unsigned int explained(const struct gs_costs *costs, uint64_t us, const struct gs_sample *x)
{
	uint64_t period = slice_ns(us, costs->unit_ps);
	unsigned int sum = 0;

	for (unsigned int i = 0; period && i < x->n; i++) {
		uint64_t length = x->lengths[i].ns;

		sum += length >= period + costs->save_low_ns &&
		       (length - costs->save_low_ns) % period <=
			       costs->save_high_ns - costs->save_low_ns;
	}
	return sum;
}

static void look(struct gs_calibration *c, struct slot *s)
{
	struct gs_sample x;
	const struct gs_cluster *most = x.clusters;
	unsigned int good;
	struct fit f;

	s->fresh = 0;
	gs_clusters_sample(s->turns, s->n, &x);
	s->main.n = 0;
	if (x.nclusters && most->n >= ENOUGH && most->n * 2 > x.n)
		s->main = *most;
	if (s->us < LEARN_US)
		return;
	good = explained(&c->costs, s->us, &x);
	f = fit_two_k(s->us, &x);
	if (!f.explains)
		f = fit_moved(c, s, &x);
	if (is_good(&f, x.n) && f.explains >= good) {
		take_fit(c, s->us, &x, &f);
		return;
	}
	if (good * 10 >= x.n) {
		s->doubted = s->changed = false;
		s->cut.n = 0;
		return;
	}
	if (is_confirmed(c, s)) { /* if costs are in use, they are wrong */
		contradict(c, c->costs.save_basis, forget_save);
		s->cut = s->main;
	} else if (!s->main.n) {
		s->cut.n = 0;
	}
	s->changed &= s->n < TURNS;
	s->doubted = s->changed ||
		     (x.nclusters && most->n >= ENOUGH && most->mid >= slice_ns(s->us, NOMINAL_PS));
}

/* ---- what comes in --------------------------------------------------------------------------- */

static struct slot *slot_of(struct gs_calibration *c, uint64_t us)
{
	struct slot *oldest = c->slots;

	for (unsigned int i = 0; i < SLOTS; i++) {
		if (c->slots[i].us == us)
			return &c->slots[i];
		if (c->slots[i].used < oldest->used)
			oldest = &c->slots[i];
	}
	*oldest = (struct slot){ .us = us };
	return oldest;
}

/*
 * Notices when the GPU's clocks change, and the save with them: a few turns end soon after a slice,
 * all alike, but unlike those before. Then the slice's costs are unknown until new turns show them.
 */
static void watch(struct gs_calibration *c, struct slot *s, uint64_t length)
{
	struct gs_cut cut = gs_calibration_cut(c, s->us);
	uint64_t past;

	if (!cut.known || cut.first_low < cut.slice || length <= cut.slice)
		return;
	if (length >= cut.first_low) {
		/* a save may be longer than the slice */
		past = length - cut.first_low;
		if ((cut.periodic ? past % cut.slice : past) <= cut.first_high - cut.first_low) {
			s->odd = 0;
			return;
		}
	}
	past = cut.periodic ? length % cut.slice : length - cut.slice;
	if (past > (cut.first_high - cut.slice) * 3)
		return;
	if (!s->odd || apart(past, s->odd_ns) > WINDOW_NS) {
		s->odd = 0;
		s->odd_ns = past;
	}
	if (++s->odd < ODD)
		return;
	s->n = s->at = s->fresh = s->odd = 0;
	s->main.n = s->cut.n = 0;
	s->doubted = s->changed = true;
}

void gs_calibration_turn(struct gs_calibration *c, uint64_t id, uint64_t us, uint64_t length)
{
	struct slot *s;

	if (us > UINT32_MAX || length < slice_ns(us, UNIT_MIN_PS) ||
	    (us >= LEARN_US && length > SLICES_MAX * slice_ns(us, UNIT_MAX_PS)))
		return;
	s = slot_of(c, us);
	s->used = ++c->clock;
	if (us >= LEARN_US)
		watch(c, s, length);
	s->turns[s->at] = (struct gs_length){ length, id };
	s->at = (s->at + 1) % TURNS;
	s->n += s->n < TURNS;
	s->fresh++;
	if (s->fresh >= TURNS ||
	    (s->fresh >= (s->changed ? AT_ONCE : SOON) && !gs_calibration_cut(c, us).known))
		look(c, s);
}

/* True if at least a tenth of the gaps are about @ns long. */
static bool gaps_near(const struct gs_calibration *c, uint64_t ns)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < c->ngaps; i++)
		n += apart(c->gaps[i].ns, ns) <= WINDOW_NS;
	return n * 10 >= c->ngaps;
}

void gs_calibration_gap(struct gs_calibration *c, uint64_t ns)
{
	struct gs_sample x;

	c->gaps[c->gap_at].ns = ns;
	c->gap_at = (c->gap_at + 1) % GAPS;
	c->ngaps += c->ngaps < GAPS;
	if (c->ngaps < GAPS_ENOUGH || c->gap_at % GAPS_ENOUGH)
		return;
	gs_clusters_sample(c->gaps, c->ngaps, &x);
	if (x.nclusters && x.clusters->n * 2 > c->ngaps) {
		if (apart(x.clusters->mid, c->costs.switch_ns) * 2 > c->costs.switch_ns)
			contradict(c, c->costs.switch_basis, forget_switch);
		c->costs.switch_ns = x.clusters->mid;
		c->costs.switch_basis = GS_COST_CALIBRATED;
		c->costs.switch_at_s = 0;
	} else if (gs_cost_is_prior(c->costs.switch_basis) && !gaps_near(c, c->costs.switch_ns)) {
		contradict(c, c->costs.switch_basis, forget_switch);
	}
}

/* ---- what is asked --------------------------------------------------------------------------- */

const struct gs_costs *gs_calibration_costs(const struct gs_calibration *c)
{
	return &c->costs;
}

/*
 * True if turns of two TSGs are alike, but shorter than their nominal slice. Until a slice changes,
 * the log cannot tell whether these are services, or programs cut off by a slice that is really
 * shorter.
 */
static bool is_short(const struct slot *s)
{
	return s->us >= LEARN_US && s->main.n && s->main.maker[1] &&
	       s->main.mid < slice_ns(s->us, NOMINAL_PS);
}

const char *gs_calibration_save_unknown(const struct gs_calibration *c)
{
	bool cut = false, brief = false;

	if (c->costs.save_basis != GS_COST_UNKNOWN)
		return NULL;
	for (unsigned int i = 0; i < SLOTS; i++) {
		cut |= c->slots[i].cut.n > 0;
		brief |= is_short(&c->slots[i]);
	}
	if (cut)
		return "only turns of one slice are known: another slice, or gpusched qualify, "
		       "would tell the save";
	if (brief)
		return "turns are alike, but shorter than their slice: services, or slices that "
		       "last less than they say; another slice, or gpusched qualify, would tell";
	return "no programs have competed in a way that tells the save";
}

unsigned int gs_calibration_contradicted(const struct gs_calibration *c)
{
	return c->contradicted;
}

static const struct slot *find_slot(const struct gs_calibration *c, uint64_t us)
{
	for (unsigned int i = 0; i < SLOTS; i++)
		if (c->slots[i].us == us)
			return &c->slots[i];
	return NULL;
}

struct gs_cut gs_calibration_cut(const struct gs_calibration *c, uint64_t us)
{
	const struct slot *s = us ? find_slot(c, us) : NULL;
	const struct gs_costs *k = &c->costs;
	struct gs_cut cut = {
		.slice = slice_ns(us, NOMINAL_PS),
		.shortest = slice_ns(us, UNIT_MIN_PS),
		.longest = slice_ns(us, UNIT_MAX_PS),
		.shows = us >= LEARN_US,
	};

	if (s && s->cut.n) {
		cut.known = true;
		cut.first_low = s->cut.low - WINDOW_NS / 4;
		cut.first_high = s->cut.high + WINDOW_NS / 4;
		cut.longest = cut.first_high;
	} else if (us && k->unit_ps && !(s && s->doubted)) {
		cut.known = cut.periodic = true;
		cut.slice = cut.longest = slice_ns(us, k->unit_ps);
		cut.save = k->save_ns;
		cut.first_low = cut.slice + k->save_low_ns;
		cut.first_high = cut.slice + k->save_high_ns;
		/* CTA and WFI mode save less than CILP */
		cut.shortest = cut.slice + k->save_low_ns * 4 / 7;
	}
	if (cut.known)
		cut.shows = cut.slice >= SHOWS * (cut.first_high - cut.first_low);
	return cut;
}

/* ---- life ------------------------------------------------------------------------------------ */

void gs_calibration_begin(struct gs_calibration *c, const struct gs_costs *measured)
{
	*c = (struct gs_calibration){ .costs = *measured, .measured = *measured };
}

void gs_calibration_doubt(struct gs_calibration *c)
{
	struct gs_costs measured = c->measured;
	unsigned int contradicted = c->contradicted;

	gs_calibration_begin(c, &measured);
	c->contradicted = contradicted;
}

int gs_calibration_new(struct gs_calibration **ret)
{
	struct gs_calibration *c = calloc(1, sizeof(*c));

	if (!c)
		return -ENOMEM;
	*ret = c;
	return 0;
}

void gs_calibration_free(struct gs_calibration *c)
{
	free(c);
}
