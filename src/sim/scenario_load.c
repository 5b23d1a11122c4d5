/* SPDX-License-Identifier: MIT */
/*
 * scenario_load.c - reads scenario files, by one table of keys per kind of section
 */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "basic/ini_text.h"
#include "basic/parse.h"
#include "sim/scenario.h"
#include "sim/scenario_rows.h"

#define MAX_GROUPS 1000u
#define MAX_PROCESSES 10000u
#define MAX_ACTIONS 1000u
#define MAX_CHECKS 100u
#define MAX_KERNELS 100000u /* of one request of a trace */

enum type { TEXT, UINT, U64, DOUBLE, YESNO, WORD };

struct key {
	const char *name;
	enum type type;
	size_t offset, size;
	double min, max;
	/* WORD: NULL-terminated list of words; the value is the word's index */
	const char *const *words;
};

const char *const sim_kind_words[] = { "lc", "be", "persistent", NULL };
static const char *const sync_words[] = { "no", "yes", "turns", "spin", NULL };
static const char *const arrival_words[] = { "poisson", "periodic", "closed", NULL };
static const char *const hold_words[] = { "none", "hint-one", "hint", "request", NULL };
static const char *const request_words[] = { "unseen", "agent", "hints", NULL };
static const char *const level_words[] = { GPUSCHED_INTERLEAVE_WORDS, NULL };
static const char *const mode_words[] = { GPUSCHED_PREEMPT_WORDS, NULL };
static const char *const do_words[] = { "set", "suspend", "resume", "preempt", NULL };
const char *const sim_facts_words[] = { "stock", "all", NULL };
static const char *const order_words[] = { "old-first", "new-first", NULL };

#define AT(type, member) offsetof(struct type, member), sizeof(((struct type *)0)->member)
#define S(member) AT(sim_scenario, member)
#define G(member) AT(sim_group, member)
#define R(member) AT(sim_rotate, member)
#define A(member) AT(sim_action, member)

static const struct key scenario_keys[] = {
	{ "title", TEXT, S(title) },
	{ "basis", TEXT, S(basis) },
	{ "gpus", UINT, S(gpus), 1, 64 },
	{ "duration_s", DOUBLE, S(duration_s), 0.001, 86400 },
	{ "warmup_s", DOUBLE, S(warmup_s), 0, 86400 },
	{ "seed", U64, S(seed), 0, 9e15 },
	{ "policy", TEXT, S(policy) },
	{ "facts", WORD, S(facts), 0, 0, sim_facts_words },
};

