// SPDX-License-Identifier: MIT
/* tsg_info.c - reads a TSG's JSON object into the public structure */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/tsg_info.h"
#include "rm/setting.h"

struct reader {
	const json_t *o;
	int code;
};

static const json_t *get(struct reader *rd, const char *key)
{
	const json_t *v = json_object_get(rd->o, key);

	if (!v)
		rd->code = -EPROTO;
	return v;
}

static int64_t number(struct reader *rd, const char *key, int64_t min, int64_t max, int64_t absent)
{
	const json_t *v = get(rd, key);
	int64_t n;

	if (!v || json_is_null(v))
		return absent;
	n = json_integer_value(v);
	if (!json_is_integer(v) || n < min || n > max)
		rd->code = -EPROTO;
	return n;
}

static void text(struct reader *rd, const char *key, char *ret, size_t size)
{
	const json_t *v = get(rd, key);

	ret[0] = 0;
	if (!v || json_is_null(v))
		return;
	if (!json_is_string(v) || json_string_length(v) >= size)
		rd->code = -EPROTO;
	else
		strcpy(ret, json_string_value(v));
}

static uint32_t handle(struct reader *rd, const char *key)
{
	char hex[16], *end;
	unsigned long v;

	text(rd, key, hex, sizeof(hex));
	if (!*hex)
		return 0;
	v = strtoul(hex, &end, 16);
	if (*end || v > UINT32_MAX)
		rd->code = -EPROTO;
	return (uint32_t)v;
}

/* Reads a setting that is given as a word. null: GPUSCHED_UNSET. */
static int choice(struct reader *rd, uint32_t bit)
{
	char word[12];
	uint32_t value = 0;

	text(rd, gs_setting_of(bit)->key, word, sizeof(word));
	if (!*word)
		return GPUSCHED_UNSET;
	if (gs_setting_parse(bit, word, &value, NULL))
		rd->code = -EPROTO;
	return (int)value;
}

static void values(struct reader *outer, const char *key, struct gpusched_values *ret)
{
	struct reader rd = { get(outer, key), 0 };
	const json_t *runnable;

	*ret = (struct gpusched_values){ GPUSCHED_UNSET, GPUSCHED_UNSET, GPUSCHED_UNSET,
					 GPUSCHED_UNSET };
	if (json_is_null(rd.o))
		return;
	ret->timeslice_us = number(&rd, "timeslice_us", 0, UINT32_MAX, GPUSCHED_UNSET);
	ret->interleave = choice(&rd, GPUSCHED_INTERLEAVE);
	ret->preempt_mode = choice(&rd, GPUSCHED_PREEMPT_MODE);
	runnable = get(&rd, "runnable");
	if (runnable && !json_is_null(runnable) && !json_is_boolean(runnable))
		rd.code = -EPROTO;
	ret->runnable =
		!runnable || json_is_null(runnable) ? GPUSCHED_UNSET : json_is_true(runnable);
	if (rd.code)
		outer->code = rd.code;
}

int tsg_info_read(const json_t *o, struct gpusched_tsg_info *ret)
{
	struct reader rd = { o, 0 };
	struct gpusched_tsg_info t = { .size = sizeof(t) };

	t.id = (uint64_t)number(&rd, "id", 1, INT64_MAX, 0);
	t.gpu = (int)number(&rd, "gpu", 0, INT_MAX, GPUSCHED_UNSET);
	t.pid = (int32_t)number(&rd, "pid", 0, INT32_MAX, GPUSCHED_UNSET);
	t.uid = (uint32_t)number(&rd, "uid", 0, UINT32_MAX, UINT32_MAX);
	t.channels = (int)number(&rd, "channels", 0, INT_MAX, GPUSCHED_UNSET);
	text(&rd, "gpu_uuid", t.gpu_uuid, sizeof(t.gpu_uuid));
	text(&rd, "comm", t.comm, sizeof(t.comm));
	text(&rd, "kind", t.kind, sizeof(t.kind));
	text(&rd, "engine", t.engine, sizeof(t.engine));
	text(&rd, "class", t.class_name, sizeof(t.class_name));
	text(&rd, "known_by", t.known_by, sizeof(t.known_by));
	t.client = handle(&rd, "client");
	t.tsg = handle(&rd, "tsg");
	values(&rd, "asked", &t.asked);
	values(&rd, "is", &t.is);
	values(&rd, "want", &t.want);
	t.memory_bytes = number(&rd, "memory_bytes", 0, INT64_MAX, GPUSCHED_UNSET);
	t.tid = (int32_t)number(&rd, "tid", 0, INT32_MAX, GPUSCHED_UNSET);
	if (!rd.code)
		*ret = t;
	return rd.code;
}
