/* SPDX-License-Identifier: MIT */
/*
 * budget.h - the verb of budgets
 */
#ifndef GPUSCHED_REQUESTS_BUDGET_H
#define GPUSCHED_REQUESTS_BUDGET_H

struct gs_request;

int gs_verb_budget(struct gs_request *rq);

#endif /* GPUSCHED_REQUESTS_BUDGET_H */
