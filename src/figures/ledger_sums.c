// SPDX-License-Identifier: MIT
/* Computes sums since the daemon's start: by process, class, cgroup and GPU. */
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "figures/ledger_priv.h"
#include "figures/gpu_time.h"

#define BRING_NS (100 * NS_PER_MS)

/* ---- rows ------------------------------------------------------------------------------------ */

static json_t *new_row(const char *by)
{
	return json_pack("{s:s, s:n, s:n, s:n, s:n, s:n, s:n, s:n}", "by", by, "pid", "comm", "uid",
			 "class", "cgroup", "gpu", "gpu_uuid");
}

struct sum {
	UT_hash_handle hh;
	char name[GS_CGROUP_PATH_LEN]; /* name of the process, class, cgroup or GPU */
	struct gs_history_sums sums;
	bool pool;
	bool is_process;
	struct gs_history_who who; /* for a process: its owner; for a GPU: its index and UUID */
};

/* Returns NULL if out of memory. */
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

static void put_process(const struct gs_history_who *who, json_t *o)
{
	json_object_set_new(o, "pid", json_integer(who->pid));
	gs_json_put_text(o, "comm", who->comm);
	json_object_set_new(o, "uid", json_integer(who->uid));
	gs_json_put_text(o, "class", who->class);
	gs_json_put_text(o, "cgroup", who->cgroup);
	json_object_set_new(o, "gpu", json_integer(who->gpu));
	gs_json_put_text(o, "gpu_uuid", who->gpu_uuid);
}

/* All sums are computed before the first row. A row's JSON is made when the row is asked for. */
struct gs_ledger_rows {
	const char *by;
	struct sum *sums;
};

json_t *gs_ledger_row(struct gs_ledger_rows *r, bool *ret_process, uid_t *ret_uid)
{
	struct sum *sum = r->sums;
	bool gpu = !strcmp(r->by, "gpu");
	json_t *o;

	if (!sum)
		return NULL;
	o = new_row(r->by);
	if (sum->is_process || gpu)
		put_process(&sum->who, o);
	else
		gs_json_put_text(o, r->by, sum->name);
	for (size_t i = 0; gpu && i < 2; i++) /* not a row of a process: user and pid are null */
		json_object_set_new(o, i ? "pid" : "uid", json_null());
	gs_history_put_figures(o, &sum->sums, gpu ? GS_FIGURE_GPU : GS_FIGURE_PROCESS, sum->pool);
	*ret_process = sum->is_process;
	*ret_uid = sum->who.uid;
	HASH_DEL(r->sums, sum);
	free(sum);
	return o;
}

void gs_ledger_rows_free(struct gs_ledger_rows *r)
{
	struct sum *sum, *next;

	HASH_ITER(hh, r->sums, sum, next) {
		HASH_DEL(r->sums, sum);
		free(sum);
	}
	free(r);
}

/*
 * A process may have TSGs in several classes or on several GPUs: the first TSG's class and GPU are
 * shown.
 */
static void sum_processes(struct gs_figures *fig, struct sum **all)
{
	for (struct kept *k = fig->ledger->all; k; k = k->hh.next) {
		struct sum *sum;
		char name[16];

		snprintf(name, sizeof(name), "%d", k->who.pid);
		sum = sum_of(all, name);
		if (!sum)
			break;
		if (!sum->is_process)
			sum->who = k->who;
		sum->is_process = true;
		add_to(sum, &k->total, k->who.pool);
	}
}

static void sum_groups(struct gs_figures *fig, bool by_class, struct sum **all)
{
	for (struct group *g = fig->ledger->groups; g; g = g->hh.next) {
		struct sum *sum;

		if (!g->live && !g->sums.v[GS_SUM_SEEN] && !g->ended.v[GS_SUM_SEEN])
			continue; /* no TSG was in that class on this GPU */
		sum = sum_of(all, by_class ? g->key.class : g->key.cgroup);
		if (!sum)
			break;
		add_to(sum, &g->sums, g->pool);
		add_to(sum, &g->ended, false);
	}
}

