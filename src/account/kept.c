// SPDX-License-Identifier: MIT
#include "account/kept.h"

#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/file.h"
#include "basic/json_sheet.h"

#define VERSION 1
#define MAX_BYTES (64u << 10)

/* ---- the text -------------------------------------------------------------------------------- */

static json_t *part_json(enum gs_cost_basis basis, uint64_t at_s)
{
	return json_pack("{s:s, s:I}", "by", gs_cost_basis_words[basis], "at_s", (json_int_t)at_s);
}

static void put_ns(json_t *o, const char *key, uint64_t ns)
{
	json_object_set_new(o, key, json_integer((json_int_t)ns));
}

static json_t *gpu_json(const struct gs_kept_gpu *k)
{
	const struct gs_costs *c = &k->costs;
	json_t *o = json_pack("{s:s, s:s, s:s}", "gpu_uuid", k->uuid, "driver", k->driver, "vbios",
			      k->vbios);
	json_t *part;

	if (c->save_basis != GS_COST_UNKNOWN) {
		part = part_json(c->save_basis, c->save_at_s);
		put_ns(part, "unit_ps", c->unit_ps);
		put_ns(part, "low_ns", c->save_low_ns);
		put_ns(part, "ns", c->save_ns);
		put_ns(part, "high_ns", c->save_high_ns);
		json_object_set_new(o, "save", part);
	}
	if (c->switch_basis != GS_COST_UNKNOWN) {
		part = part_json(c->switch_basis, c->switch_at_s);
		put_ns(part, "ns", c->switch_ns);
		json_object_set_new(o, "switch", part);
	}
	if (c->restore_basis != GS_COST_UNKNOWN) {
		part = part_json(c->restore_basis, c->restore_at_s);
		put_ns(part, "ns", c->restore_ns);
		put_ns(part, "idle_turn_ns", c->idle_turn_ns);
		json_object_set_new(o, "restore", part);
	}
	return o;
}

char *gs_kept_text(const struct gs_kept *kept)
{
	CLEANUP_JSON json_t *o = NULL;
	json_t *gpus = json_array();

	for (unsigned int i = 0; i < kept->n; i++)
		json_array_append_new(gpus, gpu_json(&kept->gpus[i]));
	o = json_pack("{s:i, s:o}", "version", VERSION, "gpus", gpus);
	return o ? json_dumps(o, JSON_COMPACT) : NULL;
}

/* Reads a number that must be present: a cost may be absent, but not incomplete. */
static int get_number(const json_t *part, const char *key, uint64_t *ret)
{
	const json_t *n = json_object_get(part, key);

	if (!json_is_integer(n) || json_integer_value(n) < 0)
		return -EINVAL;
	*ret = (uint64_t)json_integer_value(n);
	return 0;
}

static int get_basis(const json_t *part, enum gs_cost_basis *ret, uint64_t *ret_at_s)
{
	const char *by = json_string_value(json_object_get(part, "by"));

	for (unsigned int b = GS_COST_KEPT; by && b <= GS_COST_QUALIFIED; b++)
		if (!strcmp(by, gs_cost_basis_words[b]))
			*ret = (enum gs_cost_basis)b;
	return *ret == GS_COST_UNKNOWN ? -EINVAL : get_number(part, "at_s", ret_at_s);
}

static int get_text(const json_t *o, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(o, key));

	if (!text || strlen(text) >= size)
		return -EINVAL;
	for (const char *p = text; *p; p++)
		if (*p <= ' ' || *p > '~')
			return -EINVAL;
	strcpy(ret, text);
	return 0;
}

static int costs_parse(const json_t *o, struct gs_costs *c)
{
	const json_t *save = json_object_get(o, "save"), *change = json_object_get(o, "switch");
	const json_t *restore = json_object_get(o, "restore");

	if (save &&
	    (get_basis(save, &c->save_basis, &c->save_at_s) ||
	     get_number(save, "unit_ps", &c->unit_ps) ||
	     get_number(save, "low_ns", &c->save_low_ns) || get_number(save, "ns", &c->save_ns) ||
	     get_number(save, "high_ns", &c->save_high_ns)))
		return -EINVAL;
	if (change && (get_basis(change, &c->switch_basis, &c->switch_at_s) ||
		       get_number(change, "ns", &c->switch_ns)))
		return -EINVAL;
	if (restore && (get_basis(restore, &c->restore_basis, &c->restore_at_s) ||
			get_number(restore, "ns", &c->restore_ns) ||
			get_number(restore, "idle_turn_ns", &c->idle_turn_ns)))
		return -EINVAL;
	return gs_costs_plausible(c) ? 0 : -EINVAL;
}