static const struct key group_keys[] = {
	{ "class", TEXT, G(class_name) },
	{ "gpu_instance", UINT, G(gpu_instance), 0, GPUSCHED_MAX_GPU_INSTANCES - 1 },
	{ "compute_instance", UINT, G(compute_instance), 0, GPUSCHED_MAX_COMPUTE_INSTANCES - 1 },
	{ "count", UINT, G(count), 1, MAX_PROCESSES },
	{ "kind", WORD, G(kind), 0, 0, sim_kind_words },
	{ "arrivals", WORD, G(arrivals), 0, 0, arrival_words },
	{ "hold", WORD, G(hold), 0, 0, hold_words },
	{ "requests", WORD, G(requests), 0, 0, request_words },
	{ "kernel_us", DOUBLE, G(kernel_us), 0.001, 1e8 },
	{ "block_us", DOUBLE, G(block_us), 0.001, 1e8 },
	{ "fill_pct", DOUBLE, G(fill_pct), 0.01, 100 },
	{ "kernels", UINT, G(kernels), 1, 10000 },
	{ "wait_every", UINT, G(wait_every), 0, 10000 },
	{ "burst", UINT, G(burst), 1, 1000 },
	{ "launch_gap_us", DOUBLE, G(launch_gap_us), 0, 1e8 },
	{ "gap_us", DOUBLE, G(gap_us), 0, 1e9 },
	{ "cv", DOUBLE, G(cv), 1, 100 },
	{ "prep_us", DOUBLE, G(prep_us), 0, 1e8 },
	{ "hold_limit_us", DOUBLE, G(hold_limit_us), 1, 1e8 },
	{ "sync", WORD, G(sync), 0, 0, sync_words },
	{ "uid", UINT, G(uid), 0, 4e9 },
	{ "server", TEXT, G(server) },
	{ "priority", UINT, G(priority), 0, 1 },
	{ "sm_pct", UINT, G(sm_pct), 1, 100 },
	{ "in_flight", UINT, G(in_flight), 1, 64 },
	{ "start_s", DOUBLE, G(start_s), 0, 86400 },
	{ "start_step_s", DOUBLE, G(start_step_s), 0, 86400 },
	{ "stop_s", DOUBLE, G(stop_s), 0, 86400 },
	{ "begin_s", DOUBLE, G(begin_s), 0, 86400 },
	{ "timeslice_us", U64, G(timeslice_us), GPUSCHED_TIMESLICE_MIN_US,
	  GPUSCHED_TIMESLICE_MAX_US },
	{ "interleave", WORD, G(interleave), 0, 0, level_words },
	{ "preempt_mode", WORD, G(preempt_mode), 0, 0, mode_words },
	{ "suspended", YESNO, G(suspended) },
	{ "adopted", YESNO, G(adopted) },
	{ "past_share", YESNO, G(past_share) },
	{ "limit", UINT, G(limit), 0, GPUSCHED_LIMIT_MAX_PCT },
	{ "request", UINT, G(request), 0, GPUSCHED_REQUEST_MAX_PCT },
	{ "cgroup_limit", UINT, G(cgroup_limit), 0, GPUSCHED_LIMIT_MAX_PCT },
	{ "cgroup_request", UINT, G(cgroup_request), 0, GPUSCHED_REQUEST_MAX_PCT },
	{ "user_limit", UINT, G(user_limit), 0, GPUSCHED_LIMIT_MAX_PCT },
	{ "own_cgroups", YESNO, G(own_cgroups) },
	{ "weight", UINT, G(weight), GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX },
	{ "deadline_us", U64, G(deadline_us), 1, 1e9 },
	{ "cgroup", U64, G(cgroup_id), 1, 9e15 },
	{ "job", U64, G(job), 1, 9e15 },
	{ "dies_after_s", DOUBLE, G(dies_after_s), 0.001, 86400 },
};

static const struct key rotate_keys[] = {
	{ "target", TEXT, R(target) },
	{ "period_ms", DOUBLE, R(period_ms), 1, 1e6 },
	{ "order", WORD, R(new_first), 0, 0, order_words },
};

static const struct key action_keys[] = {
	{ "at_ms", DOUBLE, A(at_ms), 0, 1e8 },
	{ "target", TEXT, A(target) },
	{ "do", WORD, A(what), 0, 0, do_words },
};

struct loading {
	struct sim_scenario *s;
	const char *dir;
	struct gs_error err;
};

static int find_word(const struct key *k, const char *text, struct gs_error *err)
{
	char all[128] = "";

	for (int i = 0; k->words[i]; i++) {
		if (!strcmp(k->words[i], text))
			return i;
		if (i)
			strncat(all, ", ", sizeof(all) - strlen(all) - 1);
		strncat(all, k->words[i], sizeof(all) - strlen(all) - 1);
	}
	return gs_fail(err, -EINVAL, "must be one of %s", all);
}

static int store_number(const struct key *k, const char *text, void *field, struct gs_error *err)
{
	uint64_t u;
	int r;

	if (k->type == DOUBLE)
		return gs_parse_double_in(gs_parse_unit(k->name), text, k->min, k->max, field, err);
	r = gs_parse_u64_in(gs_parse_unit(k->name), text, (uint64_t)k->min, (uint64_t)k->max, &u,
			    err);
	if (r < 0)
		return r;
	if (k->type == U64)
		*(uint64_t *)field = u;
	else
		*(unsigned int *)field = (unsigned int)u;
	return 0;
}

