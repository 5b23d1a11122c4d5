/* SPDX-License-Identifier: MIT */
/*
 * parse.h - strict parsing of what people write: no trailing characters, ranges told
 */
#ifndef GPUSCHED_BASIC_PARSE_H
#define GPUSCHED_BASIC_PARSE_H

#include <stdbool.h>
#include <stdint.h>

#include "basic/error.h"

/* Decimal or 0x hex, within [min, max]. 0, -EINVAL (not a number), -ERANGE (with the range). */
int gs_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct gs_error *err);
/* "20us" "2ms" "1s"; a bare number is in us. Result in us. */
int gs_parse_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		struct gs_error *err);
/* yes/no, on/off, true/false, 1/0 */
int gs_parse_bool(const char *text, bool *ret, struct gs_error *err);
int gs_parse_double(const char *text, double min, double max, double *ret, struct gs_error *err);

#endif /* GPUSCHED_BASIC_PARSE_H */
