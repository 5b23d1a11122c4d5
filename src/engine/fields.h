/* SPDX-License-Identifier: MIT */
/* fields.h - the four settings of a TSG by their bit, so that code can loop over them */
#ifndef GPUSCHED_ENGINE_FIELDS_H
#define GPUSCHED_ENGINE_FIELDS_H

#include "gpusched/abi.h"
#include "rm/rm.h"

#define GS_NFIELDS 4u
#define GS_BIT(i) (1u << (i))

uint32_t gs_field_get(const struct gpusched_settings *s, uint32_t bit);
/* Sets the valid bit too. */
void gs_field_put(struct gpusched_settings *s, uint32_t bit, uint32_t value);
static inline void gs_field_unset(struct gpusched_settings *s, uint32_t bit)
{
	s->valid &= ~bit;
}

bool gs_field_in_range(uint32_t bit, uint32_t value);
/* "timeslice_us must be 1..100000000" */
const char *gs_field_range(uint32_t bit);
enum gs_rm_op gs_field_op(uint32_t bit, uint32_t value);

/* What the owner asked, every field filled: where it asked nothing, the driver's default. */
struct gpusched_settings gs_asked(const struct gpusched_tsg *rec);

/* What an RM call on this record needs, its channels as they are now. */
void gs_fill_tsg(struct gs_rm_tsg *t, const struct gpusched_tsg *rec, unsigned int branch);
void gs_fill_channels(struct gs_rm_tsg *t, const struct gpusched_channels *ch);

#endif /* GPUSCHED_ENGINE_FIELDS_H */
