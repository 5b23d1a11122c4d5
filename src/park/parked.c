// SPDX-License-Identifier: MIT
#include "park/parked.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/file.h"
#include "basic/json_sheet.h"

#define VERSION 1
#define MAX_BYTES (1u << 20)

struct gs_parked *gs_parked_new(int32_t pid, uint64_t start_ns)
{
	struct gs_parked *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->refs = 1;
	p->pid = pid;
	p->start_ns = start_ns;
	p->pidfd = -1;
	p->cgroups.free_bytes = UINT64_MAX;
	p->waiters = GS_PARK_WAITERS_UNKNOWN;
	return p;
}

void gs_parked_ref(struct gs_parked *p)
{
	p->refs++;
}

void gs_parked_unref(struct gs_parked *p)
{
	if (!p || --p->refs)
		return;
	sd_event_source_disable_unref(p->ended);
	if (p->pidfd >= 0)
		close(p->pidfd);
	free(p);
}

uint64_t gs_parked_bytes(const struct gs_parked *p)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		sum += p->bytes[i];
	return sum;
}

/* ---- the file's text ------------------------------------------------------------------------- */

static json_t *to_json(const struct gs_parked *p)
{
	json_t *bytes = json_array();

	for (size_t i = 0; i < GS_PARK_GPUS; i++)
		json_array_append_new(bytes, json_integer((json_int_t)p->bytes[i]));
	return json_pack(
		"{s:i,s:I,s:I,s:I,s:I,s:o,s:I,s:I,s:b,s:b,s:b,s:i,s:I,s:I,s:I,s:o,s:o}", "pid",
		p->pid, "start_ns", (json_int_t)p->start_ns, "uid", (json_int_t)p->uid, "by",
		(json_int_t)p->by, "class", (json_int_t)p->class_id, "comm", gs_json_text(p->comm),
		"since_ns", (json_int_t)p->since_ns, "until_ns", (json_int_t)p->until_ns, "lost",
		p->core.lost, "by_itself", p->by_itself, "by_policy", p->by_policy, "guest",
		p->guest, "guest_start_ns", (json_int_t)p->guest_start_ns, "told_ns",
		(json_int_t)p->told_ns, "locked_ns", (json_int_t)p->locked_ns, "calls",
		p->calls_known ? json_integer((json_int_t)p->calls) : json_null(), "bytes", bytes);
}

static int parse_one(struct gs_parked **all, json_t *o)
{
	json_int_t start, uid, by, class_id, since, until, guest_start = 0, told = 0, locked = 0;
	int pid, lost, by_itself = 0, by_policy = 0, guest = 0;
	const char *comm;
	json_t *bytes, *b, *calls = NULL;
	struct gs_parked *p;
	size_t i;

	if (json_unpack(o, "{s:i,s:I,s:I,s:I,s:I,s:s,s:I,s:I,s:b,s?b,s?b,s?i,s?I,s?I,s?I,s?o,s:o}",
			"pid", &pid, "start_ns", &start, "uid", &uid, "by", &by, "class", &class_id,
			"comm", &comm, "since_ns", &since, "until_ns", &until, "lost", &lost,
			"by_itself", &by_itself, "by_policy", &by_policy, "guest", &guest,
			"guest_start_ns", &guest_start, "told_ns", &told, "locked_ns", &locked,
			"calls", &calls, "bytes", &bytes) ||
	    pid <= 0 || json_array_size(bytes) != GS_PARK_GPUS)
		return -EINVAL;
	p = gs_parked_new(pid, (uint64_t)start);
	if (!p)
		return -ENOMEM;
	p->uid = (uint32_t)uid;
	p->by = (uint32_t)by;
	p->class_id = (uint32_t)class_id;
	snprintf(p->comm, sizeof(p->comm), "%s", comm);
	p->since_ns = (uint64_t)since;
	p->until_ns = (uint64_t)until;
	p->core.wish = GS_PARK_WISH_SETTLE;
	p->core.lost = lost;
	p->core.touched = true;
	p->by_itself = by_itself;
	p->by_policy = by_policy;
	p->guest = guest;
	p->guest_start_ns = (uint64_t)guest_start;
	p->told_ns = (uint64_t)told;
	p->locked_ns = (uint64_t)locked;
	p->calls_known = json_is_integer(calls);
	p->calls = (uint64_t)json_integer_value(calls);
	json_array_foreach(bytes, i, b)
		p->bytes[i] = (uint64_t)json_integer_value(b);
	DL_APPEND(*all, p);
	return 0;
}

char *gs_parked_text(const struct gs_parked *all, const char *boot)
{
	json_t *list = json_array();
	CLEANUP_JSON json_t *o =
		json_pack("{s:i,s:s,s:o}", "version", VERSION, "boot", boot, "parked", list);
	const struct gs_parked *p;

	DL_FOREACH(all, p)
		if (json_array_append_new(list, to_json(p)))
			return NULL;
	return o ? json_dumps(o, JSON_COMPACT) : NULL;
}

int gs_parked_parse(struct gs_parked **all, const char *text, const char *boot,
		    struct gs_error *err)
{
	CLEANUP_JSON json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *list, *one;
	const char *of;
	int version, r = 0;
	size_t i;

	if (json_unpack(o, "{s:i,s:s,s:o}", "version", &version, "boot", &of, "parked", &list) ||
	    version != VERSION || json_array_size(list) > GS_PARKED_MAX)
		return gs_fail(err, -EINVAL, "it cannot be read");
	if (strcmp(of, boot))
		return 0; /* the host was booted since, so all of those processes have ended */
	json_array_foreach(list, i, one)
		r = r ? r : parse_one(all, one);
	return r ? gs_fail(err, r, "it cannot be read") : 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

static void path_of(char ret[300])
{
	snprintf(ret, 300, "%s/parked.json", gs_env()->run_dir);
}

int gs_parked_save(const struct gs_parked *all, struct gs_error *err)
{
	CLEANUP_FREE char *text = NULL;
	char path[300], boot[GS_BOOT_ID_LEN];

	path_of(path);
	if (!all) {
		unlink(path);
		return 0;
	}
	if (gs_file_boot_id(boot) || !(text = gs_parked_text(all, boot)))
		return gs_fail(err, -ENOMEM, "out of memory");
	return gs_file_replace(path, text, strlen(text), err);
}

int gs_parked_load(struct gs_parked **all, struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	char path[300], boot[GS_BOOT_ID_LEN];
	size_t len;
	int r;

	path_of(path);
	r = gs_file_read_own(path, MAX_BYTES, &text, &len, err);
	if (!r)
		r = gs_file_boot_id(boot);
	return r ? r : gs_parked_parse(all, (const char *)text, boot, err);
}