static int store(const struct key *k, const char *text, void *field, struct gs_error *err)
{
	int r;

	switch (k->type) {
	case TEXT:
		if (strlen(text) >= k->size)
			return gs_fail(err, -EINVAL, "longer than %zu characters", k->size - 1);
		strcpy(field, text);
		return 0;
	case YESNO:
		return gs_parse_bool(text, field, err);
	case WORD:
		r = find_word(k, text, err);
		if (r < 0)
			return r;
		if (k->size == sizeof(bool))
			*(bool *)field = r;
		else
			*(unsigned int *)field = (unsigned int)r;
		return 0;
	default:
		return store_number(k, text, field, err);
	}
}

static int store_in(const struct key *keys, size_t n, void *base, const char *section,
		    const char *name, const char *value, struct gs_error *err)
{
	for (size_t i = 0; i < n; i++) {
		struct gs_error inner = { 0 };

		if (strcmp(keys[i].name, name))
			continue;
		if (store(&keys[i], value, (char *)base + keys[i].offset, &inner) < 0)
			return gs_fail(err, -EINVAL, "[%s] %s = %s: %s", section, name, value,
				       inner.text);
		return 0;
	}
	return gs_fail(err, -EINVAL, "[%s] has no key '%s'", section, name);
}
#define STORE(keys, base) store_in(keys, GS_COUNT(keys), base, section, name, value, &l->err)

/* Grows an array by one zeroed element. */
static void *append(void *array, size_t *n, size_t size, unsigned int max, struct gs_error *err)
{
	void **p = array;
	char *grown;

	if (*n >= max) {
		gs_fail(err, -E2BIG, "more than %u of one kind of section", max);
		return NULL;
	}
	grown = reallocarray(*p, *n + 1, size);
	if (!grown) {
		gs_fail(err, -ENOMEM, "out of memory");
		return NULL;
	}
	*p = grown;
	memset(grown + *n * size, 0, size);
	return grown + (*n)++ * size;
}

static struct sim_group *find_group(struct loading *l, const char *name)
{
	struct sim_scenario *s = l->s;
	struct sim_group *g;

	for (size_t i = 0; i < s->ngroups; i++)
		if (!strcmp(s->groups[i].name, name))
			return &s->groups[i];
	if (!name[0] || strlen(name) >= SIM_NAME_LEN || strpbrk(name, "[]. /@")) {
		gs_fail(&l->err, -EINVAL, "'%s' is not a name for processes", name);
		return NULL;
	}
	g = append(&s->groups, &s->ngroups, sizeof(*g), MAX_GROUPS, &l->err);
	if (!g)
		return NULL;
	strcpy(g->name, name);
	g->count = 1;
	g->gpu_instance = g->compute_instance = GPUSCHED_NO_INSTANCE;
	g->fill_pct = 100;
	g->kernels = 1;
	g->burst = 1;
	g->sm_pct = 100;
	g->in_flight = 4;
	g->hold_limit_us = 2000;
	g->prep_us = 300;
	g->timeslice_us = GPUSCHED_CUDA_TIMESLICE_US;
	g->interleave = GPUSCHED_INTERLEAVE_MEDIUM;
	g->preempt_mode = GPUSCHED_PREEMPT_CILP;
	g->weight = 100;
	g->uid = 1000;
	return g;
}

/*
 * A file that a scenario names: relative to the scenario's folder if it is there, or else to the
 * current one.
 */
static const char *find_beside(const struct loading *l, const char *value, char *path, size_t size)
{
	if (value[0] != '/' && strcmp(l->dir, ".") &&
	    snprintf(path, size, "%s/%s", l->dir, value) < (int)size && access(path, F_OK) == 0)
		return path;
	return value;
}

