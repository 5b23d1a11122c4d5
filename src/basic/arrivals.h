/* SPDX-License-Identifier: MIT */
/*
 * arrivals.h - reads a trace: when requests arrive, and how large each one is
 *
 * The file is CSV with a header line, or with the columns time and size and no header. A column
 * "time" is in seconds, "time_ms" in milliseconds. A column "size" counts kernels, "tokens" counts
 * tokens. Without either, each request has the size 1. Other columns are skipped.
 */
#ifndef GPUSCHED_BASIC_ARRIVALS_H
#define GPUSCHED_BASIC_ARRIVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"
#include "basic/sha256.h"

#define GS_ARRIVALS_MAX 1000000u
#define GS_ARRIVALS_BYTES (64u << 20)
#define GS_ARRIVALS_SPAN_S 86400.0 /* from a trace's begin to its last arrival */
#define GS_ARRIVALS_SIZE_MAX 10000u

struct gs_arrival {
	uint64_t ns;
	unsigned int size, line;
};

/* Sorted by time. */
struct gs_arrivals {
	struct gs_arrival *at;
	size_t n;
	bool tokens; /* the sizes are numbers of tokens */
	char sha256[GS_SHA256_LEN];
};

/*
 * Reads a trace from @text, which ends with a 0. @from_first: the first arrival is at 0, whatever
 * its time in the file. Errors name @name and the line. The caller frees *ret.
 */
int gs_arrivals_parse(const char *name, const unsigned char *text, size_t len, bool from_first,
		      struct gs_arrivals *ret, struct gs_error *err);
int gs_arrivals_read(const char *path, bool from_first, struct gs_arrivals *ret,
		     struct gs_error *err);
void gs_arrivals_free(struct gs_arrivals *a);

/* True if a word names a file, not a kind of arrivals: it has a slash, or ends in .csv. */
bool gs_arrivals_is_file(const char *word);

#endif /* GPUSCHED_BASIC_ARRIVALS_H */
