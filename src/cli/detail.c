// SPDX-License-Identifier: MIT
/*
 * detail.c - adds the driver's ids of a TSG to its events
 *
 * The ids are read at the TSG's first event, and again when it gets a channel.
 */
#include "cli/detail.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "cli/cli.h"
#include "gpusched/gpusched.h"
#include "local/local.h"
#include "local/ask.h"

#define MAX_KNOWN 4096

struct cli_detail {
	struct gpusched *g; /* a handle for requests: events come through another one */
	json_t *known;      /* TSG id -> its object in `list` */
	uint64_t unix_ns;   /* CLOCK_REALTIME at CLOCK_MONOTONIC 0 */
};

int cli_detail_new(struct cli_detail **ret)
{
	struct cli_detail *d = calloc(1, sizeof(*d));
	struct timespec now;
	int r;

	if (!d) {
		cli_fail(-ENOMEM, "out of memory");
		return -ENOMEM;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	d->unix_ns = (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec - gs_now_ns();
	d->known = json_object();
	r = cli_client_open(GS_LOCAL_READ_ONLY, &d->g);
	if (r) {
		cli_detail_free(d);
		return r;
	}
	*ret = d;
	return 0;
}

void cli_detail_free(struct cli_detail *d)
{
	if (!d)
		return;
	if (d->g)
		gpusched_close(d->g);
	json_decref(d->known);
	free(d);
}

static void ask(struct cli_detail *d, const char *id)
{
	CLEANUP_JSON json_t *answer = NULL, *args = NULL;
	json_t *tsg;

	args = json_pack("{s:o,s:b}", "target", json_sprintf("tsg:%s", id), "wide", 1);
	if (gs_ask(d->g, "list", args, &answer))
		return;
	tsg = json_array_get(json_object_get(answer, "tsgs"), 0);
	if (json_object_size(d->known) >= MAX_KNOWN)
		json_object_clear(d->known);
	if (tsg)
		json_object_set(d->known, id, tsg);
}

static const json_t *tsg_of(struct cli_detail *d, const json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	const json_t *id = json_object_get(event, "id");
	bool made = name && (!strcmp(name, "tsg-new") || !strcmp(name, "channel"));
	char key[32];

	if (!json_is_integer(id))
		return NULL;
	snprintf(key, sizeof(key), "%" JSON_INTEGER_FORMAT, json_integer_value(id));
	if (made)
		json_object_del(d->known, key);
	if (!json_object_get(d->known, key))
		ask(d, key);
	return json_object_get(d->known, key);
}

void cli_detail_add(struct cli_detail *d, json_t *event)
{
	static const char *const keys[] = { "runlist", "hw_tsg", "channel_list" };
	const json_t *ns = json_object_get(event, "time_ns"), *tsg;

	if (!d)
		return;
	if (json_is_integer(ns))
		json_object_set_new(event, "time_unix_ns",
				    json_integer(json_integer_value(ns) + (json_int_t)d->unix_ns));
	tsg = tsg_of(d, event);
	for (size_t i = 0; tsg && i < GS_COUNT(keys); i++)
		json_object_set(event, keys[i], json_object_get(tsg, keys[i]));
}

char *cli_detail_clock(const json_t *row)
{
	const json_t *ns = gs_json_at(row, "time_unix_ns");
	json_int_t v = json_integer_value(ns);
	time_t s = (time_t)(v / (json_int_t)NS_PER_S);
	char day[16], *text = NULL;
	struct tm tm;

	if (!ns)
		return NULL;
	strftime(day, sizeof(day), "%T", localtime_r(&s, &tm));
	return asprintf(&text, "%s.%06" JSON_INTEGER_FORMAT, day, v % (json_int_t)NS_PER_S / 1000) <
			       0
		       ? NULL
		       : text;
}

char *cli_detail_channels(const json_t *row)
{
	const json_t *list = gs_json_at(row, "channel_list"), *one;
	CLEANUP_JSON json_t *ids = json_array();
	size_t i;

	json_array_foreach((json_t *)list, i, one)
		if (gs_json_at(one, "context_id"))
			json_array_append(ids, json_object_get(one, "context_id"));
	return json_array_size(ids) ? gs_json_cell(ids) : NULL;
}

void cli_detail_add_ended(json_t *rows, const json_t *ended, bool table)
{
	json_t *one;
	size_t i;

	json_array_foreach((json_t *)ended, i, one) {
		const char *comm = json_string_value(json_object_get(one, "comm"));
		json_t *row = json_copy(one);

		if (table)
			json_object_set_new(row, "comm",
					    json_sprintf("%s (ended)", comm ? comm : "-"));
		json_array_append_new(rows, row);
	}
}
