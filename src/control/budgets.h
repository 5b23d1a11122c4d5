/* SPDX-License-Identifier: MIT */
/*
 * budgets.h - budgets of GPU time of users and cgroups: use is counted, and TSGs are held back when
 * a budget is used up
 *
 * For a daemon with Budget= in its configuration. A thread reads the use before the daemon's start
 * from the history. Until it is done, no budget counts as used up.
 */
#ifndef GPUSCHED_CONTROL_BUDGETS_H
#define GPUSCHED_CONTROL_BUDGETS_H

#include <stdbool.h>

#include "basic/error.h"
#include "figures/spending.h"

struct gs_budgets;
struct gs_config;
struct gs_control;
struct gs_end;
struct gs_figures;

/* Call this before anything is counted, and when the configuration was read again. */
int gs_budgets_set(struct gs_control *ctl, struct gs_figures *fig, const struct gs_config *config,
		   struct gs_error *err);
void gs_budgets_end(struct gs_control *ctl);
/* The observer's functions: at each heartbeat; when a TSG ends. */
void gs_budgets_beat(void *self);
void gs_budgets_ended(void *self, const struct gs_end *end);

/* The accounts, up to now; NULL: there are no budgets. */
const struct gs_spending *gs_budgets_spending(struct gs_control *ctl);
/*
 * True if use from the history is counted for the present periods; otherwise @ret_why says why not.
 */
bool gs_budgets_is_complete(const struct gs_control *ctl, const char **ret_why);
/*
 * How many TSGs are suspended because of that account; *@ret_mine: one of them is, or may be,
 * @uid's.
 */
unsigned int gs_budgets_held(struct gs_control *ctl, const struct gs_spending_account *a, uid_t uid,
			     bool *ret_mine);

#endif /* GPUSCHED_CONTROL_BUDGETS_H */
