// SPDX-License-Identifier: MIT
/* Makes classes, rules and allowances from the configuration. Errors name the line. */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "classify/classify.h"
#include "classify/words.h"
#include "config/config.h"
#include "config/park_idle.h"

#define DEFAULT_WEIGHT 100
#define DEFAULT_SUSPEND_LIMIT_MS 10000
#define DEFAULT_STARVE_LIMIT_MS 1000

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
		r = gs_parse_u64_in(gs_unit_of(values[i].key), word + len, values[i].min,
				    values[i].max, &v, err);
		if (!r) /* little-endian, as on all machines that run this */
			memcpy((char *)cls + values[i].offset, &v, values[i].size);
		return r;
	}
	return gs_fail(
		err, -EINVAL,
		"'%s' is none of weight=, request=, limit=, suspend_limit_ms=, starve_limit_ms=, "
		"deadline_us=, means=auto, means=slices",
		word);
}

static int add_class(struct gs_classes *classes, const char *line, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(line);
	struct gpusched_class cls = { .weight = DEFAULT_WEIGHT,
				      .suspend_limit_ms = DEFAULT_SUSPEND_LIMIT_MS,
				      .starve_limit_ms = DEFAULT_STARVE_LIMIT_MS };
	char *save = NULL, *name, *word;
	bool means_auto = false;
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
		bool is_means = !strcmp(word, "means=auto") || !strcmp(word, "means=slices");

		means_auto = is_means ? !strcmp(word, "means=auto") : means_auto;
		r = is_means ? 0 : class_value(&cls, word, err);
		if (r)
			return r;
	}
	r = gs_classes_add(classes, name, &cls, err);
	if (!r && means_auto && !gs_class_id(classes, name, &id))
		gs_class_set_means_auto(classes, id);
	return r;
}

typedef int (*add_fn)(struct gs_classes *c, const char *line, struct gs_error *err);

static int add_lines(struct gs_classes *classes, add_fn add, const struct gs_texts *lines,
		     struct gs_error *err)
{
	for (size_t i = 0; i < lines->n; i++) {
		struct gs_error why = { 0 };
		int r = add(classes, lines->text[i], &why);

		if (r)
			return located(err, r == -ENOMEM ? r : -EINVAL, lines->at[i], &why);
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

static int fill(const struct gs_config *c, struct gs_classes *classes, struct gs_error *err)
{
	struct gs_park_idle_rules idle = { .n = 0 };
	struct gs_error why = { 0 };
	int r;

	r = add_lines(classes, add_class, &c->classes, err);
	if (!r)
		r = add_lines(classes, gs_classes_add_rule, &c->rules, err);
	if (!r)
		r = add_lines(classes, gs_classes_allow, &c->allow, err);
	if (!r)
		r = add_lines(classes, gs_classes_allow_trace, &c->allow_trace, err);
	if (!r)
		r = add_lines(classes, gs_words_add_ceiling, &c->pod_ceilings, err);
	if (!r) /* parsed here only to report mistakes, once the classes are known */
		r = gs_config_park_idle(c, classes, &idle, err);
	gs_park_idle_rules_done(&idle);
	if (!r)
		r = add_lines(classes, check_on_use, &c->unpark_on_use, err);
	if (r || !c->default_class[0])
		return r;
	r = gs_classes_set_default(classes, c->default_class, &why);
	return r ? located(err, -EINVAL, c->default_class_at, &why) : 0;
}

int gs_config_classes(const struct gs_config *c, struct gs_classes **ret, struct gs_error *err)
{
	struct gs_classes *classes;
	int r;

	r = gs_classes_new(&classes);
	if (r)
		return r;
	r = fill(c, classes, err);
	if (r) {
		gs_classes_free(classes);
		return r;
	}
	*ret = classes;
	return 0;
}
