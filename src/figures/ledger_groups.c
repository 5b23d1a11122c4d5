// SPDX-License-Identifier: MIT
/* Keeps groups of TSGs with the same GPU, class and cgroup. A group's sums outlive its TSGs. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/clock.h"
#include "figures/ledger_priv.h"
#include "figures/request_cost.h"
#include "figures/request_costs.h"

static struct group *find_group(struct gs_ledger *l, const struct group_key *key)
{
	struct group *g = NULL;

	HASH_FIND(hh, l->groups, key, sizeof(*key), g);
	return g;
}

struct group *ledger_group(struct gs_ledger *l, const struct group_key *key)
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

/*
 * Adds the ended group's sums to the class's group without a cgroup, so that sums by class lose
 * nothing. They are kept apart from that group's own sums: a jump there would look like use of the
 * GPU at this moment.
 */
static bool end_group(struct gs_ledger *l, struct group *g)
{
	struct group_key rest = { .gpu = g->key.gpu };
	struct group *heir;

	memcpy(rest.class, g->key.class, sizeof(rest.class));
	heir = ledger_group(l, &rest);
	if (!heir)
		return false;
	gs_history_sums_add(&heir->ended, &g->sums);
	gs_request_cost_join_new(&heir->ended_requests, g->requests);
	gs_shares_give(&l->group_shares, g->uid);
	HASH_DEL(l->groups, g);
	free(g->requests);
	free(g);
	return true;
}

/* Ends the oldest resting group of the user with most groups, but none if @uid has more. */
static bool make_room(struct gs_ledger *l, uid_t uid)
{
	uint64_t n, most = gs_shares_of(&l->group_shares, uid);
	struct group *g, *next, *ends = NULL;

	HASH_ITER(hh, l->groups, g, next) {
		if (g->live || !g->key.cgroup[0])
			continue;
		n = gs_shares_of(&l->group_shares, g->uid);
		if (uid && !gs_share_yields(g->uid, n, GROUPS_MAX))
			continue;
		if (n > most || (n == most && !ends)) {
			most = n;
			ends = g;
		}
	}
	return ends && end_group(l, ends);
}

static bool has_room(struct gs_ledger *l, uid_t uid)
{
	const struct gs_shares *s = &l->group_shares;

	return gs_share_allows(uid, gs_shares_of(s, uid), s->all, GROUPS_MAX) || make_room(l, uid);
}

/*
 * True if the pod has ended: its cgroup is gone, and never comes back. Until then, the pod may use
 * the GPU again.
 */
static bool has_ended(const struct group *g)
{
	char path[PATH_MAX];

	if (!gs_cgroup_root())
		return true;
	snprintf(path, sizeof(path), "%s%s", gs_cgroup_root(), g->key.cgroup);
	return access(path, F_OK) && errno == ENOENT;
}

void ledger_end_groups(struct gs_figures *fig)
{
	uint64_t now = gs_now_ns(), keep = fig->hub->config->ended_pods_ms * NS_PER_MS;
	struct gs_ledger *l = fig->ledger;
	struct group *g, *next;

	HASH_ITER(hh, l->groups, g, next)
		if (*g->pod.uid && !g->live && now - g->left_ns >= keep && has_ended(g))
			end_group(l, g);
}

void ledger_leave(struct kept *k)
{
	if (k->group && !--k->group->live)
		k->group->left_ns = gs_now_ns();
	k->group = NULL;
}

void ledger_join(struct gs_figures *fig, struct kept *k)
{
	struct group_key key = { .gpu = k->who.gpu };
	struct gs_ledger *l = fig->ledger;
	bool makes;

	strcpy(key.class, k->who.class);
	strcpy(key.cgroup, k->who.cgroup);
	makes = !find_group(l, &key);
	if (makes && key.cgroup[0] && !has_room(l, k->who.uid)) {
		memset(key.cgroup, 0, sizeof(key.cgroup));
		gs_count(fig->hub, GS_SVC_CGROUPS_LEFT);
	}
	ledger_leave(k);
	k->group = ledger_group(l, &key);
	if (!k->group)
		return;
	/* has_room() has looked at the bound */
	if (makes && key.cgroup[0] && gs_shares_take(&l->group_shares, k->who.uid, UINT64_MAX))
		k->group->uid = k->who.uid;
	k->group->live++;
	if (!*k->group->pod.pod)
		k->group->pod = k->who.pod;
	k->group->pool |= k->who.pool;
}

void ledger_free_groups(struct gs_ledger *l)
{
	struct group *g, *next;

	HASH_ITER(hh, l->groups, g, next) {
		HASH_DEL(l->groups, g);
		free(g->requests);
		free(g->ended_requests);
		free(g);
	}
	gs_shares_done(&l->group_shares);
}
