/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * field.h - reads, writes and checks fields of struct gpusched_settings by their bits
 *
 * The kernel module includes this file too (driver/module).
 */
#ifndef GPUSCHED_RM_FIELD_H
#define GPUSCHED_RM_FIELD_H

#include "gpusched/abi.h"

/* Symbol, field, least and greatest value; in the order of the bits. */
#define GS_FIELDS(X) \
	X(TIMESLICE, timeslice_us, GPUSCHED_TIMESLICE_MIN_US, GPUSCHED_TIMESLICE_MAX_US) \
	X(INTERLEAVE, interleave, GPUSCHED_INTERLEAVE_LOW, GPUSCHED_INTERLEAVE_HIGH) \
	X(PREEMPT_MODE, preempt_mode, GPUSCHED_PREEMPT_WFI, GPUSCHED_PREEMPT_CILP) \
	X(RUNNABLE, runnable, 0u, 1u)

enum gs_field_range {
#define X(sym, field, min, max) GS_MIN_##sym = (min), GS_MAX_##sym = (max),
	GS_FIELDS(X)
#undef X
};

static inline gs_u32 gs_field_get(const struct gpusched_settings *s, gs_u32 bit)
{
	switch (bit) {
#define X(sym, field, min, max) \
	case GPUSCHED_##sym: \
		return s->field;
		GS_FIELDS(X)
#undef X
	default:
		return 0;
	}
}

/* Sets one field, and marks it as valid. */
static inline void gs_field_put(struct gpusched_settings *s, gs_u32 bit, gs_u32 value)
{
	s->valid |= bit;
	switch (bit) {
#define X(sym, field, min, max) \
	case GPUSCHED_##sym: \
		s->field = (__typeof__(s->field))value; \
		break;
		GS_FIELDS(X)
#undef X
	}
}

static inline int gs_field_in_range(gs_u32 bit, gs_u64 value)
{
	switch (bit) {
#define X(sym, field, min, max) \
	case GPUSCHED_##sym: \
		return value - (min) <= (gs_u64)(max) - (min); /* a value below @min wraps around */
		GS_FIELDS(X)
#undef X
	default:
		return 0;
	}
}

#endif /* GPUSCHED_RM_FIELD_H */
