/* SPDX-License-Identifier: MIT */
/*
 * request.h - a request from its beginning to its answer
 */
#ifndef GPUSCHED_REQUESTS_REQUEST_H
#define GPUSCHED_REQUESTS_REQUEST_H

#include "requests/verb.h"

/*
 * @verb may be NULL: then the answer is that there is no verb @name. Returns NULL if out of memory.
 */
struct gs_completion *gs_request_new(struct gs_requests *rs, const struct gs_peer *peer,
				     const struct gs_verb *verb, const char *name,
				     const json_t *args);
/*
 * The same with unparsed arguments: @n bytes of JSON, which it takes and parses in the user's turn.
 */
struct gs_completion *gs_request_new_text(struct gs_requests *rs, const struct gs_peer *peer,
					  const struct gs_verb *verb, const char *name, char *body,
					  size_t n);

#endif /* GPUSCHED_REQUESTS_REQUEST_H */