static struct gs_kept_gpu *entry(struct gs_kept *kept, const char *uuid)
{
	for (unsigned int i = 0; uuid[0] && i < kept->n; i++)
		if (!strcmp(kept->gpus[i].uuid, uuid))
			return &kept->gpus[i];
	return NULL;
}

static int gpu_parse(struct gs_kept *kept, const json_t *o)
{
	struct gs_kept_gpu k = { 0 };

	if (kept->n == GS_KEPT_MAX || get_text(o, "gpu_uuid", k.uuid, sizeof(k.uuid)) ||
	    get_text(o, "driver", k.driver, sizeof(k.driver)) ||
	    get_text(o, "vbios", k.vbios, sizeof(k.vbios)) || !k.uuid[0] || !k.driver[0] ||
	    entry(kept, k.uuid) || costs_parse(o, &k.costs))
		return -EINVAL;
	kept->gpus[kept->n++] = k;
	return 0;
}

int gs_kept_parse(const char *text, struct gs_kept *ret, struct gs_error *err)
{
	CLEANUP_JSON json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *gpus = json_object_get(o, "gpus"), *one;
	const json_t *version = json_object_get(o, "version");
	int r = 0;
	size_t i;

	*ret = (struct gs_kept){ 0 };
	if (!json_is_integer(version) || !json_is_array(gpus))
		return gs_fail(err, -EINVAL, "it cannot be read");
	if (json_integer_value(version) != VERSION)
		return gs_fail(err, -EINVAL, "it is of version %lld",
			       (long long)json_integer_value(version));
	json_array_foreach(gpus, i, one)
		r = r ? r : gpu_parse(ret, one);
	if (!r)
		return 0;
	*ret = (struct gs_kept){ 0 };
	return gs_fail(err, r, "an entry in it makes no sense");
}

/* ---- the file -------------------------------------------------------------------------------- */

static void path_of(char ret[300])
{
	snprintf(ret, 300, "%s/costs.json", gs_env()->state_dir);
}

int gs_kept_load(struct gs_kept *ret, struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	struct gs_error why = { 0 };
	char path[300];
	size_t len;
	int r;

	*ret = (struct gs_kept){ 0 };
	path_of(path);
	r = gs_file_read_own(path, MAX_BYTES, &text, &len, err);
	if (r)
		return r;
	r = strlen((const char *)text) == len ? gs_kept_parse((const char *)text, ret, &why)
					      : gs_fail(&why, -EINVAL, "it cannot be read");
	return r ? gs_fail(err, r, "%s: %s", path, why.text) : 0;
}

