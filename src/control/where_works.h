/* SPDX-License-Identifier: MIT */
/*
 * where_works.h - finds by the GPUs' logs in which of a process's TSGs its requests work
 *
 * A process on several GPUs may serve its requests on one of them. Then programs on the other GPUs
 * need not be held.
 */
#ifndef GPUSCHED_CONTROL_WHERE_WORKS_H
#define GPUSCHED_CONTROL_WHERE_WORKS_H

#include <stdbool.h>
#include <stdint.h>

#include "gpusched/abi.h"

struct gs_account;

#define GS_WHERE_TSGS 16u /* TSGs of a process for which requests are reported */
/*
 * Requests count as working in a TSG until it has had no work for GS_WHERE_REQUESTS requests and
 * GS_WHERE_NS.
 */
#define GS_WHERE_REQUESTS 8u
#define GS_WHERE_NS 1000000000ull

struct gs_where_tsg {
	struct gpusched_key key;
	uint64_t id;
	uint32_t gpu;
	uint64_t start_ns, worked_ns; /* the account's figures at the last look */
	uint64_t seen_ns;             /* when these figures last changed; 0: unknown */
	unsigned int idle;            /* requests that began since then */
	bool there;
	bool told; /* it got the begin of the open request */
};

struct gs_where {
	struct gs_where_tsg tsgs[GS_WHERE_TSGS];
	unsigned int n;
};

/* Marks all TSGs as gone; gs_where_add() brings them back. TSGs past the limit are left out. */
void gs_where_clear(struct gs_where *w);
void gs_where_add(struct gs_where *w, const struct gpusched_tsg *rec);
/* Notes which TSGs have worked since the last look. @account may be NULL. */
void gs_where_look(struct gs_where *w, const struct gs_account *account, uint64_t now);
/* Does the same when a request begins, and counts that request. */
void gs_where_request(struct gs_where *w, const struct gs_account *account, uint64_t now);
/* True if requests work in @tsg, or if that is unknown. */
bool gs_where_works(const struct gs_where *w, const struct gs_where_tsg *tsg);

#endif /* GPUSCHED_CONTROL_WHERE_WORKS_H */
