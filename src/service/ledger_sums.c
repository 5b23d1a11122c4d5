// SPDX-License-Identifier: MIT
/* Sums since the daemon's start: by process, class, cgroup and GPU. */
#include <errno.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "service/ledger_priv.h"

/* ---- groups ---------------------------------------------------------------------------------- */

static struct group *find_group(struct gs_ledger *l, const struct group_key *key)
{
	struct group *g = NULL;

	HASH_FIND(hh, l->groups, key, sizeof(*key), g);
	return g;
}

static struct group *make_group(struct gs_ledger *l, const struct group_key *key)
{
	struct group *g = find_group(l, key);

	if (g)
		return g;
	g = calloc(1, sizeof(*g));
	if (!g)
		return NULL;
	g->key = *key;
	HASH_ADD(hh, l->groups, key, sizeof(g->key), g);
	return g;
}

/* One whose TSGs have all ended counts on as one of no cgroup: sums by class lose nothing. */
static bool make_room(struct gs_ledger *l)
{
	struct group *g, *next;

	HASH_ITER(hh, l->groups, g, next) {
		struct group_key rest = { .gpu = g->key.gpu };
		struct group *heir;

		if (g->live || !g->key.cgroup[0])
			continue;
		memcpy(rest.class, g->key.class, sizeof(rest.class));
		heir = make_group(l, &rest);
		if (!heir)
			return false;
		gs_history_sums_add(&heir->sums, &g->sums);
		HASH_DEL(l->groups, g);
		free(g);
		return true;
	}
	return false;
}

void ledger_leave(struct kept *k)
{
	if (k->group)
		k->group->live--;
	k->group = NULL;
}

void ledger_join(struct gs_service *s, struct kept *k)
{
	struct group_key key = { .gpu = k->who.gpu };
	struct gs_ledger *l = s->ledger;

	strcpy(key.class, k->who.class);
	strcpy(key.cgroup, k->who.cgroup);
	if (!find_group(l, &key) && HASH_COUNT(l->groups) >= GROUPS_MAX && !make_room(l)) {
		memset(key.cgroup, 0, sizeof(key.cgroup));
		gs_count(s, GS_SVC_CGROUPS_LEFT);
	}
	ledger_leave(k);
	k->group = make_group(l, &key);
	if (!k->group)
		return;
	k->group->live++;
	k->group->pool |= k->who.pool;
}

void ledger_fill_groups(struct gs_service *s)
{
	for (uint32_t c = 0; c < GPUSCHED_MAX_CLASSES; c++) {
		const char *name = c ? gs_class_name(s->classes, c) : "";

		for (size_t i = 0; name && i < s->ngpus; i++) {
			struct group_key key = { .gpu = s->gpus[i].index };

			snprintf(key.class, sizeof(key.class), "%s", name);
			make_group(s->ledger, &key);
		}
	}
}

void ledger_free_groups(struct gs_ledger *l)
{
	struct group *g, *next;

	HASH_ITER(hh, l->groups, g, next) {
		HASH_DEL(l->groups, g);
		free(g);
	}
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void put_text(json_t *o, const char *key, const char *text)
{
	json_object_set_new(o, key, *text ? gs_json_text(text) : json_null());
}

static json_t *new_row(const char *by)
{
	return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "by", by, "pid", "comm", "uid",
			 "class", "cgroup", "gpu", "gpu_uuid");
}

struct sum {
	UT_hash_handle hh;
	char name[GS_CGROUP_PATH_LEN]; /* what it is a sum of */
	struct gs_history_sums sums;
	bool pool;
	const struct kept *first; /* of a process */
};

/* NULL: out of memory. */
static struct sum *sum_of(struct sum **all, const char *name)
{
	struct sum *sum = NULL;

	HASH_FIND_STR(*all, name, sum);
	if (sum)
		return sum;
	sum = calloc(1, sizeof(*sum));
	if (!sum)
		return NULL;
	snprintf(sum->name, sizeof(sum->name), "%s", name);
	HASH_ADD_STR(*all, name, sum);
	return sum;
}

static void add_to(struct sum *sum, const struct gs_history_sums *sums, bool pool)
{
	gs_history_sums_add(&sum->sums, sums);
	sum->pool |= pool;
}