static void sum_gpus(struct gs_figures *fig, struct sum **all)
{
	for (size_t i = 0; i < fig->hub->ngpus; i++) {
		struct sum *sum = sum_of(all, fig->hub->gpus[i].uuid);

		if (!sum)
			break;
		sum->who.gpu = fig->hub->gpus[i].index;
		memcpy(sum->who.gpu_uuid, fig->hub->gpus[i].uuid, sizeof(sum->who.gpu_uuid));
		add_to(sum, &fig->ledger->gpus[i].total, false);
	}
}

/* Makes a group for each class on each GPU, used or not, so that metrics show zeros. */
static void fill_groups(struct gs_figures *fig)
{
	for (uint32_t c = 0; c < GPUSCHED_MAX_CLASSES; c++) {
		const char *name = c ? gs_class_name(fig->hub->classes, c) : "";

		for (size_t i = 0; name && i < fig->hub->ngpus; i++) {
			struct group_key key = { .gpu = fig->hub->gpus[i].index };

			snprintf(key.class, sizeof(key.class), "%s", name);
			ledger_group(fig->ledger, &key);
		}
	}
}

static void end_bringing(struct gs_figures *fig)
{
	struct gs_ledger *l = fig->ledger;

	for (size_t i = 0; i < fig->hub->ngpus; i++)
		ledger_take_gpu(fig, i);
	ledger_take_shares(fig);
	free(l->bringing.ids);
	l->bringing.ids = NULL;
	l->brought_ns = gs_now_ns();
}

/* Returns the ids of all TSGs. Some may end before the caller gets to them. */
static uint64_t *ledger_ids(const struct gs_ledger *l, size_t *ret_n)
{
	uint64_t *ids = calloc(HASH_COUNT(l->all) + 1, sizeof(*ids));

	*ret_n = 0;
	for (const struct kept *k = ids ? l->all : NULL; k; k = k->hh.next)
		ids[(*ret_n)++] = k->id;
	return ids;
}

bool gs_ledger_bring_up(struct gs_figures *fig, uint64_t until_ns)
{
	struct gs_ledger *l = fig->ledger;
	struct ledger_bringing *b = &l->bringing;

	if (!b->ids) {
		if (gs_now_ns() - l->brought_ns < BRING_NS)
			return true;
		fill_groups(fig);
		gs_gpu_time_flush(fig);
		b->at = 0;
		b->ids = ledger_ids(l, &b->n);
		if (!b->ids)
			return true;
	}
	for (; b->at < b->n && gs_now_ns() < until_ns; b->at++) {
		struct kept *k = NULL;

		HASH_FIND(hh, l->all, &b->ids[b->at], sizeof(*b->ids), k);
		if (k)
			ledger_take_tsg(fig, k);
	}
	if (b->at < b->n)
		return false;
	end_bringing(fig);
	return true;
}

int gs_ledger_rows(struct gs_figures *fig, bool sees_all, const char *by,
		   struct gs_ledger_rows **ret, struct gs_error *err)
{
	static const char *const names[] = { "process", "class", "cgroup", "gpu" };
	struct gs_ledger_rows *r;
	size_t i = 0;

	while (i < GS_COUNT(names) && strcmp(names[i], by))
		i++;
	if (i == GS_COUNT(names))
		return gs_fail(err, -EINVAL, "by '%.64s': one of process, class, cgroup, gpu", by);
	if (!fig->ledger)
		return gs_fail(err, -ENOTSUP, "without a daemon nobody adds up what was done");
	if (i == 2 && !sees_all)
		return gs_fail(err, -EPERM,
			       "sums by cgroup are for root and whom AllowTrace= names");
	r = calloc(1, sizeof(*r));
	if (!r)
		return -ENOMEM;
	r->by = names[i];
	*ret = r;
	return 0;
}

bool gs_ledger_rows_sum(struct gs_figures *fig, struct gs_ledger_rows *r, uint64_t until_ns)
{
	if (!gs_ledger_bring_up(fig, until_ns))
		return false;
	if (!strcmp(r->by, "process"))
		sum_processes(fig, &r->sums);
	else if (!strcmp(r->by, "gpu"))
		sum_gpus(fig, &r->sums);
	else
		sum_groups(fig, !strcmp(r->by, "class"), &r->sums);
	return true;
}
