/* SPDX-License-Identifier: MIT */
/* fields.h - takes values from a record: what the owner asked, what a call needs */
#ifndef GPUSCHED_ENGINE_FIELDS_H
#define GPUSCHED_ENGINE_FIELDS_H

#include "gpusched/abi.h"
#include "rm/setting.h"
#include "rm/way.h"

/* The owner's settings, every field set: the driver's default for those that it did not ask for. */
struct gpusched_settings gs_fields_asked(const struct gpusched_tsg *rec);

/* The setting @bit as it is: what the last call made it, else what the owner asked for. */
static inline uint32_t gs_is(const struct gpusched_tsg *rec, uint32_t bit)
{
	const struct gpusched_settings asked = gs_fields_asked(rec);

	return gs_field_get(rec->task.is.valid & bit ? &rec->task.is : &asked, bit);
}

/* Settings that a user other than root has set by hand. */
static inline uint32_t gs_users(const struct gpusched_tsg *rec)
{
	return (rec->flags & GPUSCHED_TSG_USERS) >> GPUSCHED_TSG_USERS_SHIFT & rec->manual.valid;
}

/* Applies the engine's poke as the table does, for records outside the table. */
void gs_fields_poke(struct gpusched_tsg *rec, const struct gpusched_poke *p);

/* Fills in what an RM call for this record needs, with its present channels. */
void gs_fields_fill_tsg(struct gs_rm_tsg *t, const struct gpusched_tsg *rec, unsigned int branch);
void gs_fields_fill_channels(struct gs_rm_tsg *t, const struct gpusched_channels *ch);

/*
 * True if the TSG leaves its runlist. Such TSGs are evaluated first, since another TSG may then
 * have the short slice.
 */
static inline bool gs_leaves_runlist(const struct gpusched_tsg *rec)
{
	return (rec->task.want.valid & GPUSCHED_RUNNABLE) && !rec->task.want.runnable;
}

#endif /* GPUSCHED_ENGINE_FIELDS_H */