int gs_kept_save(const struct gs_kept *kept, struct gs_error *err)
{
	CLEANUP_FREE char *text = gs_kept_text(kept);
	char path[300];

	if (!text)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (mkdir(gs_env()->state_dir, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", gs_env()->state_dir, strerror(errno));
	path_of(path);
	return gs_file_replace(path, text, strlen(text), err);
}

/* ---- one GPU --------------------------------------------------------------------------------- */

const struct gs_kept_gpu *gs_kept_find(const struct gs_kept *kept, const struct gs_gpu *gpu)
{
	for (unsigned int i = 0; gpu->uuid[0] && i < kept->n; i++)
		if (!strcmp(kept->gpus[i].uuid, gpu->uuid))
			return &kept->gpus[i];
	return NULL;
}

bool gs_kept_counts(const struct gs_kept_gpu *k, const struct gs_gpu *gpu, const char *driver)
{
	return k && !strcmp(k->driver, driver) && !strcmp(k->vbios, gpu->vbios);
}

static void take_save(struct gs_costs *to, const struct gs_costs *from)
{
	to->unit_ps = from->unit_ps;
	to->save_low_ns = from->save_low_ns;
	to->save_ns = from->save_ns;
	to->save_high_ns = from->save_high_ns;
	to->save_basis = from->save_basis;
	to->save_at_s = from->save_at_s;
}

static void take_switch(struct gs_costs *to, const struct gs_costs *from)
{
	to->switch_ns = from->switch_ns;
	to->switch_basis = from->switch_basis;
	to->switch_at_s = from->switch_at_s;
}

static void take_restore(struct gs_costs *to, const struct gs_costs *from)
{
	to->restore_ns = from->restore_ns;
	to->idle_turn_ns = from->idle_turn_ns;
	to->restore_basis = from->restore_basis;
	to->restore_at_s = from->restore_at_s;
}

/*
 * If the saves differ, the restore in @below is dropped too: both depend on the size of the
 * context.
 */
struct gs_costs gs_kept_above(const struct gs_costs *below, const struct gs_costs *c)
{
	struct gs_costs all = *below, none = { 0 };
	bool same = c->save_ns >= below->save_low_ns && c->save_ns <= below->save_high_ns;

	if (c->save_basis != GS_COST_UNKNOWN) {
		take_save(&all, c);
		if (!same)
			take_restore(&all, &none);
	}
	if (c->switch_basis != GS_COST_UNKNOWN)
		take_switch(&all, c);
	if (c->restore_basis != GS_COST_UNKNOWN)
		take_restore(&all, c);
	return all;
}

struct gs_costs gs_kept_begin(const struct gs_kept_gpu *k, const struct gs_costs *product)
{
	return k ? gs_kept_above(product, &k->costs) : *product;
}

static bool is_kept(enum gs_cost_basis basis)
{
	return basis == GS_COST_KEPT || basis == GS_COST_QUALIFIED;
}

static bool is_other(uint64_t a, uint64_t b)
{
	return (a > b ? a - b : b - a) * 20 > b;
}

/* Compares one cost. The save stands for the unit as well. */
static bool part_differs(enum gs_cost_basis now, enum gs_cost_basis kept, uint64_t a, uint64_t b)
{
	if (now == GS_COST_CALIBRATED || is_kept(now))
		return !is_kept(kept) || is_other(a, b);
	return is_kept(kept); /* not known now: if a cost was kept, the log has contradicted it */
}

bool gs_kept_differs(const struct gs_kept_gpu *k, const struct gs_costs *costs)
{
	static const struct gs_costs none;
	const struct gs_costs *old = k ? &k->costs : &none;

	return part_differs(costs->save_basis, old->save_basis, costs->save_ns, old->save_ns) ||
	       part_differs(costs->switch_basis, old->switch_basis, costs->switch_ns,
			    old->switch_ns) ||
	       part_differs(costs->restore_basis, old->restore_basis, costs->restore_ns,
			    old->restore_ns);
}

bool gs_kept_is_older(const struct gs_kept_gpu *k, const struct gs_costs *costs)
{
	struct gs_costs now = gs_costs_as_kept(costs, UINT64_MAX);

	return k && (now.save_at_s > k->costs.save_at_s || now.switch_at_s > k->costs.switch_at_s);
}

static uint64_t newest(const struct gs_costs *c)
{
	uint64_t at = c->save_at_s > c->switch_at_s ? c->save_at_s : c->switch_at_s;

	return at > c->restore_at_s ? at : c->restore_at_s;
}

static struct gs_kept_gpu *room(struct gs_kept *kept)
{
	struct gs_kept_gpu *oldest = kept->gpus;

	if (kept->n < GS_KEPT_MAX)
		return &kept->gpus[kept->n++];
	for (unsigned int i = 1; i < kept->n; i++)
		if (newest(&kept->gpus[i].costs) < newest(&oldest->costs))
			oldest = &kept->gpus[i];
	return oldest;
}

/* The costs to keep: those from a log or from gpusched qualify, not those of the product. */
static struct gs_costs lasting(const struct gs_costs *costs, uint64_t now_s)
{
	struct gs_costs all = gs_costs_as_kept(costs, now_s), c = { 0 };

	if (is_kept(all.save_basis))
		take_save(&c, &all);
	if (is_kept(all.switch_basis))
		take_switch(&c, &all);
	if (is_kept(all.restore_basis))
		take_restore(&c, &all);
	return c;
}

bool gs_kept_put(struct gs_kept *kept, const struct gs_gpu *gpu, const char *driver,
		 const struct gs_costs *costs, uint64_t now_s)
{
	struct gs_kept_gpu k = { .costs = lasting(costs, now_s) }, *at;
	bool something = k.costs.save_basis || k.costs.switch_basis || k.costs.restore_basis;

	if (!gpu->uuid[0] || !driver[0] || !gs_costs_plausible(&k.costs))
		return false;
	at = entry(kept, gpu->uuid);
	if (!something) {
		if (at)
			*at = kept->gpus[--kept->n];
		return at;
	}
	snprintf(k.uuid, sizeof(k.uuid), "%s", gpu->uuid);
	snprintf(k.driver, sizeof(k.driver), "%s", driver);
	snprintf(k.vbios, sizeof(k.vbios), "%s", gpu->vbios);
	*(at ? at : room(kept)) = k;
	return true;
}
