/* SPDX-License-Identifier: MIT */
/* scenario_metric.c - finds a result's figures by name, and makes the scenario's checks */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/sample.h"
#include "sim/scenario.h"

struct times {
	uint64_t *ns;
	size_t n;
};

/*
 * Latencies of several processes, and durations of their requests' pieces, each as one sorted
 * array.
 */
struct pool {
	struct times all, pieces;
	double rate, rate_min, rate_max, share, switches, suspended_pct, requests, missed, launches;
	double lost, longest, died;
	struct sim_judged judged;
	size_t processes;
};

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double rate_of(const struct sim_process_result *p)
{
	double n = p->group->kind == SIM_KIND_LC ? (double)p->nlatency : (double)p->kernels;

	return p->ran_s > 0 ? n / p->ran_s : 0;
}

static void append(struct times *t, const uint64_t *ns, size_t n)
{
	if (n)
		memcpy(t->ns + t->n, ns, n * sizeof(*ns));
	t->n += n;
}

static void add(struct pool *o, const struct sim_process_result *p, double measured_s)
{
	double rate = rate_of(p), longest = (double)p->longest_ns / 1000;

	append(&o->all, p->latency_ns, p->nlatency);
	append(&o->pieces, p->piece_ns, p->npieces);
	o->rate += rate;
	o->rate_min = !o->processes || rate < o->rate_min ? rate : o->rate_min;
	o->rate_max = rate > o->rate_max ? rate : o->rate_max;
	o->share += 100 * (double)p->gpu_time_ns / (measured_s * 1e9);
	o->suspended_pct += p->ran_s > 0 ? 100 * (double)p->suspended_ns / 1e9 / p->ran_s : 0;
	o->switches += (double)p->switches;
	o->requests += (double)p->nlatency;
	o->missed += (double)p->missed;
	o->launches += (double)p->launches;
	o->lost = p->lost_pct > o->lost ? p->lost_pct : o->lost;
	o->died += p->died != SIM_LIVES;
	o->longest = longest > o->longest ? longest : o->longest;
	o->judged.right += p->judged.right;
	o->judged.wrong += p->judged.wrong;
	o->judged.cut += p->judged.cut;
	o->judged.cut_unknown += p->judged.cut_unknown;
	o->judged.drained_unknown += p->judged.drained_unknown;
	o->processes++;
}

static int gather(const struct sim_result *r, const char *target, struct pool *ret)
{
	size_t n = 0, pieces = 0;

	for (size_t i = 0; i < r->nprocesses; i++) {
		if (!sim_scenario_matches(target, r->processes[i].group, r->processes[i].index))
			continue;
		n += r->processes[i].nlatency;
		pieces += r->processes[i].npieces;
	}
	*ret = (struct pool){ .all.ns = malloc((n + 1) * sizeof(uint64_t)),
			      .pieces.ns = malloc((pieces + 1) * sizeof(uint64_t)) };
	if (!ret->all.ns || !ret->pieces.ns)
		return -ENOMEM;
	for (size_t i = 0; i < r->nprocesses; i++)
		if (sim_scenario_matches(target, r->processes[i].group, r->processes[i].index))
			add(ret, &r->processes[i], r->measured_s);
	qsort(ret->all.ns, ret->all.n, sizeof(uint64_t), by_value);
	qsort(ret->pieces.ns, ret->pieces.n, sizeof(uint64_t), by_value);
	return ret->processes ? 0 : -ENOENT;
}

static int quantile(const struct times *o, double q, double *ret)
{
	if (!o->n)
		return -ENODATA;
	*ret = (double)o->ns[gs_quantile_at(o->n, q)] / 1000;
	return 0;
}

static int value(const struct pool *o, double v, double *ret)
{
	*ret = v;
	return 0;
}

static int mean(const struct times *o, double *ret)
{
	double sum = 0;

	if (!o->n)
		return -ENODATA;
	for (size_t i = 0; i < o->n; i++)
		sum += (double)o->ns[i];
	*ret = sum / (double)o->n / 1000;
	return 0;
}

/*
 * known_pct(): among turns that a slice ended, the part for which the account knows the reason.
 * wrong_pct(): among all turns, the part for which the account gives a wrong reason.
 */
static int known_pct(const struct sim_judged *j, double *ret)
{
	if (!j->cut)
		return -ENODATA;
	*ret = 100 * (double)(j->cut - j->cut_unknown) / (double)j->cut;
	return 0;
}

static int wrong_pct(const struct sim_judged *j, double *ret)
{
	uint64_t all = j->right + j->wrong + j->cut_unknown + j->drained_unknown;

	if (!all)
		return -ENODATA;
	*ret = 100 * (double)j->wrong / (double)all;
	return 0;
}

