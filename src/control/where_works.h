/* SPDX-License-Identifier: MIT */
/*
 * where_works.h - in which of a process's TSGs its requests work, by the GPUs' logs
 *
 * A process on several GPUs may serve requests on one of them. On the others nobody has to be kept
 * off the GPU for it.
 */
#ifndef GPUSCHED_CONTROL_WHERE_WORKS_H
#define GPUSCHED_CONTROL_WHERE_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_account;

#define GS_WHERE_TSGS 16u /* TSGs of a process for which requests are reported */
/* A TSG that has not worked in so many requests, and for so long, works in none. */
#define GS_WHERE_REQUESTS 8u
#define GS_WHERE_NS 1000000000ull

struct gs_where_tsg {
	struct gpusched_key key;
	uint64_t id;
	uint32_t gpu;
	uint64_t start_ns, worked_ns; /* in the account, as seen last */
	uint64_t seen_ns;             /* when these changed last, or the TSG came */
	unsigned int idle;            /* requests since then */
	bool there;
	bool told; /* the begin of the open request went to it */
};

struct gs_where {
	struct gs_where_tsg tsgs[GS_WHERE_TSGS];
	unsigned int n;
};

/* All TSGs count as gone, until they are added again. TSGs past the limit are left out. */
void gs_where_clear(struct gs_where *w);
void gs_where_add(struct gs_where *w, const struct gpusched_tsg *rec);
/* Looks where the process has worked. @account may be NULL. */
void gs_where_look(struct gs_where *w, const struct gs_account *account, uint64_t now);
/* The same, at the begin of a request. */
void gs_where_request(struct gs_where *w, const struct gs_account *account, uint64_t now);
/* True if requests work in @tsg, and as long as nothing is known. */
bool gs_where_works(const struct gs_where *w, const struct gs_where_tsg *tsg);

#endif /* GPUSCHED_CONTROL_WHERE_WORKS_H */
