// SPDX-License-Identifier: MIT
#include "rm/setting.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "basic/parse.h"

static const char *const level_words[] = { GPUSCHED_INTERLEAVE_WORDS, NULL };
static const char *const mode_words[] = { GPUSCHED_PREEMPT_WORDS, NULL };

const struct gs_setting gs_settings[GS_NFIELDS] = {
	{ .name = "timeslice",
	  .key = "timeslice_us",
	  .min = GS_MIN_TIMESLICE,
	  .max = GS_MAX_TIMESLICE,
	  .def = GPUSCHED_DRIVER_TIMESLICE_US,
	  .op = GS_RM_SET_TIMESLICE,
	  .op_zero = GS_RM_SET_TIMESLICE },
	{ .name = "interleave",
	  .key = "interleave",
	  .min = GS_MIN_INTERLEAVE,
	  .max = GS_MAX_INTERLEAVE,
	  .def = GPUSCHED_INTERLEAVE_MEDIUM,
	  .words = level_words,
	  .op = GS_RM_SET_INTERLEAVE,
	  .op_zero = GS_RM_SET_INTERLEAVE },
	{ .name = "preempt_mode",
	  .key = "preempt_mode",
	  .min = GS_MIN_PREEMPT_MODE,
	  .max = GS_MAX_PREEMPT_MODE,
	  .def = GPUSCHED_PREEMPT_CILP, /* CUDA sets this mode; assumed if no tap saw the call */
	  .words = mode_words,
	  .less_is_more = true, /* in a lower mode, the TSG can stay on the GPU longer */
	  .op = GS_RM_SET_PREEMPT_MODE,
	  .op_zero = GS_RM_SET_PREEMPT_MODE },
	{ .key = "runnable",
	  .min = GS_MIN_RUNNABLE,
	  .max = GS_MAX_RUNNABLE,
	  .def = 1,
	  .op = GS_RM_RESUME,
	  .op_zero = GS_RM_SUSPEND },
};

const struct gs_setting *gs_setting_of(uint32_t bit)
{
	return &gs_settings[bit == GPUSCHED_TIMESLICE      ? 0
			    : bit == GPUSCHED_INTERLEAVE   ? 1
			    : bit == GPUSCHED_PREEMPT_MODE ? 2
							   : 3];
}

uint32_t gs_setting_find(const char *name, size_t len)
{
	for (unsigned int i = 0; i < GS_NFIELDS; i++) {
		const struct gs_setting *s = &gs_settings[i];

		if (s->name && ((strlen(s->name) == len && !strncmp(s->name, name, len)) ||
				(strlen(s->key) == len && !strncmp(s->key, name, len))))
			return GS_BIT(i);
	}
	return 0;
}

const char *gs_setting_choice(uint32_t bit, char buf[64])
{
	const struct gs_setting *s = gs_setting_of(bit);
	int at = 0;

	if (!s->words)
		snprintf(buf, 64, "%u to %u", s->min, s->max);
	for (uint32_t v = 0; s->words && v <= s->max; v++)
		at += snprintf(buf + at, 64 - (size_t)at, "%s%s",
			       !v            ? ""
			       : v == s->max ? " or "
					     : ", ",
			       s->words[v]);
	return buf;
}

int gs_setting_check(uint32_t bit, uint64_t value, struct gs_error *err)
{
	const struct gs_setting *s = gs_setting_of(bit);
	char choice[64];

	if (gs_field_in_range(bit, value))
		return 0;
	return gs_fail(err, -ERANGE, "%s %s %s", s->key,
		       s->words ? "must be" : "is out of range:", gs_setting_choice(bit, choice));
}

int gs_setting_parse(uint32_t bit, const char *text, uint32_t *ret, struct gs_error *err)
{
	const struct gs_setting *s = gs_setting_of(bit);
	char choice[64];
	uint64_t value;
	int r;

	for (uint32_t v = 0; s->words && s->words[v]; v++) {
		if (!strcasecmp(s->words[v], text)) {
			*ret = v;
			return 0;
		}
	}
	if (s->words && gs_parse_u64(text, s->min, s->max, &value, NULL))
		return gs_fail(err, -EINVAL, "%s must be %s, not '%.64s'", s->key,
			       gs_setting_choice(bit, choice), text);
	r = s->words ? 0 : gs_parse_us(text, s->min, s->max, &value, err);
	if (!r)
		*ret = (uint32_t)value;
	return r;
}

const char *gs_setting_word(uint32_t bit, uint32_t value)
{
	const struct gs_setting *s = gs_setting_of(bit);

	return s->words && value <= s->max ? s->words[value] : NULL;
}
