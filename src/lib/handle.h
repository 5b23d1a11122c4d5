/* SPDX-License-Identifier: MIT */
/*
 * handle.h - defines the operations behind a handle of the library
 *
 * The library itself implements them by a daemon's socket (remote.c); src/local has another
 * implementation.
 */
#ifndef GPUSCHED_LIB_HANDLE_H
#define GPUSCHED_LIB_HANDLE_H

#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"
#include "gpusched/gpusched.h"

enum gs_stream {
	GS_STREAM_EVENTS, /* events, from the verb `watch` */
	GS_STREAM_TURNS,  /* turns and counters, from the verb `trace` */
};

struct gs_handle_ops {
	bool (*has_daemon)(const void *self);
	/* Sends one verb. *ret: the answer (malloc'd JSON). On failure @err has one line. */
	int (*request)(void *self, const char *verb, const json_t *args, char **ret,
		       struct gs_error *err);
	/*
	 * Passes lines to @fn. Returns @fn's result when that is not 0; 0 at the stream's end;
	 * -ETIMEDOUT or -EINTR. The subscription stays until the stream's end, so a caller that
	 * calls this again has missed nothing.
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
