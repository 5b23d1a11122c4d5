/* SPDX-License-Identifier: MIT */
/*
 * params.c - reads parameters of the GPU model; one table gives keys, defaults and error messages
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/file.h"
#include "basic/ini_text.h"
#include "basic/parse.h"
#include "sim/params.h"

enum kind { TEXT, NUMBER, NS_FROM_US, BOOL, RANGE };

struct key {
	const char *section, *name;
	enum kind kind;
	size_t offset, size;
	double min, max;
	const char *def;
};

#define FIELD(member) offsetof(struct sim_params, member), sizeof(((struct sim_params *)0)->member)
#define US 1e7 /* longest time that a parameter may have, us */

/* Defaults are those of the H200; docs/model.md says how each was found. */
static const struct key keys[] = {
	{ "gpu", "name", TEXT, FIELD(name), 0, 0, "h200" },
	{ "gpu", "product", TEXT, FIELD(pci_name), 0, 0, "NVIDIA H200" },
	{ "gpu", "gr_engines", NUMBER, FIELD(gr_engines), 1, SIM_MAX_GR, "1" },
	{ "gpu", "copy_engines", NUMBER, FIELD(copy_engines), 0, 32, "10" },
	{ "gpu", "cuda_copy_engine", NUMBER, FIELD(cuda_copy_engine), 0, 31, "2" },
	{ "gpu", "blocks_at_once", NUMBER, FIELD(blocks_at_once), 1, 1e6, "1056" },
	{ "gpu", "copy_bytes_per_us", NUMBER, FIELD(copy_bytes_per_us), 1, 1e9, "50000" },
	{ "gpu", "queue_depth", NUMBER, FIELD(queue_depth), 1, 1e6, "1024" },
	{ "gpu", "kernel_gap_us", NS_FROM_US, FIELD(kernel_gap_ns), 0, US, "2.3" },
	{ "gpu", "hold_poll_us", NS_FROM_US, FIELD(hold_poll_ns), 0.1, US, "5" },
	{ "gpu", "mps_overlap_pct", NUMBER, FIELD(mps_overlap_pct), 0, 90, "19" },
	{ "round", "default_timeslice_us", NUMBER, FIELD(default_timeslice_us), 1, 1e8, "1024" },
	{ "round", "default_preempt_mode", NUMBER, FIELD(default_preempt_mode), 0, 2, "2" },
	{ "round", "interleave_honoured", BOOL, FIELD(interleave_honoured), 0, 0, "no" },
	{ "round", "slice_unit_us", NS_FROM_US, FIELD(slice_unit_ns), 0.001, 1000, "1.024" },
	{ "switch", "save_idle_us", NS_FROM_US, FIELD(save_idle_ns), 0, US, "59" },
	{ "switch", "save_wfi_us", NS_FROM_US, FIELD(save_wfi_ns), 0, US, "58" },
	{ "switch", "save_cta_us", NS_FROM_US, FIELD(save_cta_ns), 0, US, "58" },
	{ "switch", "save_cilp_us", NS_FROM_US, FIELD(save_cilp_ns), 0, US, "93" },
	{ "switch", "wfi_us", NS_FROM_US, FIELD(switch_wfi_ns), 0, US, "84" },
	{ "switch", "cta_us", NS_FROM_US, FIELD(switch_cta_ns), 0, US, "84" },
	{ "switch", "cilp_us", NS_FROM_US, FIELD(switch_cilp_ns), 0, US, "84" },
	{ "switch", "idle_us", NS_FROM_US, FIELD(switch_idle_ns), 0, US, "80" },
	{ "switch", "copy_us", NS_FROM_US, FIELD(switch_copy_ns), 0, US, "5" },
	{ "switch", "start_us", NS_FROM_US, FIELD(start_ns), 0, US, "2" },
	{ "switch", "restore_cta_us", NS_FROM_US, FIELD(restore_cta_ns), 0, US, "7" },
	{ "switch", "restore_cilp_us", NS_FROM_US, FIELD(restore_cilp_ns), 0, US, "24" },
	{ "clocks", "period_us", NS_FROM_US, FIELD(clocks_period_ns), 0, 1e9, "0" },
	{ "clocks", "switch_pct", NUMBER, FIELD(clocks_pct), 10, 1000, "100" },
	{ "limit", "drain_us", NS_FROM_US, FIELD(drain_most_ns), 0, 1e9, "4294966" },
	{ "limit", "busy_retry_us", NS_FROM_US, FIELD(busy_retry_ns), 0, 1e9, "4300000" },
	{ "limit", "rpc_us", NS_FROM_US, FIELD(rpc_most_ns), 0, 1e9, "45000000" },
	{ "host", "launch_us", NS_FROM_US, FIELD(launch_ns), 0, US, "9" },
	{ "host", "notice_us", NS_FROM_US, FIELD(notice_ns), 0, US, "10.4" },
	{ "host", "notice_tail_us", NS_FROM_US, FIELD(notice_tail_ns), 0, US, "7.7" },
	{ "host", "sleep_late_us", NS_FROM_US, FIELD(sleep_late_ns), 0, US, "55" },
	{ "host", "call_effect_pct", NUMBER, FIELD(call_effect_pct), 0, 100, "50" },
#define CALL(id, text, def) \
	{ \
		"call", text "_us", RANGE, FIELD(call[SIM_CALL_##id]), 0, US, def \
	}
	CALL(ALLOC, "alloc", "20-60"),
	CALL(FREE, "free", "20-60"),
	CALL(OTHER, "other", "1-3"),
	CALL(SET_TIMESLICE, "set_timeslice", "250-490"),
	CALL(PREEMPT, "preempt", "490-615"),
	CALL(SET_INTERLEAVE, "set_interleave", "230-360"),
	CALL(DISABLE, "disable", "600-690"),
	CALL(LEAVE, "leave", "310-485"),
	CALL(KICK, "kick", "215-325"),
	CALL(ENABLE, "enable", "200-410"),
	CALL(SET_PREEMPT_MODE, "set_preempt_mode", "500-1060"),
	CALL(SCHEDULE, "schedule", "250-490"),
	CALL(FLUSH_LOG, "flush_log", "65"),
#undef CALL
};

static int store_number(const struct key *k, const char *text, void *field, struct gs_error *err)
{
	double d, scale = k->kind == NS_FROM_US ? 1000 : 1;
	int r = gs_parse_double_in(gs_parse_unit(k->name), text, k->min, k->max, &d, err);

	if (r < 0)
		return r;
	if (k->kind == NUMBER && d != (double)(uint64_t)d)
		return gs_fail(err, -EINVAL, "'%s' is not a whole number", text);
	if (k->size == sizeof(uint64_t))
		*(uint64_t *)field = (uint64_t)(d * scale + 0.5);
	else
		*(unsigned int *)field = (unsigned int)d;
	return 0;
}

/* Parses a time in us: "250-490" or "250". */
static int store_range(const struct key *k, const char *text, struct sim_call_range *ret,
		       struct gs_error *err)
{
	char low[32];
	const char *dash = strchr(text, '-');
	size_t n = dash ? (size_t)(dash - text) : strlen(text);
	double a, b;
	int r;

	if (n >= sizeof(low))
		return gs_fail(err, -EINVAL, "'%s' is not a range such as 250-490", text);
	memcpy(low, text, n);
	low[n] = 0;
	r = gs_parse_double(low, k->min, k->max, &a, err);
	if (r < 0)
		return r;
	b = a;
	if (dash) {
		r = gs_parse_double(dash + 1, a, k->max, &b, err);
		if (r < 0)
			return r;
	}
	ret->min_ns = (uint64_t)(a * 1000 + 0.5);
	ret->max_ns = (uint64_t)(b * 1000 + 0.5);
	return 0;
}

static int store(const struct key *k, const char *text, struct sim_params *p, struct gs_error *err)
{
	void *field = (char *)p + k->offset;

	switch (k->kind) {
	case TEXT:
		if (!text[0] || strlen(text) >= k->size)
			return gs_fail(err, -EINVAL, "'%s' is not 1 to %zu characters", text,
				       k->size - 1);
		memset(field, 0, k->size);
		memcpy(field, text, strlen(text));
		return 0;
	case BOOL:
		return gs_parse_bool(text, field, err);
	case RANGE:
		return store_range(k, text, field, err);
	default:
		return store_number(k, text, field, err);
	}
}

void sim_params_default(struct sim_params *p)
{
	memset(p, 0, sizeof(*p));
	for (size_t i = 0; i < GS_COUNT(keys); i++)
		store(&keys[i], keys[i].def, p, NULL);
}

struct loading {
	struct sim_params p;
	bool seen[GS_COUNT(keys)];
	struct gs_error err;
};

static int on_key(void *user, const char *section, const char *name, const char *value)
{
	struct loading *l = user;

	for (size_t i = 0; i < GS_COUNT(keys); i++) {
		if (strcmp(section, keys[i].section) || strcmp(name, keys[i].name))
			continue;
		if (l->seen[i]) {
			gs_fail(&l->err, -EINVAL, "[%s] %s is given twice", section, name);
			return 0;
		}
		l->seen[i] = true;
		if (store(&keys[i], value, &l->p, &l->err) < 0)
			return 0;
		return 1;
	}
	gs_fail(&l->err, -EINVAL, "[%s] %s is not a parameter of the model", section, name);
	return 0;
}

int sim_params_load(const char *path, struct sim_params *ret, char **ret_error)
{
	CLEANUP_FREE unsigned char *text = NULL;
	struct loading l = { 0 };
	struct gs_error err = { 0 };
	size_t len;
	int line, r;

	sim_params_default(&l.p);
	r = gs_read_file(path, SIM_MAX_FILE, &text, &len, &err);
	if (r < 0 && r != -ENOENT && ret_error)
		*ret_error = strdup(err.text);
	if (r < 0)
		return r;
	line = gs_ini_parse_text((char *)text, on_key, &l, &l.err);
	if (line > 0) {
		if (ret_error &&
		    asprintf(ret_error, "%s:%d: %s", path, line,
			     l.err.code ? l.err.text : "not a [section] and not key = value") < 0)
			*ret_error = NULL;
		return -EINVAL;
	}
	*ret = l.p;
	return 0;
}

int sim_params_named(const char *path, struct sim_params *ret, struct gs_error *err)
{
	CLEANUP_FREE char *why = NULL;
	int r = sim_params_load(path, ret, &why);

	if (r && why)
		return gs_fail(err, r, "%s", why);
	return r ? gs_fail(err, r == -ENOENT ? -EINVAL : r, "%s: %s", path, strerror(-r)) : 0;
}
