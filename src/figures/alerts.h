/* SPDX-License-Identifier: MIT */
/*
 * alerts.h - notes which findings have begun, and which are over
 *
 * Pure. The caller passes each finding in once a second as long as it lasts. A finding is over when
 * it was not passed in for GS_ALERT_CALM_NS. The number of alerts for one user's programs is
 * limited, and so is the user's share of all (basic/share.h): further findings give no alert.
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

struct gs_alert_key {
	uint64_t tsg;
	int32_t kind, gpu;
};

struct gs_alert {
	UT_hash_handle hh;
	struct gs_alert_key key;
	uint64_t id; /* unique on this machine; later alerts have greater ids */
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
 * Notes that @f holds at @now_ns. @id_floor: the least id for a new alert, CLOCK_REALTIME in us.
 * Returns the alert if it has just begun. Sets *@ret_left if there is no alert because the user, or
 * everybody together, has too many.
 */
const struct gs_alert *gs_alerts_see(struct gs_alerts *a, const struct gs_finding *f,
				     uint64_t now_ns, uint64_t id_floor, bool *ret_left);
/* Takes out the next alert that is over; the caller frees it. Returns NULL if there is none. */
struct gs_alert *gs_alerts_take_over(struct gs_alerts *a, uint64_t now_ns);
void gs_alerts_done(struct gs_alerts *a);

#endif /* GPUSCHED_FIGURES_ALERTS_H */