#define METRICS(X) \
	X("p50_us", quantile(&o->all, 0.50, ret)) \
	X("p90_us", quantile(&o->all, 0.90, ret)) \
	X("p99_us", quantile(&o->all, 0.99, ret)) \
	X("max_us", quantile(&o->all, 1, ret)) \
	X("piece_p50_us", quantile(&o->pieces, 0.50, ret)) \
	X("piece_p99_us", quantile(&o->pieces, 0.99, ret)) \
	X("mean_us", mean(&o->all, ret)) \
	X("rate", value(o, o->rate, ret)) \
	X("rate_min", value(o, o->rate_min, ret)) \
	X("rate_max", value(o, o->rate_max, ret)) \
	X("share_pct", value(o, o->share, ret)) \
	X("suspended_pct", value(o, o->suspended_pct / (double)o->processes, ret)) \
	X("switches", value(o, o->switches, ret)) \
	X("requests", value(o, o->requests, ret)) \
	X("lost_pct", value(o, o->lost, ret)) \
	X("died", value(o, o->died, ret)) \
	X("longest_us", value(o, o->longest, ret)) \
	X("known_pct", known_pct(&o->judged, ret)) \
	X("wrong_pct", wrong_pct(&o->judged, ret)) \
	X("missed_pct", value(o, o->requests ? 100 * o->missed / o->requests : 0, ret))

static const char *const metric_names[] = {
#define X(name, how) name,
	METRICS(X)
#undef X
};

static int pool_metric(const struct pool *o, const char *metric, double *ret)
{
#define X(name, how) \
	if (!strcmp(metric, name)) \
		return how;
	METRICS(X)
#undef X
	return -ENOENT;
}

static const char *split(const char *metric, char *target, size_t size)
{
	const char *dot = strrchr(metric, '.');

	if (!dot || (size_t)(dot - metric) >= size)
		return NULL;
	memcpy(target, metric, (size_t)(dot - metric));
	target[dot - metric] = 0;
	return dot + 1;
}

int sim_result_metric(const struct sim_result *r, const char *metric, double *ret)
{
	char target[SIM_NAME_LEN];
	const char *name = split(metric, target, sizeof(target));
	struct pool o;
	int err;

	if (!name)
		return -ENOENT;
	err = gather(r, target, &o);
	if (!err)
		err = pool_metric(&o, name, ret);
	free(o.all.ns);
	free(o.pieces.ns);
	return err;
}

int sim_metric_check(const struct sim_scenario *s, const char *metric, struct gs_error *err)
{
	char target[SIM_NAME_LEN], all[256] = "";
	const char *name = split(metric, target, sizeof(target));
	bool known = false;

	for (size_t i = 0; i < GS_COUNT(metric_names); i++) {
		known |= name && !strcmp(metric_names[i], name);
		snprintf(all + strlen(all), sizeof(all) - strlen(all), " %s", metric_names[i]);
	}
	if (!known)
		return gs_fail(err, -EINVAL, "'%s' is not NAME.METRIC, where METRIC is one of%s",
			       metric, all);
	for (size_t i = 0; i < s->ngroups; i++)
		for (unsigned int k = 0; k < s->groups[i].count; k++)
			if (sim_scenario_matches(target, &s->groups[i], k))
				return 0;
	return gs_fail(err, -EINVAL, "'%s': no process is '%s'", metric, target);
}

static bool holds(const struct sim_check *c, double v)
{
	switch (c->op) {
	case SIM_CHECK_MAX:
		return v <= c->limit;
	case SIM_CHECK_MIN:
		return v >= c->limit;
	default:
		return v >= c->limit * (1 - c->within_pct / 100) &&
		       v <= c->limit * (1 + c->within_pct / 100);
	}
}

/*
 * Makes the checks. A check fails if its figure is unknown. The result fails if the policy failed.
 */
void sim_metric_check_all(struct sim_result *r)
{
	const struct sim_scenario *s = r->scenario;

	r->passed = !r->policy_failure[0];
	r->checks = calloc(s->nchecks + 1, sizeof(*r->checks));
	if (!r->checks) {
		r->passed = false;
		return;
	}
	for (size_t i = 0; i < s->nchecks; i++) {
		const struct sim_check *c = &s->checks[i];
		struct sim_check_result *o = &r->checks[i];
		double d;

		o->known = sim_result_metric(r, c->metric, &o->value) == 0;
		if (o->known && c->divisor[0]) {
			o->known = sim_result_metric(r, c->divisor, &d) == 0 && d != 0;
			o->value = o->known ? o->value / d : 0;
		}
		o->ok = o->known && holds(c, o->value);
		r->passed &= o->ok || c->missed;
	}
}