/* Reads arrivals from a file. */
static int read_trace(struct loading *l, struct sim_group *g, const char *value)
{
	struct gs_arrivals trace;
	char path[PATH_MAX];
	int r = gs_arrivals_read(find_beside(l, value, path, sizeof(path)), false, &trace, &l->err);

	if (r)
		return r;
	gs_arrivals_free(&g->trace);
	g->trace = trace;
	g->arrivals = SIM_ARRIVE_TRACE;
	return 0;
}

static int group_key(struct loading *l, const char *section, const char *name, const char *value)
{
	struct sim_group *g = find_group(l, section + strlen("process "));
	struct gs_error inner = { 0 };
	uint64_t gpu;

	if (!g)
		return -EINVAL;
	if (!strcmp(name, "arrivals") && gs_arrivals_is_file(value))
		return read_trace(l, g, value);
	if (strcmp(name, "gpu"))
		return STORE(group_keys, g);
	g->spread = !strcmp(value, "spread");
	if (g->spread)
		return 0;
	if (gs_parse_u64(value, 0, 63, &gpu, &inner) < 0)
		return gs_fail(&l->err, -EINVAL, "[%s] gpu = %s: %s (or 'spread')", section, value,
			       inner.text);
	g->gpu = (unsigned int)gpu;
	return 0;
}

static int action_setting(struct loading *l, struct sim_action *a, const char *section,
			  const char *name, const char *value)
{
	struct sim_group g = { 0 };
	int r = STORE(group_keys, &g);

	if (r < 0)
		return r;
	if (!strcmp(name, "timeslice_us")) {
		a->set.timeslice_us = (uint32_t)g.timeslice_us;
		a->set.valid |= GPUSCHED_TIMESLICE;
	} else if (!strcmp(name, "interleave")) {
		a->set.interleave = (uint8_t)g.interleave;
		a->set.valid |= GPUSCHED_INTERLEAVE;
	} else {
		a->set.preempt_mode = (uint8_t)g.preempt_mode;
		a->set.valid |= GPUSCHED_PREEMPT_MODE;
	}
	return 0;
}

/* Reads a key of an action. "at_ms" begins a new action; its other keys follow. */
static int action_key(struct loading *l, const char *section, const char *name, const char *value)
{
	struct sim_scenario *s = l->s;
	struct sim_action *a = s->nactions ? &s->actions[s->nactions - 1] : NULL;

	if (!strcmp(name, "at_ms"))
		a = append(&s->actions, &s->nactions, sizeof(*a), MAX_ACTIONS, &l->err);
	else if (!a)
		return gs_fail(&l->err, -EINVAL, "[%s] must begin with at_ms", section);
	if (!a)
		return -ENOMEM;
	if (!strcmp(name, "timeslice_us") || !strcmp(name, "interleave") ||
	    !strcmp(name, "preempt_mode"))
		return action_setting(l, a, section, name, value);
	return STORE(action_keys, a);
}

/*
 * Splits "NAME.METRIC / NAME.METRIC <". The parser inih has cut the line "be.rate / lc.rate <= 3"
 * at its first '=', so @name ends with '<'.
 */
static int split_metric(struct sim_check *c, const char *name)
{
	size_t n = strlen(name);
	const char *slash;

	if (n && (name[n - 1] == '<' || name[n - 1] == '>')) {
		c->op = name[n - 1] == '<' ? SIM_CHECK_MAX : SIM_CHECK_MIN;
		n--;
	}
	while (n && name[n - 1] == ' ')
		n--;
	slash = memmem(name, n, " / ", 3);
	if (slash) {
		const char *d = slash + 3;

		if ((size_t)(name + n - d) >= sizeof(c->divisor))
			return -EINVAL;
		memcpy(c->divisor, d, (size_t)(name + n - d));
		n = (size_t)(slash - name);
	}
	if (!n || n >= sizeof(c->metric))
		return -EINVAL;
	memcpy(c->metric, name, n);
	return 0;
}

