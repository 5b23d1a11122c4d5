/* SPDX-License-Identifier: MIT */
/*
 * setting.h - declares each setting of a TSG once: names, range, words, default, RM operation
 *
 * All code that parses, checks, prints, completes or documents a setting reads gs_settings[]. A
 * setting's index there is the number of its bit in struct gpusched_settings.
 */
#ifndef GPUSCHED_RM_SETTING_H
#define GPUSCHED_RM_SETTING_H

#include <stdbool.h>
#include <string.h>

#include "basic/error.h"
#include "gpusched/abi.h"
#include "rm/field.h"
#include "rm/way.h"

#define GS_NFIELDS 4u
#define GS_BIT(i) (1u << (i))

struct gs_setting {
	const char *name; /* name for people: "timeslice"; NULL: users cannot set it by name */
	const char *key;  /* name in JSON, with the unit: "timeslice_us" */
	uint32_t min, max;
	uint32_t def; /* value that is assumed if a TSG's owner is not known to have set another */
	/* Words for the values from 0 on, ended by NULL. NULL: the setting is a number. */
	const char *const *words;
	bool less_is_more; /* a lower value favours the TSG */
	/* @op sets a value other than 0, @op_zero sets 0 */
	enum gs_rm_op op, op_zero;
};

extern const struct gs_setting gs_settings[GS_NFIELDS];

/* The setting with the bit @bit. */
const struct gs_setting *gs_setting_of(uint32_t bit);
/* The bit of a setting, found by name or JSON key; 0: there is none. */
uint32_t gs_setting_find(const char *name, size_t len);
/* The allowed values, for people: "low, medium or high", "1 to 100000000". Returns @buf. */
const char *gs_setting_choice(uint32_t bit, char buf[64]);
/* Parses a word, a time ("20us") or a number. Returns 0, or -EINVAL or -ERANGE with a message. */
int gs_setting_parse(uint32_t bit, const char *text, uint32_t *ret, struct gs_error *err);
/* Checks that @value is in range. Returns 0, or -ERANGE with a message. */
int gs_setting_check(uint32_t bit, uint64_t value, struct gs_error *err);
/* The word for @value; NULL: the setting is a number, or @value is out of range. */
const char *gs_setting_word(uint32_t bit, uint32_t value);

static inline void gs_field_unset(struct gpusched_settings *s, uint32_t bit)
{
	s->valid &= ~bit;
}
static inline enum gs_rm_op gs_field_op(uint32_t bit, uint32_t value)
{
	return value ? gs_setting_of(bit)->op : gs_setting_of(bit)->op_zero;
}

/* Compares all bytes, which is safe: the structure has no unnamed padding. */
static inline bool gs_settings_same(const struct gpusched_settings *a,
				    const struct gpusched_settings *b)
{
	/* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison) */
	return !memcmp(a, b, sizeof(*a));
}

#endif /* GPUSCHED_RM_SETTING_H */
