// SPDX-License-Identifier: MIT
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include "requests/alerting.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <systemd/sd-journal.h>
#include <time.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/escape.h"
#include "basic/log.h"
#include "figures/alerts.h"
#include "figures/memory.h"
#include "hub/json.h"
#include "hub/limited.h"
#include "requests/alert_units.h"
#include "requests/harm.h"
#include "requests/requests.h"
#include "requests/state.h"
#include "requests/verbs_park.h"
#include "table/events.h"

#define LOOK_NS GS_BEATS_SECOND_NS

struct gs_alerting {
	struct gs_alerts alerts;
	struct gs_alert_units *units;
	uint64_t looked_ns;
};

/* ---- one alert ------------------------------------------------------------------------------- */

static json_t *event_of(const struct gs_alert *a, bool begins)
{
	const struct gs_finding *f = &a->finding;
	json_t *o = json_object();

	gs_json_put_number(o, "time_ns", true, gs_now_ns());
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_FINDING));
	gs_json_put_number(o, "alert", true, a->id);
	gs_json_put_text(o, "state", begins ? "begins" : "ends");
	gs_json_put_text(o, "finding", gs_verdict_name(f->kind));
	gs_json_put_text(o, "level", gs_verdict_level_name(gs_verdict_level(f->kind)));
	if (f->gpu >= 0)
		gs_json_put_number(o, "gpu", true, (uint64_t)f->gpu);
	if (f->tsg) {
		gs_json_put_number(o, "pid", true, f->pid);
		gs_json_put_number(o, "uid", true, f->uid);
		gs_json_put_number(o, "id", true, f->tsg);
	}
	gs_json_put(o, "text", gs_json_text(f->text));
	gs_json_put(o, "do", gs_json_text(f->remedy));
	gs_rates_put_tenths(o, "amount_pct", f->amount_pct);
	if (!begins)
		gs_json_put_number(o, "lasted_ms", true, (a->seen_ns - a->began_ns) / NS_PER_MS);
	return o;
}

static int priority_of(const struct gs_finding *f, bool begins)
{
	return begins && gs_verdict_level(f->kind) == GS_LEVEL_WRONG ? LOG_WARNING : LOG_NOTICE;
}

static void write_journal(const struct gs_alert *a, bool begins)
{
	const struct gs_finding *f = &a->finding;
	const char *level = gs_verdict_level_name(gs_verdict_level(f->kind));
	char text[2 * sizeof(f->text)], ends[64], line[1024];
	int priority = priority_of(f, begins);

	snprintf(ends, sizeof(ends), "is over after %" PRIu64 " s",
		 (uint64_t)((a->seen_ns - a->began_ns) / NS_PER_S));
	gs_escape(text, sizeof(text), f->text);
	snprintf(line, sizeof(line), "alert %" PRIu64 " %s: %s: %s: %s", a->id,
		 begins ? "begins" : ends, level, gs_verdict_name(f->kind), text);
	sd_journal_send("MESSAGE=%s", line, "PRIORITY=%i", priority, "SYSLOG_IDENTIFIER=gpuschedd",
			"GPUSCHED_ALERT=%" PRIu64, a->id, "GPUSCHED_STATE=%s",
			begins ? "begins" : "ends", "GPUSCHED_FINDING=%s", gs_verdict_name(f->kind),
			"GPUSCHED_LEVEL=%s", level, "GPUSCHED_GPU=%d", f->gpu, "GPUSCHED_PID=%u",
			f->pid, "GPUSCHED_TSG=%" PRIu64, f->tsg, "GPUSCHED_UID=%u", f->uid,
			"GPUSCHED_RUN_DIR=%s", gs_env()->run_dir, NULL);
	if (!getenv("JOURNAL_STREAM"))
		gs_log(priority, "%s", line);
}

static void tell(struct gs_requests *rs, const struct gs_alert *a, bool begins)
{
	const struct gs_finding *f = &a->finding;
	CLEANUP_JSON json_t *event = event_of(a, begins);
	bool wrong = gs_verdict_level(f->kind) == GS_LEVEL_WRONG;

	write_journal(a, begins);
	gs_count(rs->hub, begins ? GS_SVC_ALERTS : GS_SVC_ALERTS_OVER);
	if (begins && (wrong || rs->hub->config->alert_notes))
		gs_alert_units_want(rs->alerting->units, a->id, f->tsg ? f->uid : 0, event);
	if (rs->hub->watched)
		gs_observers_say(&rs->hub->observers, json_incref(event),
				 f->tsg ? f->uid : GS_NOBODY);
}

/* ---- looking --------------------------------------------------------------------------------- */

static uint64_t clock_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec > 0 ? (uint64_t)t.tv_sec * 1000000 + (uint64_t)t.tv_nsec / 1000 : 0;
}

static void on_found(const struct gs_finding *f, void *user)
{
	struct gs_requests *rs = user;
	const struct gs_alert *a;
	bool left;

	a = gs_alerts_see(&rs->alerting->alerts, f, gs_now_ns(), clock_us(), &left);
	if (a)
		tell(rs, a, true);
	if (!left)
		return;
	gs_count(rs->hub, GS_SVC_ALERTS_LEFT);
	if (f->tsg)
		gs_limited(rs->hub, f->uid, GS_LIMIT_ALERTS);
}

static void look(struct gs_requests *rs)
{
	CLEANUP(gs_verdict_done) struct gs_findings found = { 0 };
	struct gs_alert *over;

	gs_state_look(rs, &found);
	gs_parked_judge_in_vain(rs, NULL, &found);
	gs_harm_judge(rs, NULL, &found);
	for (size_t i = 0; i < found.n; i++)
		on_found(&found.all[i], rs);
	gs_memory_look_idle(rs->figures);
	while ((over = gs_alerts_take_over(&rs->alerting->alerts, gs_now_ns()))) {
		tell(rs, over, false);
		free(over);
	}
}

void gs_alerting_beat(void *self)
{
	struct gs_requests *rs = self;
	uint64_t now = gs_now_ns();

	if (!rs->alerting)
		return;
	gs_alert_units_go_on(rs->alerting->units);
	if (now - rs->alerting->looked_ns < LOOK_NS)
		return;
	rs->alerting->looked_ns = now;
	look(rs);
}

/* ---- life ------------------------------------------------------------------------------------ */

int gs_alerting_start(struct gs_requests *rs)
{
	struct gs_alerting *a;

	if (!rs->hub->opts.daemon)
		return 0;
	a = calloc(1, sizeof(*a));
	if (a)
		a->units = gs_alert_units_new(rs->hub);
	if (!a || !a->units) {
		free(a);
		return -ENOMEM;
	}
	rs->alerting = a;
	rs->figures->found = on_found;
	rs->figures->found_user = rs;
	return 0;
}

void gs_alerting_end(struct gs_requests *rs)
{
	struct gs_alerting *a = rs->alerting;

	if (!a)
		return;
	rs->figures->found = NULL;
	rs->alerting = NULL;
	gs_alert_units_free(a->units);
	gs_alerts_done(&a->alerts);
	free(a);
}
