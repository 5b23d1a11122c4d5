// SPDX-License-Identifier: MIT
#include "requests/alert_units.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/file.h"
#include "basic/log.h"
#include "basic/share.h"
#include "hub/hub.h"

#define A_MINUTE 10
#define MINUTE_NS (60 * NS_PER_S)
#define LOOK_NS NS_PER_S /* time between two checks whether the unit has ended */
#define TEMPLATE_END "@.service"

struct gs_alert_units {
	struct gs_hub *hub;
	sd_bus *bus;                /* NULL: not open yet */
	sd_bus_slot *call;          /* the call under way; NULL: none */
	uint64_t waiting[A_MINUTE]; /* ids of the alerts with a queued unit, oldest first */
	size_t nwaiting;
	struct wanted {
		uint64_t ns;
		uid_t uid;
	} wanted[A_MINUTE]; /* ring: the last units that were queued */
	size_t nwanted;     /* units queued so far, ever */
	uint64_t running;   /* id of the alert with a running unit; 0: none */
	bool runs;          /* systemd has accepted the start */
	uint64_t look_ns;   /* time of the next check */
	bool told;          /* a failure was logged; cleared by the next success */
};

/* ---- files ----------------------------------------------------------------------------------- */

static void path_of(char *ret, size_t size, uint64_t id)
{
	snprintf(ret, size, "%s/alerts/%" PRIu64, gs_env()->run_dir, id);
}

static void remove_file(uint64_t id)
{
	char path[PATH_MAX];

	path_of(path, sizeof(path), id);
	unlink(path);
}

