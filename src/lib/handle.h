/* SPDX-License-Identifier: MIT */
/*
 * handle.h - what a handle of the library uses: a daemon's socket (remote.c), or another
 * implementation that a program brings (src/local)
 */
#ifndef GPUSCHED_LIB_HANDLE_H
#define GPUSCHED_LIB_HANDLE_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"
#include "gpusched/gpusched.h"

enum gs_stream {
	GS_STREAM_EVENTS, /* of the verb `watch` */
	GS_STREAM_TURNS,  /* with turns and counters, of the verb `trace` */
};

struct gs_handle_ops {
	bool (*has_daemon)(const void *self);
	/* Sends one verb. 0 with its answer (malloc'd JSON), or a negative errno with one line. */
	int (*request)(void *self, const char *verb, const json_t *args, char **ret,
		       struct gs_error *err);
	/*
	 * Passes lines to @fn until @fn returns non-zero (then returns that), or until the end (0),
	 * -ETIMEDOUT or -EINTR. The subscription stays, so a caller that comes back has missed
	 * nothing.
	 */
	int (*stream)(void *self, enum gs_stream which, gpusched_event_fn fn, void *user,
		      uint64_t timeout_us, struct gs_error *err);
	void (*free)(void *self);
};

struct gpusched {
	struct gs_error err;
	const struct gs_handle_ops *ops; /* NULL: the handle was not opened */
	void *self;
};

#endif /* GPUSCHED_LIB_HANDLE_H */
