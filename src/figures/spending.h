/* SPDX-License-Identifier: MIT */
/*
 * spending.h - accounts of GPU time by user or cgroup: what was used of a budget, and what is left
 *
 * Pure. A period that has passed is forgotten whole. Nothing but a charge makes an account stricter:
 * not a clock that is set, nor what is read of a history that says less.
 */
#ifndef GPUSCHED_FIGURES_SPENDING_H
#define GPUSCHED_FIGURES_SPENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include "config/budget_rule.h"
#include "process/cgroup.h"

#define GS_ACCOUNTS_MAX 4096

struct gs_spending_account {
	UT_hash_handle hh;
	struct gs_spending_key {
		uint32_t rule; /* its number among the rules */
		char name[GS_CGROUP_PATH_LEN];
	} key;
	const struct gs_budget_rule *rule;
	uid_t uid; /* with rule->by_user */
	int64_t begins_s, ends_s;
	uint64_t used_ns;
	bool told; /* that it is used up */
};

struct gs_spending {
	struct gs_budget_rules rules; /* its own */
	struct gs_spending_account *all;
	uint64_t left; /* charges to accounts that had no room */
};

/* Takes @rules; accounts of rules that @old has as well keep what was used. @old is done with. */
void gs_spending_begin(struct gs_spending *s, struct gs_budget_rules *rules,
		       struct gs_spending *old);
void gs_spending_done(struct gs_spending *s);

/* GPU time of a process at @now_s, to all accounts that count it. */
void gs_spending_charge(struct gs_spending *s, uid_t uid, const char *cgroup, uint64_t ns,
			int64_t now_s);
/*
 * Use in the period of @period that began then, as a history has it: a row of a user
 * (@cgroup NULL) or of a cgroup. Rules with a known past take nothing of it.
 */
void gs_spending_add_past(struct gs_spending *s, enum gs_period period, int64_t begins_s, uid_t uid,
			  const char *cgroup, uint64_t ns);
/* That was all: from here on charges count. */
void gs_spending_past_over(struct gs_spending *s);
bool gs_spending_wants_past(const struct gs_spending *s);
/* Periods that are over are forgotten, and accounts of which nothing is used. */
void gs_spending_roll(struct gs_spending *s, int64_t now_s);

static inline bool gs_spending_is_used_up(const struct gs_spending_account *a)
{
	return a->used_ns >= a->rule->ns;
}
/* That rule, of users, is the one that counts @uid. */
bool gs_spending_counts_user(const struct gs_spending *s, uint32_t rule, uid_t uid);
/* The one that keeps a process from running, the strictest first; NULL: none. */
const struct gs_spending_account *gs_spending_over(const struct gs_spending *s, uid_t uid,
						   const char *cgroup);

#endif /* GPUSCHED_FIGURES_SPENDING_H */
