// SPDX-License-Identifier: MIT
#include "local/ask.h"

#include <errno.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "gpusched/gpusched.h"

int gs_ask(struct gpusched *g, const char *verb, const json_t *args, json_t **ret)
{
	CLEANUP_FREE char *text = args ? json_dumps(args, JSON_COMPACT) : NULL, *answer = NULL;
	int r;

	if (args && !text)
		return -ENOMEM;
	r = gpusched_request(g, verb, text, &answer);
	if (r)
		return r;
	*ret = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
	return *ret ? 0 : -EPROTO;
}

struct stream {
	gs_line_fn fn;
	void *user;
};

static int on_line(const char *line, void *user)
{
	const struct stream *s = user;
	CLEANUP_JSON json_t *event = json_loads(line, 0, NULL);

	return event ? s->fn(event, s->user) : -EPROTO;
}

int gs_ask_watch(struct gpusched *g, gs_line_fn fn, void *user, uint64_t timeout_us)
{
	struct stream s = { fn, user };

	return gpusched_watch(g, on_line, &s, timeout_us);
}

int gs_ask_trace(struct gpusched *g, gs_line_fn fn, void *user, uint64_t timeout_us)
{
	struct stream s = { fn, user };

	return gpusched_trace(g, on_line, &s, timeout_us);
}
