/* SPDX-License-Identifier: MIT */
/*
 * alerts.h - findings that are under way: which began, and which are over
 *
 * Pure. Each finding is shown to it once a second as long as it lasts, and is over when it has not
 * been seen for GS_ALERT_CALM_NS. A user's programs have a share of the alerts: a user
 * that has more of them gets no others.
 */
#ifndef GPUSCHED_FIGURES_ALERTS_H
#define GPUSCHED_FIGURES_ALERTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "basic/clock.h"
#include "figures/verdict.h"

#define GS_ALERT_CALM_NS (3 * NS_PER_S)
#define GS_ALERTS_MAX 256
#define GS_ALERTS_UID 16          /* under way, of one user's programs; root's have no limit */
#define GS_ALERTS_UID_A_MINUTE 16 /* that begin */

struct gs_alert_key {
	uint64_t tsg;
	int32_t kind, gpu;
};

struct gs_alert {
	UT_hash_handle hh;
	struct gs_alert_key key;
	uint64_t id; /* unique on this machine, and later ones are greater */
	struct gs_finding finding;
	uint64_t began_ns, seen_ns;
};

struct gs_alert_user;

/* All 0 at first. */
struct gs_alerts {
	struct gs_alert *all;
	struct gs_alert_user *users;
	uint64_t last_id, tended_ns;
};

/*
 * @f is so at @now_ns; @id_floor: the least id that it may get, CLOCK_REALTIME in us. Returns the
 * alert if it has just begun. *@ret_left: it is not told, for its user has its share, or all are
 * taken.
 */
const struct gs_alert *gs_alerts_see(struct gs_alerts *a, const struct gs_finding *f,
				     uint64_t now_ns, uint64_t id_floor, bool *ret_left);
/* The next one that is over, which the caller frees; NULL: there is none. */
struct gs_alert *gs_alerts_take_over(struct gs_alerts *a, uint64_t now_ns);
void gs_alerts_done(struct gs_alerts *a);

#endif /* GPUSCHED_FIGURES_ALERTS_H */