/*
 * Reads "NAME.METRIC <= 350" in [expect], or "NAME.METRIC = 1536 within 20%" in the other sections.
 */
static int check_key(struct loading *l, const char *section, const char *name, const char *value)
{
	struct sim_scenario *s = l->s;
	struct sim_check *c;
	bool reference = strcmp(section, "expect") != 0;
	char *end;

	c = append(&s->checks, &s->nchecks, sizeof(*c), MAX_CHECKS, &l->err);
	if (!c)
		return -ENOMEM;
	c->op = SIM_CHECK_REFERENCE;
	c->missed = !strcmp(section, "missed");
	snprintf(c->text, sizeof(c->text), "%s= %s", name, value);
	if (reference)
		snprintf(c->text, sizeof(c->text), "%s = %s", name, value);
	if (split_metric(c, name) < 0 || reference != (c->op == SIM_CHECK_REFERENCE))
		goto bad;
	c->limit = strtod(value, &end);
	if (end == value || !isfinite(c->limit))
		goto bad;
	if (!reference)
		return *end ? gs_fail(&l->err, -EINVAL, "[%s] %s: '%s' is not a number", section,
				      c->text, value)
			    : 0;
	if (sscanf(end, " within %lf", &c->within_pct) != 1 || c->within_pct <= 0 ||
	    !strchr(end, '%'))
		goto bad;
	return 0;
bad:
	return gs_fail(&l->err, -EINVAL, "[%s] %s: write %s", section, c->text,
		       reference ? "NAME.METRIC = 1536 within 20%"
				 : "NAME.METRIC <= 350 or NAME.METRIC >= 900");
}

/* Reads a policy: a name or a path. */
static int policy_key(struct loading *l, const char *section, const char *name, const char *value)
{
	struct sim_scenario *s = l->s;
	char path[PATH_MAX];

	if (strpbrk(value, "/."))
		value = find_beside(l, value, path, sizeof(path));
	return STORE(scenario_keys, s);
}

/* Reads OPERATION=STATUS[:applied|:refused][:TIMES], for example suspend=0x3:applied:2. */
static int fault_key(struct loading *l, const char *section, const char *value)
{
	char op[24], word[9] = "refused";
	struct sim_fault f = { .op = GS_RM_OP_MAX }, *to;
	int end = 0, n = sscanf(value, "%23[^=]=%" SCNi32 "%n", op, (int32_t *)&f.status, &end);
	const char *rest = value + end;

	for (unsigned int i = 0; n == 2 && i < GS_RM_OP_MAX; i++)
		if (!strcmp(op, gs_rm_op_name(i)))
			f.op = i;
	end = 0;
	if (sscanf(rest, ":%8[a-z]%n", word, &end) == 1)
		rest += end;
	end = 0;
	if (sscanf(rest, ":%u%n", &f.times, &end) == 1)
		rest += end;
	f.applied = !strcmp(word, "applied");
	if (n != 2 || f.op == GS_RM_OP_MAX || !f.status || *rest ||
	    (!f.applied && strcmp(word, "refused")))
		return gs_fail(&l->err, -EINVAL,
			       "[%s] fault = %s: write OPERATION=STATUS[:applied|:refused][:TIMES]",
			       section, value);
	to = append(&l->s->faults, &l->s->nfaults, sizeof(*to), MAX_ACTIONS, &l->err);
	if (!to)
		return -ENOMEM;
	*to = f;
	return 0;
}

