/* SPDX-License-Identifier: MIT */
/*
 * request.h - begins requests to verbs
 */
#ifndef GPUSCHED_REQUESTS_REQUEST_H
#define GPUSCHED_REQUESTS_REQUEST_H

#include "requests/verb.h"

/*
 * Begins a request. If @verb is NULL, the request fails with a message that no verb @name exists.
 * Returns NULL if out of memory.
 */
struct gs_completion *gs_request_new(struct gs_requests *rs, const struct gs_peer *peer,
				     const struct gs_verb *verb, const char *name,
				     const json_t *args);
/*
 * Like gs_request_new(), with @n bytes of JSON. They are parsed later, in a slice of the user's
 * time. Takes ownership of @body.
 */
struct gs_completion *gs_request_new_text(struct gs_requests *rs, const struct gs_peer *peer,
					  const struct gs_verb *verb, const char *name, char *body,
					  size_t n);

#endif /* GPUSCHED_REQUESTS_REQUEST_H */
