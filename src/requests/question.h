/* SPDX-License-Identifier: MIT */
/*
 * question.h - a query of the history, which a thread runs
 */
#ifndef GPUSCHED_REQUESTS_QUESTION_H
#define GPUSCHED_REQUESTS_QUESTION_H

struct gs_requests;

/* Waits until the query under way is answered. */
void gs_questions_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_QUESTION_H */
