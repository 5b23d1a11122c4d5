// SPDX-License-Identifier: MIT
/* Makes classes, rules and allowances from the configuration. Errors name the line. */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "classify/classify.h"
#include "classify/words.h"
#include "config/budget_rule.h"
#include "config/config.h"
#include "config/park_idle.h"

#define DEFAULT_WEIGHT 100
#define SLO_LEAST_US 100u
#define SLO_MOST_US 3600000000u

static int located(struct gs_error *err, int code, const char *at, const struct gs_error *why)
{
	return gs_fail(err, code, "%s: %s", at, why->text);
}

static int class_value(struct gpusched_class *cls, const char *word, struct gs_error *err)
{
	static const struct {
		const char *key;
		size_t offset, size;
		uint64_t min, max;
	} values[] = {
#define VALUE(key, field) \
	key, offsetof(struct gpusched_class, field), sizeof(((struct gpusched_class *)0)->field)
		{ VALUE("weight=", weight), GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX },
		{ VALUE("request=", request_pct), GPUSCHED_REQUEST_MIN_PCT,
		  GPUSCHED_REQUEST_MAX_PCT },
		{ VALUE("limit=", limit_pct), GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT },
		{ VALUE("suspend_limit_ms=", suspend_limit_ms), 1, 3600000 },
		{ VALUE("starve_limit_ms=", starve_limit_ms), 1, 3600000 },
		{ VALUE("deadline_us=", deadline_us), 1, 1000000000 },
#undef VALUE
	};
	uint64_t v;
	int r;

	for (size_t i = 0; i < GS_COUNT(values); i++) {
		size_t len = strlen(values[i].key);

		if (strncmp(word, values[i].key, len))
			continue;
		r = gs_parse_u64_in(gs_parse_unit(values[i].key), word + len, values[i].min,
				    values[i].max, &v, err);
		if (!r) /* little-endian, as on all machines that run this */
			memcpy((char *)cls + values[i].offset, &v, values[i].size);
		return r;
	}
	return gs_fail(
		err, -EINVAL,
		"'%s' is none of weight=, request=, limit=, suspend_limit_ms=, starve_limit_ms=, "
		"deadline_us=, slo=, means=auto, means=slices",
		word);
}

static int class_word(struct gpusched_class *cls, struct gs_class_extras *extras, const char *word,
		      struct gs_error *err)
{
	uint64_t us;
	int r;

	if (!strncmp(word, "slo=", 4)) {
		r = gs_parse_length(word + 4, SLO_LEAST_US, SLO_MOST_US, &us, err);
		extras->slo_ns = r ? 0 : us * NS_PER_US;
		return r;
	}
	if (strcmp(word, "means=auto") && strcmp(word, "means=slices"))
		return class_value(cls, word, err);
	extras->means_auto = !strcmp(word, "means=auto");
	return 0;
}

static int add_class(struct gs_classes *classes, const char *line, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(line);
	struct gpusched_class cls = { .weight = DEFAULT_WEIGHT,
				      .suspend_limit_ms = GPUSCHED_SUSPEND_LIMIT_MS,
				      .starve_limit_ms = GPUSCHED_STARVE_LIMIT_MS };
	char *save = NULL, *name, *word;
	struct gs_class_extras extras = { 0 };
	uint32_t id;
	int r;

	name = copy ? strtok_r(copy, " \t", &save) : NULL;
	if (!name)
		return gs_fail(err, copy ? -EINVAL : -ENOMEM, "a class needs a name");
	if (strlen(name) >= sizeof(cls.name))
		return gs_fail(err, -EINVAL, "the class's name is longer than %zu characters",
			       sizeof(cls.name) - 1);
	strcpy(cls.name, name);
	while ((word = strtok_r(NULL, " \t", &save))) {
		r = class_word(&cls, &extras, word, err);
		if (r)
			return r;
	}
	r = gs_classes_add(classes, name, &cls, err);
	if (!r && !gs_class_id(classes, name, &id))
		gs_class_set_extras(classes, id, &extras);
	return r;
}

typedef int (*add_fn)(struct gs_classes *c, const char *line, struct gs_error *err);

/* The lines of a key. If @prune is the configuration itself, bad lines are taken out of it. */
struct lines {
	const struct gs_config *c;
	struct gs_config *prune;
	struct gs_texts *waiting; /* gets lines that wait for a name; NULL: nobody asks */
	size_t key;               /* offset of a struct gs_texts */
};

static int add_lines(struct gs_classes *classes, add_fn add, const struct lines *of,
		     struct gs_error *err)
{
	const struct gs_texts *lines = (const void *)((const char *)of->c + of->key);
	size_t i = 0;

