// SPDX-License-Identifier: MIT
/* past.c - lists TSGs for which the table had no room, and may have room now */
#include "table/past.h"

#include <bpf/bpf.h>

#include "table/cfg.h"
#include "table/priv.h"
#include "table/procs.h"

/*
 * The same rule as gs_user_may() in maps.bpf.h: a user has at most half of what others leave, and
 * none of the part reserved for root.
 */
static bool user_has_room(struct gs_table *t, uint32_t uid, const struct gpusched_cfg *cfg)
{
	const uint32_t limit = GPUSCHED_ROOM_TSGS - GPUSCHED_ROOM_TSGS / GPUSCHED_ROOT_PART;
	struct gpusched_user user;

	return !uid || bpf_map_lookup_elem(t->fd[GS_PIN_gs_users], &uid, &user) ||
	       user.n[GPUSCHED_IN_TSGS] + cfg->entries[GPUSCHED_IN_TSGS] + 2 <= limit;
}

static bool fits(struct gs_table *t, const struct gpusched_origin *origin)
{
	struct gpusched_proc proc;
	struct gpusched_cfg cfg;

	if (gs_table_cfg(t, &cfg) || gs_proc_get(t, (pid_t)origin->owner, &proc))
		return false;
	return (!cfg.max_tsgs_per_proc || (int32_t)proc.tsgs < (int32_t)cfg.max_tsgs_per_proc) &&
	       (int32_t)proc.devices + 2 < (int32_t)GPUSCHED_MAX_DEVICES_PER_PROC &&
	       user_has_room(t, origin->uid, &cfg);
}

bool gs_past_is_empty(struct gs_table *t)
{
	struct gpusched_key key;

	return bpf_map_get_next_key(t->fd[GS_PIN_gs_past], NULL, &key);
}

size_t gs_past_fitting(struct gs_table *t, struct gs_past_tsg *ret, size_t max)
{
	int fd = t->fd[GS_PIN_gs_past];
	struct gpusched_key key, *at = NULL;
	struct gpusched_origin origin;
	size_t n = 0;

	for (unsigned int i = 0; i < GS_MAX_PLACES && n < max; i++) {
		if (bpf_map_get_next_key(fd, at, &key))
			break;
		at = &key;
		if (!bpf_map_lookup_elem(fd, &key, &origin) && fits(t, &origin))
			ret[n++] = (struct gs_past_tsg){ key, (pid_t)origin.owner };
	}
	return n;
}

bool gs_past_runs(struct gs_table *t)
{
	struct gpusched_key key, *at = NULL;
	struct gpusched_origin origin;
	struct gpusched_stopped value;

	for (unsigned int i = 0; i < GS_MAX_PLACES; i++) {
		struct gpusched_stopped_key waits = { 0 };

		if (bpf_map_get_next_key(t->fd[GS_PIN_gs_past], at, &key))
			return false;
		at = &key;
		if (bpf_map_lookup_elem(t->fd[GS_PIN_gs_past], &key, &origin))
			continue;
		waits.tgid = origin.owner;
		if (bpf_map_lookup_elem(t->fd[GS_PIN_gs_stopped], &waits, &value))
			return true;
	}
	return false;
}

uint32_t gs_past_of(struct gs_table *t, pid_t pid)
{
	struct gpusched_proc proc;

	return gs_proc_get(t, pid, &proc) || (int32_t)proc.past < 0 ? 0 : proc.past;
}

int gs_past_let(struct gs_table *t, pid_t pid)
{
	struct gs_table_arg arg = { .head = { .op = GS_TABLE_LET, .id = (uint64_t)pid } };

	return gs_table_change(t, &arg);
}
