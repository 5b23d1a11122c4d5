/* SPDX-License-Identifier: MIT */
/*
 * question.h - a question to the history, which a thread asks
 */
#ifndef GPUSCHED_REQUESTS_QUESTION_H
#define GPUSCHED_REQUESTS_QUESTION_H

struct gs_requests;

/* Waits for the one that is being answered. */
void gs_questions_end(struct gs_requests *rs);

#endif /* GPUSCHED_REQUESTS_QUESTION_H */
