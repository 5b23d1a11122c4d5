/* SPDX-License-Identifier: MIT */
/*
 * share.h - divides what is bounded among users
 *
 * A user may have half of what the others leave, and a sixteenth is root's alone. So one user alone
 * has at most 47 %, and late users still get something. The BPF programs have the same rule for the
 * table (gs_user_may() in table/maps.bpf.h).
 */
#ifndef GPUSCHED_BASIC_SHARE_H
#define GPUSCHED_BASIC_SHARE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define GS_SHARE_OF_ROOT 16 /* 1/16, at least 1 */

/*
 * True if @uid may have one more of @max: it has @own of the @all that are taken. Root may as long
 * as there is one.
 */
bool gs_share_allows(uid_t uid, uint64_t own, uint64_t all, uint64_t max);
/* True if @uid, with @own of @max, may lose one to another user. Root keeps its sixteenth. */
bool gs_share_yields(uid_t uid, uint64_t own, uint64_t max);

struct gs_share_user;

/* The shares of a store. All 0 at first. */
struct gs_shares {
	struct gs_share_user *users;
	uint64_t all;
};

/* Counts one more for @uid. False: its share of @max is used up, or there is no memory. */
bool gs_shares_take(struct gs_shares *s, uid_t uid, uint64_t max);
void gs_shares_give(struct gs_shares *s, uid_t uid);
uint64_t gs_shares_of(const struct gs_shares *s, uid_t uid);
void gs_shares_done(struct gs_shares *s);

#endif /* GPUSCHED_BASIC_SHARE_H */