static int scenario_key(struct loading *l, const char *section, const char *name, const char *value)
{
	struct sim_scenario *s = l->s;
	CLEANUP_FREE char *error = NULL;
	char path[PATH_MAX];
	int r;

	if (!strcmp(name, "option")) {
		if (s->noptions == SIM_MAX_OPTIONS || strlen(value) >= sizeof(s->options[0]) ||
		    !strchr(value, '='))
			return gs_fail(&l->err, -EINVAL, "[scenario] option = %s: not key=value",
				       value);
		strcpy(s->options[s->noptions++], value);
		return 0;
	}
	if (!strcmp(name, "fault"))
		return fault_key(l, section, value);
	if (!strcmp(name, "policy"))
		return policy_key(l, section, name, value);
	if (strcmp(name, "model"))
		return STORE(scenario_keys, s);
	if (snprintf(path, sizeof(path), "%s/%s", l->dir, value) >= (int)sizeof(path))
		return gs_fail(&l->err, -ENAMETOOLONG, "[scenario] model: the path is too long");
	r = sim_params_load(value[0] == '/' ? value : path, &s->params, &error);
	if (r < 0)
		return gs_fail(&l->err, r, "[scenario] model = %s: %s", value,
			       error ? error : "no such file");
	return 0;
}

/* Reads a key of a row: one of [scenario], or GROUP.KEY of a group that is there already. */
static int row_key(struct loading *l, const char *section, const char *name, const char *value)
{
	const char *dot = strchr(name, '.');
	char group[SIM_NAME_LEN + 8];

	if (!dot)
		return scenario_key(l, section, name, value);
	snprintf(group, sizeof(group), "process %.*s", (int)(dot - name), name);
	for (size_t i = 0; i < l->s->ngroups; i++)
		if (!strcmp(l->s->groups[i].name, group + strlen("process ")))
			return group_key(l, group, dot + 1, value);
	return gs_fail(&l->err, -EINVAL, "[%s] %s: no [%s] is above", section, name, group);
}

/* True if the text is UTF-8, as JSON needs it. */
static bool is_utf8(const char *text)
{
	json_t *s = json_string(text);

	json_decref(s);
	return s;
}

static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct loading *l = user;
	int r;

	if (!is_utf8(section) || !is_utf8(name) || !is_utf8(value))
		r = gs_fail(&l->err, -EINVAL, "not valid UTF-8");
	else if (!strcmp(section, "scenario"))
		r = scenario_key(l, section, name, value);
	else if (!strncmp(section, "row ", 4))
		r = row_key(l, section, name, value);
	else if (!strncmp(section, "process ", 8))
		r = group_key(l, section, name, value);
	else if (!strcmp(section, "actions"))
		r = action_key(l, section, name, value);
	else if (!strcmp(section, "rotate")) {
		l->s->rotate.on = true;
		r = STORE(rotate_keys, &l->s->rotate);
	} else if (!strcmp(section, "expect") || !strcmp(section, "reference") ||
		   !strcmp(section, "missed"))
		r = check_key(l, section, name, value);
	else
		r = gs_fail(&l->err, -EINVAL,
			    "[%s]: sections are scenario, process NAME, actions, rotate, expect, "
			    "reference, missed, row NAME",
			    section);
	return r >= 0;
}

bool sim_scenario_matches(const char *target, const struct sim_group *g, unsigned int index)
{
	size_t n = strlen(g->name);

	if (target[0] == '@')
		return !strcmp(target + 1, g->class_name);
	if (!strcmp(target, g->name))
		return true;
	return !strncmp(target, g->name, n) && target[n] == '[' &&
	       strtoul(target + n + 1, NULL, 10) == index && strchr(target + n, ']');
}

static bool target_exists(const struct sim_scenario *s, const char *target)
{
	for (size_t i = 0; i < s->ngroups; i++)
		for (unsigned int k = 0; k < s->groups[i].count; k++)
			if (sim_scenario_matches(target, &s->groups[i], k))
				return true;
	return false;
}