static int write_file(uint64_t id, const json_t *event, struct gs_error *err)
{
	CLEANUP_FREE char *text = json_dumps(event, JSON_COMPACT);
	CLEANUP_FREE char *line = NULL;
	char path[PATH_MAX];
	int n;

	n = text ? asprintf(&line, "%s\n", text) : -1;
	if (n < 0)
		return gs_fail(err, -ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/alerts", gs_env()->run_dir);
	if (mkdir(path, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	path_of(path, sizeof(path), id);
	return gs_file_replace(path, line, (size_t)n, err);
}

static void clear_files(void)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "%s/alerts", gs_env()->run_dir);
	d = opendir(path);
	while (d && (e = readdir(d)))
		if (e->d_name[0] != '.')
			unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
}

/* ---- one unit -------------------------------------------------------------------------------- */

static void name_of(const struct gs_alert_units *u, char *ret, size_t size)
{
	const char *unit = u->hub->config->alert_unit;

	snprintf(ret, size, "%.*s@%" PRIu64 ".service", (int)(strlen(unit) - strlen(TEMPLATE_END)),
		 unit, u->running);
}

static void end(struct gs_alert_units *u)
{
	u->call = sd_bus_slot_unref(u->call);
	remove_file(u->running);
	u->running = 0;
	u->runs = false;
}

static void fail(struct gs_alert_units *u, const char *why)
{
	gs_count(u->hub, GS_SVC_ALERT_UNITS_FAILED);
	if (!u->told)
		gs_log(LOG_ERR, "Unit=%s cannot be started for an alert: %s",
		       u->hub->config->alert_unit, why);
	u->told = true;
	end(u);
	if (u->bus && sd_bus_is_open(u->bus) <= 0)
		u->bus = sd_bus_close_unref(u->bus);
}

static const char *why_not(sd_bus_message *m)
{
	const sd_bus_error *e = sd_bus_message_get_error(m);

	return e->message ? e->message : e->name;
}

static int on_started(sd_bus_message *m, void *user, sd_bus_error *ret)
{
	struct gs_alert_units *u = user;

	u->call = sd_bus_slot_unref(u->call);
	if (sd_bus_message_is_method_error(m, NULL)) {
		fail(u, why_not(m));
		return 0;
	}
	gs_count(u->hub, GS_SVC_ALERT_UNITS);
	u->told = false;
	u->runs = true;
	u->look_ns = gs_now_ns() + LOOK_NS;
	return 0;
}

static int open_bus(struct gs_alert_units *u)
{
	int r = sd_bus_open_system(&u->bus);

	if (r >= 0)
		r = sd_bus_attach_event(u->bus, u->hub->event, SD_EVENT_PRIORITY_NORMAL);
	if (r < 0)
		u->bus = sd_bus_close_unref(u->bus);
	return r;
}

static void start(struct gs_alert_units *u)
{
	char name[160];
	int r;

	name_of(u, name, sizeof(name));
	r = u->bus ? 0 : open_bus(u);
	if (r >= 0)
		r = sd_bus_call_method_async(u->bus, &u->call, "org.freedesktop.systemd1",
					     "/org/freedesktop/systemd1",
					     "org.freedesktop.systemd1.Manager", "StartUnit",
					     on_started, u, "ss", name, "fail");
	if (r < 0)
		fail(u, strerror(-r));
}

/*
 * Handles systemd's answer about the running unit. An error counts as the unit's end: systemd no
 * longer knows the unit, or does not answer.
 */
static int on_state(sd_bus_message *m, void *user, sd_bus_error *ret)
{
	struct gs_alert_units *u = user;
	const char *state = "";

	u->call = sd_bus_slot_unref(u->call);
	u->look_ns = gs_now_ns() + LOOK_NS;
	if (sd_bus_message_is_method_error(m, NULL) ||
	    sd_bus_message_read(m, "v", "s", &state) < 0 || !strcmp(state, "inactive") ||
	    !strcmp(state, "failed"))
		end(u);
	return 0;
}

static void ask(struct gs_alert_units *u)
{
	CLEANUP_FREE char *path = NULL;
	char name[160];
	int r;

	name_of(u, name, sizeof(name));
	r = sd_bus_path_encode("/org/freedesktop/systemd1/unit", name, &path);
	if (r >= 0)
		r = sd_bus_call_method_async(u->bus, &u->call, "org.freedesktop.systemd1", path,
					     "org.freedesktop.DBus.Properties", "Get", on_state, u,
					     "ss", "org.freedesktop.systemd1.Unit", "ActiveState");
	if (r < 0)
		end(u);
}

/* ---- the queue of units ---------------------------------------------------------------------- */

void gs_alert_units_go_on(struct gs_alert_units *u)
{
	if (u->call || !u->hub->config->alert_unit[0])
		return;
	if (u->running) {
		if (u->runs && gs_now_ns() >= u->look_ns)
			ask(u);
		return;
	}
	if (!u->nwaiting)
		return;
	u->running = u->waiting[0];
	memmove(u->waiting, u->waiting + 1, --u->nwaiting * sizeof(*u->waiting));
	start(u);
}

/* True if the queue has room, and the user has not used up its share of the minute. */
static bool has_room(const struct gs_alert_units *u, uid_t uid, uint64_t now)
{
	unsigned int own = 0, all = 0;

	for (size_t i = 0; i < A_MINUTE && i < u->nwanted; i++) {
		if (now - u->wanted[i].ns >= MINUTE_NS)
			continue;
		own += u->wanted[i].uid == uid;
		all++;
	}
	return u->nwaiting < A_MINUTE && gs_share_allows(uid, own, all, A_MINUTE);
}

void gs_alert_units_want(struct gs_alert_units *u, uint64_t id, uid_t uid, const json_t *event)
{
	struct gs_error err = { 0 };
	uint64_t now = gs_now_ns();

	if (!u->hub->config->alert_unit[0])
		return;
	if (!has_room(u, uid, now)) {
		gs_count(u->hub, GS_SVC_ALERT_UNITS_LEFT);
		return;
	}
	if (write_file(id, event, &err)) {
		gs_count(u->hub, GS_SVC_ALERT_UNITS_FAILED);
		gs_log(LOG_ERR, "no unit for alert %" PRIu64 ": %s", id, err.text);
		return;
	}
	u->wanted[u->nwanted++ % A_MINUTE] = (struct wanted){ now, uid };
	u->waiting[u->nwaiting++] = id;
}

struct gs_alert_units *gs_alert_units_new(struct gs_hub *hub)
{
	struct gs_alert_units *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->hub = hub;
	clear_files();
	return u;
}

void gs_alert_units_free(struct gs_alert_units *u)
{
	if (!u)
		return;
	sd_bus_slot_unref(u->call);
	sd_bus_close_unref(u->bus);
	clear_files();
	free(u);
}
