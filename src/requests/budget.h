/* SPDX-License-Identifier: MIT */
/*
 * budget.h - handles the verb `budget`, and finds budgets that are used up
 */
#ifndef GPUSCHED_REQUESTS_BUDGET_H
#define GPUSCHED_REQUESTS_BUDGET_H

struct gs_request;

struct gs_findings;
struct gs_requests;

int gs_verb_budget(struct gs_request *rq);
/* Adds findings about used-up budgets: for root all, for other callers only their own. */
void gs_budgets_judge(struct gs_request *rq, struct gs_findings *ret);
/* Counts the budgets that are used up. */
unsigned int gs_budgets_used_up(const struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_BUDGET_H */