static int validate_trace(const struct sim_group *g, struct gs_error *err)
{
	if (g->kind != SIM_KIND_LC || g->burst > 1)
		return gs_fail(err, -EINVAL, "[process %s]: a trace needs kind = lc and burst = 1",
			       g->name);
	for (size_t i = 0; i < g->trace.n; i++)
		if (g->trace.at[i].size > MAX_KERNELS / g->kernels)
			return gs_fail(err, -EINVAL,
				       "[process %s]: a request of the trace has more than %u "
				       "kernels (its line %u)",
				       g->name, MAX_KERNELS, g->trace.at[i].line);
	return 0;
}

static int validate_group(const struct sim_scenario *s, struct sim_group *g, struct gs_error *err)
{
	if (!g->kernel_us)
		return gs_fail(err, -EINVAL, "[process %s] needs kernel_us", g->name);
	if (g->block_us > g->kernel_us)
		return gs_fail(err, -EINVAL, "[process %s] block_us is longer than kernel_us",
			       g->name);
	if (!g->server[0] && (g->priority || g->sm_pct != 100))
		return gs_fail(err, -EINVAL, "[process %s]: priority and sm_pct need a server",
			       g->name);
	if (g->server[0] && (g->stop_s || g->spread || g->suspended))
		return gs_fail(
			err, -EINVAL,
			"[process %s]: a client of a server has no stop_s, spread or suspended",
			g->name);
	if (g->sync && g->kind != SIM_KIND_BE)
		return gs_fail(err, -EINVAL, "[process %s]: sync needs kind = be", g->name);
	if (g->arrivals == SIM_ARRIVE_TRACE && validate_trace(g, err))
		return -EINVAL;
	if (g->kind == SIM_KIND_LC && g->arrivals != SIM_ARRIVE_TRACE && !g->gap_us)
		return gs_fail(err, -EINVAL, "[process %s] of kind lc needs gap_us", g->name);
	if (g->gpu >= s->gpus)
		return gs_fail(err, -EINVAL,
			       "[process %s] gpu = %u, but gpus = %u: they count from 0", g->name,
			       g->gpu, s->gpus);
	if (g->stop_s && g->stop_s <= g->start_s)
		return gs_fail(err, -EINVAL, "[process %s] stops before it starts", g->name);
	if (!g->class_name[0])
		strcpy(g->class_name, g->kind == SIM_KIND_LC ? "lc" : "be");
	return 0;
}

static bool same_part(const struct sim_group *a, const struct sim_group *b)
{
	return a->gpu_instance == b->gpu_instance && a->compute_instance == b->compute_instance;
}

/* Numbers the MIG partitions that groups name. All partitions of a GPU are equal parts of it. */
static int divide(struct sim_scenario *s, struct gs_error *err)
{
	bool on = s->groups[0].gpu_instance != GPUSCHED_NO_INSTANCE;

	for (size_t i = 0; i < s->ngroups; i++) {
		struct sim_group *g = &s->groups[i], *first = s->groups;

		if (on != (g->gpu_instance != GPUSCHED_NO_INSTANCE) ||
		    on != (g->compute_instance != GPUSCHED_NO_INSTANCE))
			return gs_fail(err, -EINVAL,
				       "[process %s]: with MIG each process has a gpu_instance "
				       "and a compute_instance",
				       g->name);
		while (first < g && !same_part(first, g))
			first++;
		g->part = first < g ? first->part : s->parts;
		if (on && first == g && s->parts++ == SIM_MAX_GR)
			return gs_fail(err, -EINVAL, "more than %d partitions", SIM_MAX_GR);
	}
	if (!on)
		return 0;
	s->params.gr_engines = s->parts;
	s->params.blocks_at_once /= s->parts;
	if (!s->params.blocks_at_once)
		s->params.blocks_at_once = 1;
	return 0;
}

