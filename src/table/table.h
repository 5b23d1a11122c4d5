/* SPDX-License-Identifier: MIT */
/*
 * table.h - opens the TSG table: records in pinned maps
 *
 * The taps are BPF programs on the exit of ioctl (and on fork, exec and exit). Their links,
 * programs and maps are pinned under gs_env()->bpffs. So they run on without a daemon, and a
 * restarted daemon has missed nothing. Root only (CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN for the
 * pins).
 */
#ifndef GPUSCHED_TABLE_TABLE_H
#define GPUSCHED_TABLE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "basic/error.h"
#include "gpusched/abi.h"

struct gs_table;
/* -ENOENT: the taps are off. -ESTALE: the table is of an older version. -EPROTO: of a newer one. */
int gs_table_open(struct gs_table **ret, struct gs_error *err);
/*
 * For restoring: opens an older version's table, or what is left of an incomplete one. If a map is
 * missing, only its use fails. -ENODATA: there are no records.
 */
int gs_table_open_remains(struct gs_table **ret, struct gs_error *err);
/* Version of the pinned table; -EPROTO: newer than this program knows. */
int gs_table_version(unsigned int *ret, struct gs_error *err);
void gs_table_close(struct gs_table *t);
/* For linking policies: descriptor of a pinned map or program by its name in abi.h; -ENOENT. */
int gs_table_map_fd(const struct gs_table *t, const char *name);

int gs_table_get(struct gs_table *t, const struct gpusched_key *key, struct gpusched_tsg *ret);
/* True if the table has no entries, so that a sweep would find nothing. */
bool gs_table_is_empty(struct gs_table *t);
/* Reads all records. The caller frees the array. */
int gs_table_all(struct gs_table *t, struct gpusched_tsg **ret, size_t *ret_n);
/* The process and thread that made the TSG; 0: unknown. */
struct gpusched_maker gs_table_maker(struct gs_table *t, const struct gpusched_tsg *rec);
/* The process that made the client of TSG @key; 0: unknown. */
uint32_t gs_table_client_owner(struct gs_table *t, const struct gpusched_key *key);
int gs_table_channels(struct gs_table *t, const struct gpusched_key *key,
		      struct gpusched_channels *ret);
/*
 * True if the gate holds the owner's call to schedule the TSG. The driver has not seen the call, so
 * there is nothing to suspend.
 */
static inline bool gs_at_gate(const struct gpusched_tsg *rec)
{
	return (rec->flags & (GPUSCHED_TSG_GATED | GPUSCHED_TSG_SCHEDULED)) == GPUSCHED_TSG_GATED;
}

/*
 * Changes in place the fields named in poke->what. -ENOENT: no record; -ESTALE: a newer record has
 * the key.
 */
int gs_table_poke(struct gs_table *t, struct gpusched_poke *poke);
/* For adoption only: inserts a record and sets its id. -EEXIST: the taps have already made it. */
int gs_table_insert(struct gs_table *t, struct gpusched_tsg *inout_rec,
		    const struct gpusched_channels *ch);
int gs_table_remove(struct gs_table *t, const struct gpusched_key *key);

#endif /* GPUSCHED_TABLE_TABLE_H */
