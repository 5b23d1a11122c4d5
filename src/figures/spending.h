/* SPDX-License-Identifier: MIT */
/*
 * spending.h - accounts for the use of budgets of GPU time by users and cgroups
 *
 * Pure. An account's use begins at 0 with each period. If the clock is set back, the account keeps
 * its use. Each user has a share of the accounts (basic/share.h).
 */
#ifndef GPUSCHED_FIGURES_SPENDING_H
#define GPUSCHED_FIGURES_SPENDING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>

#include "basic/share.h"
#include "config/budget_rule.h"
#include "process/cgroup.h"

#define GS_ACCOUNTS_MAX 4096

struct gs_spending_account {
	UT_hash_handle hh;
	struct gs_spending_key {
		uint32_t rule; /* index of the rule */
		char name[GS_CGROUP_PATH_LEN];
	} key;
	const struct gs_budget_rule *rule;
	uid_t uid; /* the user, or the owner of the first process in the cgroup */
	int64_t begins_s, ends_s;
	uint64_t used_ns;
	/*
	 * Added by gs_spending_add_past(). After the clock went back, @later_past_ns is what was
	 * added for the later period. @used_ns has the larger one.
	 */
	uint64_t past_ns, later_past_ns;
	bool told; /* a message has said that the budget is used up */
};

struct gs_spending {
	struct gs_budget_rules rules; /* owned by this struct */
	struct gs_spending_account *all;
	struct gs_shares shares;
	uint64_t left; /* charges that were dropped, since there was no room for their accounts */
};

/* Takes @rules. Accounts of rules that @old has too keep their use. @old is emptied. */
void gs_spending_begin(struct gs_spending *s, struct gs_budget_rules *rules,
		       struct gs_spending *old);
void gs_spending_done(struct gs_spending *s);

/* Charges GPU time of a process at @now_s to all accounts that count the process. */
void gs_spending_charge(struct gs_spending *s, uid_t uid, const char *cgroup, uint64_t ns,
			int64_t now_s);
/*
 * Adds use that the history has for the @period that began at @begins_s: use by @cgroup, or by user
 * @uid if @cgroup is NULL. Does nothing for rules that already know their past.
 */
void gs_spending_add_past(struct gs_spending *s, enum gs_period period, int64_t begins_s, uid_t uid,
			  const char *cgroup, uint64_t ns);
/* Call this after the last gs_spending_add_past(). Until then, new rules ignore charges. */
void gs_spending_past_over(struct gs_spending *s);
bool gs_spending_wants_past(const struct gs_spending *s);
/*
 * The clock said @was_s, and it is @now_s. Where that is another period, accounts move to it with
 * what was charged, and rules have to learn the past of that period. After a step back, accounts keep
 * the past of the later period if it is the larger one: a clock that is wrong now must not forgive
 * it.
 */
void gs_spending_rebase(struct gs_spending *s, int64_t was_s, int64_t now_s);
/* Ends periods that are over, and forgets accounts without use. */
void gs_spending_roll(struct gs_spending *s, int64_t now_s);

static inline bool gs_spending_is_used_up(const struct gs_spending_account *a)
{
	return a->used_ns >= a->rule->ns;
}
/* True if @rule, a rule for users, is the one that counts @uid. */
bool gs_spending_counts_user(const struct gs_spending *s, uint32_t rule, uid_t uid);
/*
 * The used-up account that keeps a process from running; the strictest if there are several. NULL:
 * none.
 */
const struct gs_spending_account *gs_spending_over(const struct gs_spending *s, uid_t uid,
						   const char *cgroup);

#endif /* GPUSCHED_FIGURES_SPENDING_H */
