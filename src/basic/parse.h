/* SPDX-License-Identifier: MIT */
/*
 * parse.h - parses text that people write, strictly: no trailing characters; errors name the range
 */
#ifndef GPUSCHED_BASIC_PARSE_H
#define GPUSCHED_BASIC_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"

/* An option of a command line, a file or a verb. @value NULL: the option has no value. */
struct gs_option_text {
	const char *name, *value;
};

/* Decimal or 0x hex, within [min, max]. 0, -EINVAL (not a number), -ERANGE (with the range). */
int gs_parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *ret, struct gs_error *err);
/* Parses "20us" "500ms" "1.5s" "1h30m"; a bare number is in us. The result is in whole us. */
int gs_parse_us(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		struct gs_error *err);
/*
 * Parses a length of time, as for --for: like gs_parse_us(), but a bare number is in seconds ("5",
 * "0.5").
 */
int gs_parse_length(const char *text, uint64_t min_us, uint64_t max_us, uint64_t *ret,
		    struct gs_error *err);
/* yes/no, on/off, true/false, 1/0 */
int gs_parse_bool(const char *text, bool *ret, struct gs_error *err);
int gs_parse_double(const char *text, double min, double max, double *ret, struct gs_error *err);

/*
 * Parses a time in units of @unit_us: a bare number and the result are in these units. "5s" and the
 * like are accepted too. @unit_us 0: a plain number, not a time.
 */
int gs_parse_u64_in(double unit_us, const char *text, uint64_t min, uint64_t max, uint64_t *ret,
		    struct gs_error *err);
int gs_parse_double_in(double unit_us, const char *text, double min, double max, double *ret,
		       struct gs_error *err);
/* The unit at the end of a name ("period_ms", "gap-us"), in us; 0: none. */
double gs_parse_unit(const char *name);
/*
 * Parses a size: "40G" "512M" "1.5T", in units of 1024; "GiB" and "GB" mean the same. At least 1.
 */
int gs_parse_bytes(const char *text, uint64_t max, uint64_t *ret, struct gs_error *err);

#endif /* GPUSCHED_BASIC_PARSE_H */
