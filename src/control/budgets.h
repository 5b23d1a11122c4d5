/* SPDX-License-Identifier: MIT */
/*
 * budgets.h - counts use of GPU time, and holds TSGs back when a budget is used up
 *
 * For a daemon with Budget= in its configuration. A thread finds the use before the daemon's start
 * in the history. Until it is done, no budget counts as used up.
 */
#ifndef GPUSCHED_CONTROL_BUDGETS_H
#define GPUSCHED_CONTROL_BUDGETS_H

#include <stdbool.h>

#include "basic/error.h"
#include "figures/spending.h"

struct gs_budgets;
struct gs_control;
struct gs_end;
struct gs_figures;

/*
 * Call this before anything is counted, and when the configuration was read again. Takes the rules
 * out of *@rules.
 */
int gs_budgets_set(struct gs_control *ctl, struct gs_figures *fig, struct gs_budget_rules *rules,
		   struct gs_error *err);
void gs_budgets_end(struct gs_control *ctl);
/* The observer's functions: at each heartbeat; when a TSG ends. */
void gs_budgets_beat(void *self);
void gs_budgets_ended(void *self, const struct gs_end *end);

/* The accounts, up to now; NULL: there are no budgets. */
const struct gs_spending *gs_budgets_spending(struct gs_control *ctl);
/* The time that the periods of budgets follow, in s since 1970. For an instance with budgets. */
int64_t gs_budgets_now_s(struct gs_control *ctl);
/*
 * True if use from the history is counted for the present periods; otherwise @ret_why says why not.
 */
bool gs_budgets_is_complete(const struct gs_control *ctl, const char **ret_why);
/*
 * Returns how many TSGs are suspended because of @a. *@ret_mine: a TSG of @uid is, or may be, one
 * of them.
 */
unsigned int gs_budgets_held(struct gs_control *ctl, const struct gs_spending_account *a, uid_t uid,
			     bool *ret_mine);

#endif /* GPUSCHED_CONTROL_BUDGETS_H */
