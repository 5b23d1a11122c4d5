// SPDX-License-Identifier: MIT
#include "figures/heirs.h"

#include <stdlib.h>

#include "figures/ledger_priv.h"
#include "figures/memory.h"
#include "process/process.h"
#include "table/table.h"

static int by_pid(const void *a, const void *b)
{
	const struct gs_memory_process *x = a, *y = b;

	return (x->pid > y->pid) - (x->pid < y->pid);
}

struct gs_memory_process *gs_heirs_entry(const struct gs_memory_process *all, size_t n,
					 uint32_t pid)
{
	const struct gs_memory_process key = { .pid = pid };

	return n ? bsearch(&key, all, n, sizeof(*all), by_pid) : NULL;
}

static bool any_has_ended(const struct gs_memory_process *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].ended)
			return true;
	return false;
}

/* The client's maker may have left the TSG to another process, or may have got the TSG from it. */
static void meet(struct gs_table *t, struct kept *k, struct gs_memory_process *all, size_t n)
{
	struct gs_memory_process *from;
	struct gpusched_tsg rec;

	if (gs_table_get(t, &k->key, &rec) || rec.task.id != k->id)
		return;
	k->holder = rec.task.pid;
	from = gs_heirs_entry(all, n, k->holder);
	if (from)
		from->has_row = true;
	from = gs_heirs_entry(all, n, gs_table_client_owner(t, &k->key));
	if (!from || !from->ended || from->pid == k->holder ||
	    (from->heir && from->heir_start_ns <= rec.owner_start_ns) ||
	    !gs_process_has_memory((pid_t)k->holder))
		return;
	from->heir = k->holder;
	from->heir_start_ns = rec.owner_start_ns;
}

static void give(struct gs_memory_process *from, struct gs_memory_process *all, size_t sorted,
		 size_t *inout_n)
{
	struct gs_memory_process *to = gs_heirs_entry(all, sorted, from->heir);

	for (size_t i = sorted; !to && i < *inout_n; i++)
		if (all[i].pid == from->heir)
			to = &all[i];
	if (!to) {
		to = &all[(*inout_n)++];
		*to = (struct gs_memory_process){ .pid = from->heir, .has_row = true };
	}
	to->own_bytes += from->own_bytes;
	to->shared_bytes += from->shared_bytes;
	from->given = true;
}

void gs_heirs_find(struct gs_figures *fig, uint32_t gpu, struct gs_memory_process *all,
		   size_t *inout_n)
{
	size_t n = *inout_n;

	if (!fig->hub->table || !any_has_ended(all, n))
		return;
	for (struct kept *k = fig->ledger->all; k; k = k->hh.next)
		if (k->who.gpu == gpu)
			meet(fig->hub->table, k, all, n);
	for (size_t i = 0; i < n; i++)
		if (all[i].heir)
			give(&all[i], all, n, inout_n);
	qsort(all, *inout_n, sizeof(*all), by_pid);
}
