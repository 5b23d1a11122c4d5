// SPDX-License-Identifier: MIT
#include "basic/completion.h"

#include <stdlib.h>
#include <utlist.h>

static void end(struct gs_completion *c, int code)
{
	c->code = code;
	if (!c->in)
		return;
	DL_DELETE(c->in->first, c);
	c->in = NULL;
	if (c->done)
		c->done(c, c->user);
}

void gs_completion_ask(struct gs_completion *c, uint64_t now_ns)
{
	int code;

	if (gs_completion_is_over(c))
		return;
	code = c->check(c, now_ns);
	if (code == -EINPROGRESS && gs_completion_is_late(c, now_ns))
		code = gs_fail(&c->err, -ETIMEDOUT, "it takes too long");
	if (code != -EINPROGRESS)
		end(c, code);
}

void gs_completion_begin(struct gs_completion *c, struct gs_completions *w, uint64_t now_ns)
{
	c->code = -EINPROGRESS;
	gs_completion_ask(c, now_ns);
	if (gs_completion_is_over(c))
		return;
	c->in = w;
	DL_APPEND(w->first, c);
}

void gs_completion_cancel(struct gs_completion *c, int code, const char *text)
{
	if (!gs_completion_is_over(c))
		end(c, gs_fail(&c->err, code, "%s", text));
}

void gs_completion_free(struct gs_completion *c)
{
	if (!c)
		return;
	if (c->in)
		DL_DELETE(c->in->first, c);
	c->in = NULL;
	json_decref(c->answer);
	c->answer = NULL;
	free(c->text);
	c->text = NULL;
	if (c->release)
		c->release(c);
}

static bool concerns(const struct gs_completion *c, unsigned int happened, uint64_t now_ns)
{
	return c->on & happened || (c->look_ns && now_ns >= c->look_ns) ||
	       gs_completion_is_late(c, now_ns);
}

void gs_completions_run(struct gs_completions *w, uint64_t now_ns)
{
	unsigned int happened = w->happened;
	struct gs_completion *c, *next;

	w->happened = 0;
	DL_FOREACH_SAFE(w->first, c, next) {
		if (concerns(c, happened, now_ns))
			gs_completion_ask(c, now_ns);
	}
}

uint64_t gs_completions_next(const struct gs_completions *w)
{
	const struct gs_completion *c;
	uint64_t next = UINT64_MAX;

	if (!w->first)
		return next;
	if (w->happened)
		return 0;
	DL_FOREACH(w->first, c) {
		if (c->look_ns && c->look_ns < next)
			next = c->look_ns;
		if (c->until_ns && c->until_ns < next)
			next = c->until_ns;
	}
	return next;
}

void gs_completions_cancel(struct gs_completions *w, int code, const char *text)
{
	while (w->first)
		gs_completion_cancel(w->first, code, text);
}
