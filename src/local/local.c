// SPDX-License-Identifier: MIT
#include "local/local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "basic/procfs.h"
#include "lib/handle.h"
#include "local/agents.h"
#include "local/instance.h"

struct local {
	/* exactly one of these three is set: what carries out the requests */
	struct gpusched *daemon;
	struct instance *instance;
	bool agents;
	bool may_act; /* the user is root, and the handle is not read-only */
};

static void local_free(void *self)
{
	struct local *l = self;

	gpusched_close(l->daemon);
	instance_free(l->instance);
	free(l);
}

static bool has_daemon(const void *self)
{
	const struct local *l = self;

	return l->daemon;
}

/*
 * Opens the instance. If that fails with -EBUSY, a daemon that has just started holds the lock:
 * then uses that daemon.
 */
static int make_ready(struct local *l, const char *verb, struct gs_error *err)
{
	struct gpusched *daemon = NULL;
	int r = l->instance ? instance_ready(l->instance, verb, err) : 0;

	if (r != -EBUSY)
		return r;
	if (gpusched_open(NULL, &daemon)) {
		gpusched_close(daemon);
		return r;
	}
	instance_free(l->instance);
	l->instance = NULL;
	l->daemon = daemon;
	return 0;
}

static int as_text(json_t *answer, char **ret, struct gs_error *err)
{
	CLEANUP_JSON json_t *owned = answer;

	*ret = json_dumps(owned, JSON_COMPACT);
	return *ret ? 0 : gs_fail(err, -ENOMEM, "out of memory");
}

/* Restores in place of a daemon that does not respond. */
static int restore_beside(const json_t *args, json_t **ret, struct gs_error *err)
{
	struct instance *beside = NULL;
	int r = instance_new(false, &beside, err);

	if (!r)
		r = instance_request(beside, "restore", args, ret, err);
	instance_free(beside);
	return r;
}

static int ask_daemon(struct local *l, const char *verb, const json_t *args, char **ret,
		      struct gs_error *err)
{
	CLEANUP_FREE char *text = args ? json_dumps(args, JSON_COMPACT) : NULL;
	json_t *answer = NULL;
	int r;

	if (args && !text)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gpusched_request(l->daemon, verb, text, ret);
	if (r == -EHOSTDOWN && l->may_act && !strcmp(verb, "restore")) {
		r = restore_beside(args, &answer, err);
		return r ? r : as_text(answer, ret, err);
	}
	return r ? gs_fail(err, r, "%s", gpusched_error(l->daemon)) : 0;
}

static int local_request(void *self, const char *verb, const json_t *args, char **ret,
			 struct gs_error *err)
{
	struct local *l = self;
	json_t *answer = NULL;
	int r = make_ready(l, verb, err);

	if (r)
		return r;
	if (l->daemon)
		return ask_daemon(l, verb, args, ret, err);
	r = l->instance ? instance_request(l->instance, verb, args, &answer, err)
			: agents_request(verb, args, &answer, err);
	return r ? r : as_text(answer, ret, err);
}

static int local_stream(void *self, enum gs_stream which, gpusched_event_fn fn, void *user,
			uint64_t timeout_us, struct gs_error *err)
{
	struct local *l = self;
	bool turns = which == GS_STREAM_TURNS;
	int r = turns ? 0 : make_ready(l, NULL, err);

	if (r)
		return r;
	if (l->daemon) {
		r = turns ? gpusched_trace(l->daemon, fn, user, timeout_us)
			  : gpusched_watch(l->daemon, fn, user, timeout_us);
		if (r < 0 && *gpusched_error(l->daemon))
			gs_fail(err, r, "%s", gpusched_error(l->daemon));
		return r;
	}
	if (turns)
		return gs_fail(err, -ENOTSUP,
			       "only a daemon reads the GPUs' logs: start gpuschedd");
	if (l->agents)
		return gs_fail(err, -EPERM, "events need a daemon: start gpuschedd");
	return instance_watch(l->instance, fn, user, timeout_us, err);
}

static const struct gs_handle_ops local_ops = {
	.has_daemon = has_daemon,
	.request = local_request,
	.stream = local_stream,
	.free = local_free,
};

/* Chooses what carries out the requests if no daemon answers. */
static int act_alone(uint32_t flags, struct local *l, struct gs_error *err)
{
	static bool begun; /* each instance of /proc keeps a descriptor */

	if (!geteuid()) {
		if (!begun)
			gs_procfs_begin();
		begun = true;
		return instance_new(flags & GS_LOCAL_READ_ONLY, &l->instance, err);
	}
	l->agents = agents_are_there();
	return l->agents ? 0
			 : gs_fail(err, -EPERM,
				   "no daemon answers on %s, and without one only root can act: "
				   "start gpuschedd or use sudo",
				   gs_env()->socket);
}

int gs_local_open(uint32_t flags, struct gpusched **ret)
{
	struct gpusched *g = NULL;
	struct local *l;
	int r = gpusched_open(NULL, ret);

	if (flags & GS_LOCAL_DAEMON_ONLY || (r && r != -ECONNREFUSED))
		return r;
	g = calloc(1, sizeof(*g));
	l = calloc(1, sizeof(*l));
	if (!g || !l) {
		free(g);
		free(l);
		return -ENOMEM;
	}
	g->ops = &local_ops;
	g->self = l;
	l->may_act = !geteuid() && !(flags & GS_LOCAL_READ_ONLY);
	if (r)
		gpusched_close(*ret);
	else
		l->daemon = *ret;
	*ret = g;
	return r ? act_alone(flags, l, &g->err) : 0;
}
