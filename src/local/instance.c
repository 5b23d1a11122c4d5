// SPDX-License-Identifier: MIT
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "local/instance.h"
#include "service/service.h"

#define MISSED_LIMIT 4096

struct instance {
	bool read_only;
	struct gs_config *config;
	struct gs_service *s;
	bool s_reads;         /* @s is read-only */
	unsigned int token;   /* token of the watch; 0: there is none */
	json_t *missed;       /* events that came between two calls of instance_watch() */
	gpusched_event_fn fn; /* the caller's function; NULL outside of instance_watch() */
	void *user;
	int stop; /* the last result of @fn: if not 0, instance_watch() returns it */
};

int instance_new(bool read_only, struct instance **ret, struct gs_error *err)
{
	struct instance *l = calloc(1, sizeof(*l));

	if (!l)
		return gs_fail(err, -ENOMEM, "out of memory");
	l->read_only = read_only;
	*ret = l;
	return 0;
}

void instance_free(struct instance *l)
{
	if (!l)
		return;
	gs_service_free(l->s);
	gs_config_free(l->config);
	json_decref(l->missed);
	free(l);
}

static int need_service(struct instance *l, bool reads, struct gs_error *err)
{
	struct gs_service_opts opts = {
		.size = sizeof(opts),
		.read_only = reads,
	};
	int r;

	if (l->s && (reads || !l->s_reads))
		return 0;
	gs_service_free(l->s);
	l->s = NULL;
	if (!l->config) {
		r = gs_config_load_start(NULL, &l->config, err);
		if (r)
			return r;
	}
	l->s_reads = reads;
	return gs_service_new(l->config, &opts, &l->s, err);
}

int instance_ready(struct instance *l, const char *verb, struct gs_error *err)
{
	int flags = verb ? gs_verb_flags(verb) : 0;

	/* a verb that instance_request() refuses, or that works alone, needs no service */
	if (flags < 0 || flags & GS_VERB_ALONE ||
	    (verb && l->read_only && !(flags & GS_VERB_READS)))
		return 0;
	return need_service(l, flags & GS_VERB_READS, err);
}

static struct gs_peer this_process(void)
{
	return (struct gs_peer){ .uid = geteuid(), .gid = getegid(), .pid = getpid(), .fd = -1 };
}

int instance_request(struct instance *l, const char *verb, const json_t *args, json_t **ret,
		     struct gs_error *err)
{
	const struct gs_peer self = this_process();
	CLEANUP_JSON json_t *none = args ? NULL : json_object();
	int flags = gs_verb_flags(verb), r = 0;

	if (flags < 0)
		return gs_fail(err, -EINVAL, "there is no verb '%.64s'", verb);
	if (l->read_only && !(flags & GS_VERB_READS))
		return gs_fail(err, -ENOTSUP, "%s: this handle was opened read-only", verb);
	if (!(flags & GS_VERB_ALONE))
		r = need_service(l, flags & GS_VERB_READS, err);
	if (!r)
		r = gs_service_verb(l->s_reads && flags & GS_VERB_ALONE ? NULL : l->s, &self, verb,
				    args ? args : none, ret, err);
	return r;
}

static int hand_out(struct instance *l, const json_t *event)
{
	CLEANUP_FREE char *line = json_dumps(event, JSON_COMPACT);

	return line ? l->fn(line, l->user) : 0;
}

/*
 * Passes an event to the caller's function, or keeps it until the next instance_watch(). Beyond
 * MISSED_LIMIT kept events, new ones are dropped.
 */
static void on_event(const json_t *event, void *user)
{
	struct instance *l = user;

	if (l->fn && !l->stop) {
		l->stop = hand_out(l, event);
		return;
	}
	if (!l->missed)
		l->missed = json_array();
	if (json_array_size(l->missed) < MISSED_LIMIT)
		json_array_append(l->missed, (json_t *)event);
}

static void hand_out_missed(struct instance *l)
{
	size_t n = json_array_size(l->missed), i = 0;

	while (i < n && !l->stop)
		l->stop = hand_out(l, json_array_get(l->missed, i++));
	while (i--)
		json_array_remove(l->missed, 0);
}

static int watch_loop(struct instance *l, uint64_t until, struct gs_error *err)
{
	while (!l->stop) {
		uint64_t now = gs_now_ns();
		int ms = -1, r;

		if (until && now >= until)
			return -ETIMEDOUT;
		if (until)
			ms = (int)((until - now) / NS_PER_MS) + 1;
		r = gs_service_run(l->s, ms);
		if (r == -EINTR)
			return r;
		if (r < 0)
			return gs_fail(err, r, "events: %s", strerror(-r));
	}
	return l->stop;
}

int instance_watch(struct instance *l, gpusched_event_fn fn, void *user, uint64_t timeout_us,
		   struct gs_error *err)
{
	const struct gs_peer self = this_process();
	int r;

	r = need_service(l, false, err);
	if (!r && !l->token)
		r = gs_service_watch(l->s, &self, on_event, l, &l->token);
	if (r)
		return r;
	l->fn = fn;
	l->user = user;
	l->stop = 0;
	hand_out_missed(l);
	r = watch_loop(l, timeout_us ? gs_now_ns() + timeout_us * NS_PER_US : 0, err);
	l->fn = NULL;
	return r;
}
