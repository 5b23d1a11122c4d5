/* SPDX-License-Identifier: MIT */
/*
 * question.h - runs queries of the history in a separate thread
 */
#ifndef GPUSCHED_REQUESTS_QUESTION_H
#define GPUSCHED_REQUESTS_QUESTION_H

struct gs_requests;

/* Waits for the query that is under way, if any. */
void gs_verb_history_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_QUESTION_H */