static int validate(struct sim_scenario *s, struct gs_error *err)
{
	unsigned int processes = 0;
	int r;

	if (!s->ngroups)
		return gs_fail(err, -EINVAL, "no [process NAME] section");
	if (s->warmup_s >= s->duration_s)
		return gs_fail(err, -EINVAL, "[scenario] warmup_s is not shorter than duration_s");
	if (s->noptions && !s->policy[0])
		return gs_fail(err, -EINVAL, "[scenario] option = %s, but no policy",
			       s->options[0]);
	for (size_t i = 0; i < s->ngroups; i++) {
		r = validate_group(s, &s->groups[i], err);
		if (r < 0)
			return r;
		processes += s->groups[i].count;
	}
	if (processes > MAX_PROCESSES)
		return gs_fail(err, -E2BIG, "%u processes; at most %u", processes, MAX_PROCESSES);
	r = divide(s, err);
	if (r < 0)
		return r;
	for (size_t i = 0; i < s->nactions; i++) {
		if (!target_exists(s, s->actions[i].target))
			return gs_fail(err, -EINVAL, "[actions] no process is '%s'",
				       s->actions[i].target);
		if (s->actions[i].what == SIM_DO_SET && !s->actions[i].set.valid)
			return gs_fail(err, -EINVAL,
				       "[actions] at_ms = %g sets nothing: do = suspend, resume or "
				       "preempt, or a timeslice_us, interleave or preempt_mode",
				       s->actions[i].at_ms);
	}
	if (s->rotate.on && (!s->rotate.period_ms || !target_exists(s, s->rotate.target)))
		return gs_fail(err, -EINVAL, "[rotate] needs period_ms and a target that exists");
	for (size_t i = 0; i < s->nchecks; i++) {
		const struct sim_check *c = &s->checks[i];

		r = sim_metric_check(s, c->metric, err);
		if (r == 0 && c->divisor[0])
			r = sim_metric_check(s, c->divisor, err);
		if (r < 0)
			return r;
	}
	return 0;
}

static void set_name(struct sim_scenario *s, const char *path)
{
	const char *base = strrchr(path, '/');
	size_t n;

	base = base ? base + 1 : path;
	n = strlen(base);
	if (n > 4 && !strcmp(base + n - 4, ".scn"))
		n -= 4;
	if (n >= sizeof(s->name))
		n = sizeof(s->name) - 1;
	memcpy(s->name, base, n);
}

int sim_scenario_load(const char *path, const char *row, struct sim_scenario **ret,
		      struct gs_error *err)
{
	CLEANUP(sim_scenario_freep) struct sim_scenario *s = calloc(1, sizeof(*s));
	CLEANUP_FREE char *dir = strdup(path);
	CLEANUP_FREE unsigned char *text = NULL;
	struct loading l = { .s = s };
	char *slash;
	size_t len;
	int line, r;

	if (!s || !dir)
		return gs_fail(err, -ENOMEM, "out of memory");
	slash = strrchr(dir, '/');
	if (slash)
		*slash = 0;
	l.dir = slash ? dir : ".";
	sim_params_default(&s->params);
	set_name(s, row ? row : path);
	strcpy(s->basis, "promise");
	s->gpus = 1;
	s->duration_s = 60;
	s->warmup_s = 1;
	s->seed = 1;
	s->path = strdup(path);
	if (!s->path)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gs_read_file(path, SIM_MAX_FILE, &text, &len, err);
	if (r < 0)
		return r;
	r = sim_rows_choose((char *)text, path, row, err);
	if (r < 0)
		return r;
	line = gs_ini_parse_text((char *)text, on_key, &l, &l.err);
	if (line > 0)
		return gs_fail(err, -EINVAL, "%s:%d: %s", path, line,
			       l.err.code ? l.err.text : "neither [section] nor key = value");
	r = validate(s, &l.err);
	if (r < 0)
		return gs_fail(err, r, "%s: %s", path, l.err.text);
	*ret = TAKE_PTR(s);
	return 0;
}

void sim_scenario_free(struct sim_scenario *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->ngroups; i++)
		gs_arrivals_free(&s->groups[i].trace);
	free(s->path);
	free(s->groups);
	free(s->actions);
	free(s->faults);
	free(s->checks);
	free(s);
}
