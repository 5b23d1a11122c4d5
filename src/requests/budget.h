/* SPDX-License-Identifier: MIT */
/*
 * budget.h - the verb `budget`
 */
#ifndef GPUSCHED_REQUESTS_BUDGET_H
#define GPUSCHED_REQUESTS_BUDGET_H

struct gs_request;

struct gs_findings;
struct gs_requests;

int gs_verb_budget(struct gs_request *rq);
/* Adds findings about budgets that are used up: the caller's own, for root all. */
void gs_budgets_judge(struct gs_request *rq, struct gs_findings *ret);
unsigned int gs_budgets_used_up(const struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_BUDGET_H */
