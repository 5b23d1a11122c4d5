/* SPDX-License-Identifier: MIT */
/*
 * request.h - a request from its beginning to its answer
 */
#ifndef GPUSCHED_REQUESTS_REQUEST_H
#define GPUSCHED_REQUESTS_REQUEST_H

#include "requests/verb.h"

/* @verb: NULL: there is none of that @name, which is the answer. NULL: out of memory. */
struct gs_completion *gs_request_new(struct gs_requests *rs, const struct gs_peer *peer,
				     const struct gs_verb *verb, const char *name,
				     const json_t *args);
/* With arguments as they came, JSON of @n bytes, which it takes: read in that user's turn. */
struct gs_completion *gs_request_new_text(struct gs_requests *rs, const struct gs_peer *peer,
					  const struct gs_verb *verb, const char *name, char *body,
					  size_t n);

#endif /* GPUSCHED_REQUESTS_REQUEST_H */
