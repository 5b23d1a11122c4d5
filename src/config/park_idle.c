// SPDX-License-Identifier: MIT
#include "config/park_idle.h"

#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "classify/classify.h"
#include "config/config.h"

#define LEAST_US 1000000ull
#define MOST_US (366ull * 24 * 3600 * 1000000)

static int take_time(const char *text, uint64_t *ret_ns, struct gs_error *err)
{
	uint64_t us = 0;
	int r = gs_parse_length(text, LEAST_US, MOST_US, &us, err);

	*ret_ns = us * NS_PER_US;
	return r;
}

int gs_park_idle_parse(const char *line, struct gs_park_idle_rule *ret, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(line);
	char *save = NULL, *name, *idle, *word;
	int r;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	*ret = (struct gs_park_idle_rule){ .for_ns = 0 };
	name = strtok_r(copy, " \t", &save);
	idle = strtok_r(NULL, " \t", &save);
	word = strtok_r(NULL, " \t", &save);
	if (!name || !idle || strlen(name) >= sizeof(ret->class_name))
		return gs_fail(err, -EINVAL, "write CLASS TIME [for=TIME], such as 'be 30m'");
	strcpy(ret->class_name, name);
	r = take_time(idle, &ret->idle_ns, err);
	if (r || !word)
		return r;
	if (strncmp(word, "for=", 4) || strtok_r(NULL, " \t", &save))
		return gs_fail(err, -EINVAL, "'%s': only for=TIME may follow", word);
	return take_time(word + 4, &ret->for_ns, err);
}

int gs_park_idle_check(const struct gs_classes *classes, const char *line,
		       struct gs_park_idle_rule *ret, struct gs_error *err)
{
	uint32_t id;
	int r = gs_park_idle_parse(line, ret, err);

	if (!r && gs_class_id(classes, ret->class_name, &id))
		r = gs_fail(err, -EINVAL, "there is no class '%s'", ret->class_name);
	return r;
}

int gs_config_park_idle(const struct gs_config *c, const struct gs_classes *classes,
			struct gs_park_idle_rules *ret, struct gs_error *err)
{
	*ret = (struct gs_park_idle_rules){ .n = 0 };
	ret->all = calloc(c->park_idle.n + 1, sizeof(*ret->all));
	if (!ret->all)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < c->park_idle.n; i++) {
		struct gs_park_idle_rule *rule = &ret->all[ret->n];
		struct gs_error why = { 0 };
		int r = gs_park_idle_check(classes, c->park_idle.text[i], rule, &why);

		if (r) {
			gs_park_idle_rules_done(ret);
			return gs_fail(err, r == -ENOMEM ? r : -EINVAL, "%s: ParkIdle: %s",
				       c->park_idle.at[i], why.text);
		}
		ret->n++;
	}
	return 0;
}

void gs_park_idle_rules_done(struct gs_park_idle_rules *rules)
{
	free(rules->all);
	*rules = (struct gs_park_idle_rules){ .n = 0 };
}
