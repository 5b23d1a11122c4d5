/* SPDX-License-Identifier: MIT */
/*
 * history_day.h - write a day of 2,000 processes into a history
 *
 * A hundred processes run all day, the others for an hour each.
 */
#ifndef GPUSCHED_TESTS_HISTORY_DAY_H
#define GPUSCHED_TESTS_HISTORY_DAY_H

#include "history/history.h"

#define DAY_MINUTES 1440
#define DAY_PROCESSES 2000
#define DAY_ALL_DAY 100

static inline struct gs_history_who history_somebody(int pid)
{
	struct gs_history_who who = {
		.pid = pid,
		.start_ns = 1000u + (uint64_t)pid,
		.uid = 1000u + (uint32_t)pid % 2,
		.comm = "training",
		.gpu_uuid = "GPU-a",
		.class = "be",
		.policy = "lcbe",
		.cgroup = "/user.slice",
	};

	return who;
}

/*
 * Adds minute @m of the day (1 to DAY_MINUTES): each process that runs then held the GPU for 1 ms.
 * Returns 0 or -errno.
 */
static inline int history_day_minute(struct gs_history *h, uint64_t m)
{
	const struct gs_history_sums s = {
		.v = { [GS_SUM_HELD] = 1000000, [GS_SUM_TURNS] = 10, [GS_SUM_SEEN] = 1 },
	};
	int r = 0;

	for (int pid = 1; !r && pid <= DAY_PROCESSES; pid++) {
		struct gs_history_who who = history_somebody(pid);
		bool all_day = pid <= DAY_ALL_DAY;
		uint64_t from = all_day ? 0 : (uint64_t)(pid * 7 % 1380);

		if (m > from && (all_day || m <= from + 60))
			r = gs_history_add(h, &who, 60, &s);
		if (!r && !all_day && m == from + 60)
			r = gs_history_ended(h, who.pid, who.start_ns);
	}
	if (m % 10 == 0) /* a user has less than half of the queue */
		gs_history_flush(h);
	return r;
}

#endif /* GPUSCHED_TESTS_HISTORY_DAY_H */
