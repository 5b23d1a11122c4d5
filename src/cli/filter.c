// SPDX-License-Identifier: MIT
/*
 * filter.c - filters events by a TARGET
 *
 * An event has its pid, TSG id and process name. For any other kind of target, this asks the daemon
 * once per TSG, and again after the TSG's class has changed.
 */
#include "cli/filter.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"
#include "local/local.h"
#include "local/ask.h"

#define MAX_KNOWN 4096

struct cli_filter {
	const char *target, *value;
	const char *key;    /* the event's key to compare with @value; NULL: ask by TSG id */
	struct gpusched *g; /* a handle for requests: events come through another one */
	json_t *known;      /* TSG id -> whether it belongs to the target */
};

static const struct {
	const char *prefix, *key;
} direct[] = {
	{ "pid:", "pid" },
	{ "tsg:", "id" },
	{ "comm:", "comm" },
};

int cli_filter_new(const char *target, struct cli_filter **ret)
{
	struct cli_filter *f = calloc(1, sizeof(*f));
	CLEANUP_JSON json_t *answer = NULL;
	int r;

	if (!f) {
		cli_fail(-ENOMEM, "out of memory");
		return -ENOMEM;
	}
	f->target = target;
	f->known = json_object();
	for (size_t i = 0; i < GS_COUNT(direct) && !strchr(target, ','); i++) {
		if (strncmp(target, direct[i].prefix, strlen(direct[i].prefix)))
			continue;
		f->key = direct[i].key;
		f->value = target + strlen(direct[i].prefix);
	}
	r = cli_client_open(GS_LOCAL_READ_ONLY, &f->g);
	if (!r)
		r = cli_client_request(f->g, "list", json_pack("{s:s}", "target", target), &answer);
	if (r) {
		cli_filter_free(f);
		return r;
	}
	*ret = f;
	return 0;
}

void cli_filter_free(struct cli_filter *f)
{
	if (!f)
		return;
	if (f->g)
		gpusched_close(f->g);
	json_decref(f->known);
	free(f);
}

/* Asks whether the TSG with this id belongs to the target. */
static bool ask(struct cli_filter *f, json_int_t id)
{
	CLEANUP_JSON json_t *args = json_pack("{s:s}", "target", f->target), *list = NULL;
	json_t *row;
	size_t i;

	if (gs_ask(f->g, "list", args, &list))
		return false;
	json_array_foreach(json_object_get(list, "tsgs"), i, row) {
		if (json_integer_value(json_object_get(row, "id")) == id)
			return true;
	}
	return false;
}

/* Compares as the daemon does: numbers as numbers, names with patterns. */
static bool match_direct(const struct cli_filter *f, const json_t *v)
{
	uint64_t wanted;

	if (json_is_string(v))
		return !fnmatch(f->value, json_string_value(v), 0);
	return json_is_integer(v) && !gs_parse_u64(f->value, 0, INT64_MAX, &wanted, NULL) &&
	       (uint64_t)json_integer_value(v) == wanted;
}

bool cli_filter_match(struct cli_filter *f, const json_t *event)
{
	const json_t *id = json_object_get(event, "id");
	const char *name = json_string_value(json_object_get(event, "event"));
	char key[32];
	const json_t *was;
	bool yes;

	if (!f)
		return true;
	if (f->key)
		return match_direct(f, json_object_get(event, f->key));
	if (!json_is_integer(id))
		return false;
	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT, json_integer_value(id));
	was = json_object_get(f->known, key);
	if (was && (!name || strcmp(name, "class")))
		return json_is_true(was);
	yes = ask(f, json_integer_value(id));
	if (json_object_size(f->known) >= MAX_KNOWN)
		json_object_clear(f->known);
	json_object_set_new(f->known, key, json_boolean(yes));
	return yes;
}
