// SPDX-License-Identifier: MIT
#include "qualify/window.h"

#include <string.h>

#include "account/clusters.h"
#include "basic/cleanup.h"

#define FEW 8u /* with fewer lengths than this, the result is unknown */

void qualify_window_begin(struct qualify_window *w, const int *ours, unsigned int n)
{
	w->n = 0;
	w->records = w->start_ns = w->end_ns = 0;
	memset(w->ours, 0, sizeof(w->ours));
	for (unsigned int i = 0; i < n && i < QUALIFY_IDS; i++)
		w->ours[i] = (uint64_t)ours[i];
}

static bool is_ours(const struct qualify_window *w, uint32_t pid)
{
	for (unsigned int i = 0; i < QUALIFY_IDS && w->ours[i]; i++)
		if (w->ours[i] == pid)
			return true;
	return false;
}

static void start(struct qualify_window *w, uint64_t id, uint64_t ns)
{
	if (w->n && w->end_ns && id != w->id)
		w->v[w->n - 1].gap_ns = ns - w->end_ns;
	w->end_ns = 0;
	w->id = id;
	w->start_ns = ns;
}

static void end(struct qualify_window *w, uint64_t id, uint64_t ns)
{
	w->end_ns = 0;
	if (w->start_ns && id == w->id && w->n < QUALIFY_TURNS) {
		w->v[w->n++] = (struct qualify_turn){ .id = id, .ns = ns - w->start_ns };
		w->end_ns = ns;
	}
	w->start_ns = 0;
}

void qualify_window_feed(struct qualify_window *w, const struct gs_switchlog_record *rec)
{
	uint64_t id = rec->pid ? rec->pid : (1ull << 32 | rec->context);

	w->records++;
	if (rec->sw.gap || (rec->pid && !is_ours(w, rec->pid)))
		w->start_ns = w->end_ns = 0;
	if (rec->pid && !is_ours(w, rec->pid))
		return;
	if (rec->sw.start)
		start(w, id, rec->sw.ns);
	else
		end(w, id, rec->sw.ns);
}

unsigned int qualify_window_count(const struct qualify_window *w, uint64_t ret_id[QUALIFY_IDS],
				  unsigned int ret_turns[QUALIFY_IDS])
{
	unsigned int n = 0, i;

	for (unsigned int k = 0; k < w->n; k++) {
		for (i = 0; i < n && ret_id[i] != w->v[k].id; i++)
			;
		if (i == QUALIFY_IDS)
			continue;
		if (i == n) {
			ret_id[n] = w->v[k].id;
			ret_turns[n++] = 0;
		}
		ret_turns[i]++;
		for (; i && ret_turns[i] > ret_turns[i - 1]; i--) {
			uint64_t id = ret_id[i];
			unsigned int turns = ret_turns[i];

			ret_id[i] = ret_id[i - 1];
			ret_turns[i] = ret_turns[i - 1];
			ret_id[i - 1] = id;
			ret_turns[i - 1] = turns;
		}
	}
	return n;
}

/*
 * Takes a sample of the turns' lengths (or of the gaps after them) of program @id (0: of all
 * programs). It has the first lengths above @than_ns, as many as a sample holds.
 */
static void take(const struct qualify_window *w, uint64_t id, bool gaps, double than_ns,
		 struct gs_sample *ret)
{
	struct gs_length lengths[GS_SAMPLE_MAX];
	unsigned int n = 0;

	for (unsigned int i = 0; i < w->n && n < GS_SAMPLE_MAX; i++) {
		uint64_t ns = gaps ? w->v[i].gap_ns : w->v[i].ns;

		if (ns && (double)ns > than_ns && (!id || w->v[i].id == id))
			lengths[n++] = (struct gs_length){ .ns = ns };
	}
	gs_clusters_sample(lengths, n, ret);
}

/* The quantile 1/@parts of the lengths; 0: too few lengths. */
static double quantile(const struct gs_sample *x, unsigned int parts)
{
	unsigned int at = x->n / parts;

	return x->n < FEW ? 0 : (double)x->lengths[at].ns;
}

double qualify_window_main(const struct qualify_window *w, uint64_t id, bool gaps)
{
	struct gs_sample x;

	take(w, id, gaps, 0, &x);
	if (x.n < FEW || !x.nclusters || x.clusters->n * 2 <= x.n)
		return 0;
	return (double)x.clusters->mid;
}

double qualify_window_low(const struct qualify_window *w, double than_ns)
{
	struct gs_sample x;

	take(w, 0, false, than_ns, &x);
	return quantile(&x, 20);
}

double qualify_window_middle(const struct qualify_window *w, uint64_t id)
{
	struct gs_sample x;

	take(w, id, false, 0, &x);
	return quantile(&x, 2);
}

bool qualify_window_unit(double a_us, double a_ns, double b_us, double b_ns, double *ret_unit,
			 double *ret_save_ns)
{
	double unit = (b_ns - a_ns) / (b_us - a_us) / 1000, save = a_ns - a_us * unit * 1000;

	/* plausible: one us of a slice lasts 0.5 to 4 us, and saving takes some time */
	if (!(a_ns > 0) || !(b_ns > a_ns) || unit < 0.5 || unit > 4 || save <= 0)
		return false;
	*ret_unit = unit;
	*ret_save_ns = save;
	return true;
}
