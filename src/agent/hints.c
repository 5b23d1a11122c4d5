// SPDX-License-Identifier: MIT
/* hints.c - provides the functions that gpusched/hint.h looks up in the process */
#include "gpusched/hint.h"

#include <errno.h>

#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/launches.h"
#include "agent/requests.h"
#include "basic/clock.h"

#define LIMIT_NS (30 * NS_PER_MS)

static _Atomic uint64_t hints, deadline_us;
static _Atomic int last = -1;

void hints_counts(uint64_t *ret_hints, uint64_t *ret_deadline_us)
{
	*ret_hints = hints;
	*ret_deadline_us = deadline_us;
}

static int coming(void)
{
	enum hold_answer answer;

	if (!hints++)
		launches_watch();
	requests_hint(true);
	answer = hold_begin(LIMIT_NS);
	last = (int)answer;
	return answer == HOLD_MADE;
}

static void here(void)
{
	int saved = errno;

	hold_release();
	errno = saved;
}

static void done(void)
{
	int saved = errno;

	hold_release();
	requests_hint(false);
	errno = saved;
}

static void set_deadline(uint64_t us)
{
	deadline_us = us;
}

static int yield_asked(void)
{
	return agent_page_yield_asked();
}

static int self_preempt(void)
{
	int saved = errno, r = agent_page_ask(GS_RM_PREEMPT, 0, 0);

	agent_page_yielded(); /* the program's own call counted as a request to yield */
	errno = saved;
	return r;
}

static const char *state(void)
{
	static const char *const texts[] = {
#define X(sym, text) [HOLD_##sym] = text,
		HOLD_ANSWERS(X)
#undef X
	};

	if (agent_settings.inert)
		return "off: a set-user-id program";
	return last < 0 ? "no hint yet" : texts[last];
}

EXPORT const struct gpusched_hints gpusched_hints = {
	.size = sizeof(struct gpusched_hints),
	.version = 1,
	.coming = coming,
	.here = here,
	.done = done,
	.deadline = set_deadline,
	.yield_asked = yield_asked,
	.self_preempt = self_preempt,
	.state = state,
	.lead_us = agent_sheet_lead_us,
};