	while (i < lines->n) {
		struct gs_error why = { 0 };
		int r = add(classes, lines->text[i], &why);

		if (r == GS_NAME_WAITS) {
			r = of->waiting
				    ? gs_config_add_text(of->waiting, why.text, lines->at[i], err)
				    : 0;
			i++;
		} else if (r && of->prune && r != -ENOMEM) {
			r = gs_config_leave_out(of->prune, (void *)((char *)of->prune + of->key), i,
						lines->at[i], why.text);
		} else if (r) {
			return located(err, r == -ENOMEM ? r : -EINVAL, lines->at[i], &why);
		} else {
			i++;
		}
		if (r)
			return r;
	}
	return 0;
}

/* Checks that there is a class @name. Nothing keeps its id, since a reload may change ids. */
static int check_on_use(struct gs_classes *classes, const char *name, struct gs_error *err)
{
	uint32_t id;

	return gs_class_id(classes, name, &id)
		       ? gs_fail(err, -EINVAL, "UnparkOnUse: there is no class '%s'", name)
		       : 0;
}

static int check_park_idle(struct gs_classes *classes, const char *line, struct gs_error *err)
{
	struct gs_park_idle_rule rule;
	struct gs_error why = { 0 };
	int r = gs_park_idle_check(classes, line, &rule, &why);

	return r ? gs_fail(err, r, "ParkIdle: %s", why.text) : 0;
}

static int check_budget(struct gs_classes *classes, const char *line, struct gs_error *err)
{
	struct gs_budget_rule rule;
	struct gs_error why = { 0 };
	int r = gs_budget_rule_parse(line, gs_classes_naming_of(classes), &rule, &why);

	return r ? gs_fail(err, r, "Budget: %s", why.text) : 0;
}

static int set_default(const struct gs_config *c, struct gs_config *prune,
		       struct gs_classes *classes, struct gs_error *err)
{
	struct gs_error why = { 0 };
	int r = c->default_class[0] ? gs_classes_set_default(classes, c->default_class, &why) : 0;

	if (!r)
		return 0;
	if (!prune)
		return located(err, -EINVAL, gs_config_at(c, "DefaultClass"), &why);
	prune->default_class[0] = '\0';
	return gs_config_leave_out(prune, NULL, 0, gs_config_at(c, "DefaultClass"), why.text);
}

static int fill(const struct gs_config *c, struct gs_config *prune, struct gs_texts *waiting,
		struct gs_classes *classes, struct gs_error *err)
{
	/* in this order, since later lines name earlier ones' classes */
	static const struct {
		add_fn add;
		size_t key;
	} keys[] = {
		{ add_class, offsetof(struct gs_config, classes) },
		{ gs_classes_add_rule, offsetof(struct gs_config, rules) },
		{ gs_classes_allow, offsetof(struct gs_config, allow) },
		{ gs_classes_allow_trace, offsetof(struct gs_config, allow_trace) },
		{ gs_words_add_ceiling, offsetof(struct gs_config, pod_ceilings) },
		{ check_park_idle, offsetof(struct gs_config, park_idle) },
		{ check_on_use, offsetof(struct gs_config, unpark_on_use) },
	};
	int r = 0;

	for (size_t i = 0; i < GS_COUNT(keys) && !r; i++) {
		const struct lines of = { c, prune, waiting, keys[i].key };

		r = add_lines(classes, keys[i].add, &of, err);
	}
	return r ? r : set_default(c, prune, classes, err);
}

int gs_config_prune(struct gs_config *c, struct gs_error *err)
{
	const struct lines budgets = { c, c, NULL, offsetof(struct gs_config, budgets) };
	struct gs_classes *classes;
	int r = gs_classes_new(&classes);

	if (r)
		return r;
	gs_classes_naming(classes, GS_NAMING_LATER);
	r = fill(c, c, NULL, classes, err);
	if (!r)
		r = add_lines(classes, check_budget, &budgets, err);
	gs_classes_free(classes);
	return r;
}

int gs_config_declare(const struct gs_config *c, enum gs_naming naming, struct gs_declared *ret,
		      struct gs_error *err)
{
	struct gs_declared d = { NULL };
	size_t before;
	int r = gs_classes_new(&d.classes);

	if (r)
		return r;
	gs_classes_naming(d.classes, naming);
	r = fill(c, NULL, &d.waiting, d.classes, err);
	before = d.waiting.n;
	if (!r)
		r = gs_config_budgets(c, naming, &d.waiting, &d.budgets, err);
	d.waiting_budgets = d.waiting.n - before;
	if (r)
		gs_config_declared_done(&d);
	else
		*ret = d;
	return r;
}

void gs_config_declared_done(struct gs_declared *d)
{
	gs_classes_free(d->classes);
	gs_budget_rules_done(&d->budgets);
	gs_config_clear_texts(&d->waiting);
	d->classes = NULL;
	d->waiting_budgets = 0;
}
