/* SPDX-License-Identifier: MIT */
/*
 * budgets.h - GPU time that users and cgroups may have: counted, and what follows when it is used up
 *
 * For a daemon with Budget= in its configuration. A thread asks the history for the use before its
 * start. Until that has answered nobody's time is up.
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

/* Before anything is counted, and when the configuration was read again. */
int gs_budgets_set(struct gs_control *ctl, struct gs_figures *fig, const struct gs_config *config,
		   struct gs_error *err);
void gs_budgets_end(struct gs_control *ctl);
/* As observers: at each heartbeat; a TSG is no more. */
void gs_budgets_beat(void *self);
void gs_budgets_ended(void *self, const struct gs_end *end);

/* NULL: there are none. Up to now. */
const struct gs_spending *gs_budgets_spending(struct gs_control *ctl);
/* All that the history had of the present periods is counted; why not. */
bool gs_budgets_is_complete(const struct gs_control *ctl, const char **ret_why);
/* How many TSGs are suspended for that account; *@ret_mine: one is, or may be, of @uid. */
unsigned int gs_budgets_held(struct gs_control *ctl, const struct gs_spending_account *a, uid_t uid,
			     bool *ret_mine);

#endif /* GPUSCHED_CONTROL_BUDGETS_H */
