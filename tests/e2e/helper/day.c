/* SPDX-License-Identifier: MIT */
/*
 * day.c - makes a history of a day and 2,000 processes, which ends now
 *
 *   helper day DIR PID START       makes DIR/history.db; PID started at START, in ns
 *
 * In the second half of the day, each minute has 10 ms of PID: in every fourth minute it waits for
 * 9 ms and holds the GPU for 1 ms, in the others the reverse. In the first half an earlier process
 * with the same pid holds the GPU for 50 ms a minute and waits for 50 ms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "../../unit/history_day.h"
#include "helper.h"

static uint64_t now_s;

static uint64_t fake(void)
{
	return __atomic_load_n(&now_s, __ATOMIC_SEQ_CST) * 1000;
}

static int add(struct gs_history *h, const struct gs_history_who *who, uint64_t held_ms,
	       uint64_t wait_ms)
{
	const struct gs_history_sums s = {
		.v = { [GS_SUM_HELD] = held_ms * 1000000,
		       [GS_SUM_WAIT] = wait_ms * 1000000,
		       [GS_SUM_WAITS] = 1,
		       [GS_SUM_SEEN] = 1 },
	};

	return gs_history_add(h, who, 60, &s);
}

VERB(day)
{
	uint64_t end_s = (uint64_t)time(NULL);
	const struct gs_history_opts opts = {
		.size = sizeof(opts), .dir = words[0], .days = 90, .bytes = 1u << 30, .clock = fake
	};
	struct gs_history_who who = history_somebody(atoi(words[1])), before = who;
	struct gs_history *h = NULL;
	int r;

	who.start_ns = strtoull(words[2], NULL, 10);
	before.start_ns = 1;
	now_s = end_s - DAY_MINUTES * 60;
	r = gs_history_new(&opts, &h);
	for (uint64_t m = 1; !r && m <= DAY_MINUTES; m++) {
		__atomic_store_n(&now_s, end_s - (DAY_MINUTES - m) * 60, __ATOMIC_SEQ_CST);
		r = m <= 720 ? add(h, &before, 50, 50) : add(h, &who, m % 4 ? 9 : 1, m % 4 ? 1 : 9);
		if (!r && m == 720)
			r = gs_history_ended(h, before.pid, before.start_ns);
		if (!r)
			r = history_day_minute(h, m);
	}
	gs_history_flush(h);
	printf("%llu records, %llu lost\n",
	       (unsigned long long)gs_history_counter(h, GS_HIST_WRITTEN),
	       (unsigned long long)gs_history_counter(h, GS_HIST_LOST));
	gs_history_free(h);
	return r ? 1 : 0;
}
