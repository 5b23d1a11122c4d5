// SPDX-License-Identifier: MIT
/* TSGs of a GPU, class and cgroup together: their sums outlive them. */
#include <string.h>

#include "figures/ledger_priv.h"

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
		heir = ledger_group(l, &rest);
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

void ledger_join(struct gs_figures *fig, struct kept *k)
{
	struct group_key key = { .gpu = k->who.gpu };
	struct gs_ledger *l = fig->ledger;

	strcpy(key.class, k->who.class);
	strcpy(key.cgroup, k->who.cgroup);
	if (!find_group(l, &key) && HASH_COUNT(l->groups) >= GROUPS_MAX && !make_room(l)) {
		memset(key.cgroup, 0, sizeof(key.cgroup));
		gs_count(fig->hub, GS_SVC_CGROUPS_LEFT);
	}
	ledger_leave(k);
	k->group = ledger_group(l, &key);
	if (!k->group)
		return;
	k->group->live++;
	k->group->pool |= k->who.pool;
}

void ledger_free_groups(struct gs_ledger *l)
{
	struct group *g, *next;

	HASH_ITER(hh, l->groups, g, next) {
		HASH_DEL(l->groups, g);
		free(g);
	}
}