static void put_process(const struct sum *sum, json_t *o)
{
	const struct gs_history_who *who = &sum->first->who;

	json_object_set_new(o, "pid", json_integer(who->pid));
	put_text(o, "comm", who->comm);
	json_object_set_new(o, "uid", json_integer(who->uid));
	put_text(o, "class", who->class);
	put_text(o, "cgroup", who->cgroup);
	json_object_set_new(o, "gpu", json_integer(who->gpu));
	put_text(o, "gpu_uuid", who->gpu_uuid);
}

/* Takes @all. */
static json_t *rows_of(struct sum *all, const char *by, const struct gs_view *view)
{
	json_t *rows = json_array();
	struct sum *sum, *next;

	HASH_ITER(hh, all, sum, next) {
		json_t *o = new_row(by);

		if (sum->first)
			put_process(sum, o);
		else
			put_text(o, by, sum->name);
		gs_history_put_figures(o, &sum->sums, GS_FIGURE_PROCESS, sum->pool);
		if (sum->first)
			gs_view_tsg(view, sum->first->who.uid, o);
		json_array_append_new(rows, o);
		HASH_DEL(all, sum);
		free(sum);
	}
	return rows;
}

/* Of one with TSGs in several classes or on several GPUs those of the first are told. */
static json_t *process_rows(struct gs_service *s, const struct gs_view *view)
{
	struct sum *all = NULL;

	for (struct kept *k = s->ledger->all; k; k = k->hh.next) {
		struct sum *sum;
		char name[16];

		snprintf(name, sizeof(name), "%d", k->who.pid);
		sum = sum_of(&all, name);
		if (!sum)
			break;
		sum->first = sum->first ? sum->first : k;
		add_to(sum, &k->total, k->who.pool);
	}
	return rows_of(all, "process", view);
}

static json_t *group_rows(struct gs_service *s, bool by_class)
{
	struct sum *all = NULL;

	for (struct group *g = s->ledger->groups; g; g = g->hh.next) {
		struct sum *sum;

		if (!g->live && !g->sums.v[GS_SUM_SEEN])
			continue; /* nobody came */
		sum = sum_of(&all, by_class ? g->key.class : g->key.cgroup);

		if (!sum)
			break;
		add_to(sum, &g->sums, g->pool);
	}
	return rows_of(all, by_class ? "class" : "cgroup", NULL);
}

static json_t *gpu_rows(struct gs_service *s)
{
	json_t *rows = json_array();

	for (size_t i = 0; i < s->ngpus; i++) {
		json_t *o = new_row("gpu");

		json_object_set_new(o, "gpu", json_integer(s->gpus[i].index));
		put_text(o, "gpu_uuid", s->gpus[i].uuid);
		gs_history_put_figures(o, &s->ledger->gpus[i].total, GS_FIGURE_GPU, false);
		json_array_append_new(rows, o);
	}
	return rows;
}

void gs_ledger_bring_up(struct gs_service *s)
{
	ledger_fill_groups(s);
	gs_sight_flush(s);
	for (struct kept *k = s->ledger->all; k; k = k->hh.next)
		ledger_take_tsg(s, k);
	for (size_t i = 0; i < s->ngpus; i++)
		ledger_take_gpu(s, i);
}

int gs_ledger_rows(struct gs_service *s, const struct gs_view *view, const char *by, json_t **ret,
		   struct gs_error *err)
{
	if (!s->ledger)
		return gs_fail(err, -ENOTSUP, "without a daemon nobody adds up what was done");
	if (!strcmp(by, "cgroup") && !gs_view_sees_all_times(view))
		return gs_fail(err, -EPERM,
			       "sums by cgroup are for root and whom AllowTrace= names");
	gs_ledger_bring_up(s);
	if (!strcmp(by, "process"))
		*ret = process_rows(s, view);
	else if (!strcmp(by, "class") || !strcmp(by, "cgroup"))
		*ret = group_rows(s, !strcmp(by, "class"));
	else if (!strcmp(by, "gpu"))
		*ret = gpu_rows(s);
	else
		return gs_fail(err, -EINVAL, "by '%.64s': one of process, class, cgroup, gpu", by);
	return 0;
}
