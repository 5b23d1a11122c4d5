// SPDX-License-Identifier: MIT
/* gpusched.c - implements the library's functions: each sends a request through its handle */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "lib/remote.h"
#include "lib/tsg_info.h"

static int check_options(const struct gpusched_open_options *o, struct gs_error *err)
{
	if (o && o->size < sizeof(*o))
		return gs_fail(err, -EINVAL, "gpusched_open_options.size is not set");
	return 0;
}

static int connect_to(struct gpusched *g, const char *socket, uint64_t wait_us)
{
	const char *path = socket ? socket : gs_env()->socket;
	struct gs_error err = { 0 };
	struct remote *remote = NULL;
	int r = gs_env_check(&g->err);

	if (r)
		return r;
	if (wait_us && !socket)
		remote_await(wait_us * NS_PER_US);
	r = remote_new(path, &remote, &err);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return gs_fail(&g->err, -ECONNREFUSED, "no daemon answers on %s: start gpuschedd",
			       path);
	if (r)
		return gs_fail(&g->err, r, "%s", err.text);
	g->ops = &remote_ops;
	g->self = remote;
	return 0;
}

int gpusched_open(const struct gpusched_open_options *options, struct gpusched **ret)
{
	struct gpusched *g = ret ? calloc(1, sizeof(*g)) : NULL;
	int r;

	if (!ret)
		return -EINVAL;
	if (!g)
		return -ENOMEM;
	*ret = g;
	r = check_options(options, &g->err);
	if (r)
		return r;
	return connect_to(g, options ? options->socket : NULL, options ? options->wait_us : 0);
}

void gpusched_close(struct gpusched *g)
{
	if (!g)
		return;
	if (g->ops)
		g->ops->free(g->self);
	free(g);
}

const char *gpusched_error(const struct gpusched *g)
{
	return g ? g->err.text : "";
}

int gpusched_has_daemon(const struct gpusched *g)
{
	return g && g->ops && g->ops->has_daemon(g->self);
}

const char *gpusched_version(void)
{
	return GPUSCHED_VERSION;
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Fails if the caller left out the argument @is. @what: its name for the message. */
static int need(struct gpusched *g, const void *is, const char *what)
{
	if (!g)
		return -EINVAL;
	g->err = (struct gs_error){ 0 };
	return is ? 0 : gs_fail(&g->err, -EINVAL, "%s is missing", what);
}

static int request(struct gpusched *g, const char *verb, const json_t *args, char **ret)
{
	g->err = (struct gs_error){ 0 };
	return g->ops ? g->ops->request(g->self, verb, args, ret, &g->err)
		      : gs_fail(&g->err, -EBADF, "this handle was not opened");
}

int gpusched_request(struct gpusched *g, const char *verb, const char *args_json, char **ret_json)
{
	CLEANUP_JSON json_t *args = NULL;
	json_error_t why;
	int r;

	r = need(g, verb, "the verb");
	if (!r)
		r = need(g, ret_json, "the place for the answer");
	if (r)
		return r;
	args = args_json ? json_loads(args_json, JSON_REJECT_DUPLICATES, &why) : NULL;
	if (args_json && !args)
		return gs_fail(&g->err, -EINVAL, "the arguments are not JSON: %s", why.text);
	return request(g, verb, args, ret_json);
}

/* Sends a request, and frees @args. */
static int ask_with(struct gpusched *g, const char *verb, json_t *args, json_t **ret)
{
	CLEANUP_JSON json_t *owned = args;
	CLEANUP_FREE char *answer = NULL;
	int r;

	g->err = (struct gs_error){ 0 };
	if (!owned)
		return gs_fail(&g->err, -EINVAL, "%s: an argument is not valid UTF-8", verb);
	r = request(g, verb, owned, &answer);
	if (r)
		return r;
	*ret = json_loads(answer, JSON_REJECT_DUPLICATES, NULL);
	return *ret ? 0 : gs_fail(&g->err, -EPROTO, "the daemon's answer is not a JSON object");
}

static int number(struct gpusched *g, const json_t *o, const char *key, unsigned int *ret)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_integer(v) || json_integer_value(v) < 0 || json_integer_value(v) > INT32_MAX)
		return gs_fail(&g->err, -EPROTO, "the answer lacks the number '%s'", key);
	*ret = (unsigned int)json_integer_value(v);
	return 0;
}

/*
 * Sends a request, and reads how many TSGs (or processes) it changed. -EREMOTEIO: some could not be
 * changed. Frees @args.
 */
static int control(struct gpusched *g, const char *verb, const char *target, json_t *args,
		   unsigned int *ret_n)
{
	CLEANUP_JSON json_t *answer = NULL;
	unsigned int changed = 0, failed = 0;
	int r;

	if (ret_n)
		*ret_n = 0;
	r = need(g, target, "the target");
	if (r)
		json_decref(args);
	else
		r = ask_with(g, verb, args, &answer);
	if (!r)
		r = number(g, answer, "changed", &changed);
	if (!r)
		r = number(g, answer, "failed", &failed);
	if (r)
		return r;
	if (ret_n)
		*ret_n = changed;
	return failed ? gs_fail(&g->err, -EREMOTEIO, "%s: %u done, %u failed", verb, changed,
				failed)
		      : 0;
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

int gpusched_list(struct gpusched *g, const char *target, gpusched_tsg_fn fn, void *user)
{
	CLEANUP_JSON json_t *answer = NULL;
	const json_t *tsgs, *one;
	size_t i;
	int r;

	r = need(g, (const void *)(uintptr_t)fn, "the function to call");
	if (r)
		return r;
	r = ask_with(g, "list", json_pack("{s:s}", "target", target ? target : "all"), &answer);
	if (r)
		return r;
	tsgs = json_object_get(answer, "tsgs");
	if (!json_is_array(tsgs))
		return gs_fail(&g->err, -EPROTO, "the answer has no array 'tsgs'");
	json_array_foreach(tsgs, i, one) {
		struct gpusched_tsg_info info;

		if (tsg_info_read(one, &info))
			return gs_fail(&g->err, -EPROTO,
				       "the answer has a TSG that cannot be read");
		r = fn(&info, user);
		if (r)
			return r;
	}
	return 0;
}

static void put(json_t *o, const char *key, int64_t value)
{
	if (value != GPUSCHED_UNSET)
		json_object_set_new(o, key, json_integer(value));
}

int gpusched_set(struct gpusched *g, const char *target, const struct gpusched_values *values,
		 unsigned int *ret_n)
{
	json_t *args;
	int r = need(g, values, "what to set");

	if (r)
		return r;
	if (values->runnable != GPUSCHED_UNSET)
		return gs_fail(
			&g->err, -EINVAL,
			"runnable is not a setting: use gpusched_suspend() and gpusched_resume()");
	args = json_pack("{s:s?}", "target", target);
	put(args, "timeslice_us", values->timeslice_us);
	put(args, "interleave", values->interleave);
	put(args, "preempt_mode", values->preempt_mode);
	return control(g, "set", target, args, ret_n);
}

int gpusched_unset(struct gpusched *g, const char *target, unsigned int *ret_n)
{
	return control(g, "set", target, json_pack("{s:s?, s:b}", "target", target, "clear", 1),
		       ret_n);
}

int gpusched_preempt(struct gpusched *g, const char *target, unsigned int *ret_n)
{
	return control(g, "preempt", target, json_pack("{s:s?}", "target", target), ret_n);
}

int gpusched_suspend(struct gpusched *g, const char *target, uint64_t for_us, unsigned int *ret_n)
{
	return control(g, "suspend", target,
		       json_pack("{s:s?, s:I}", "target", target, "for_us", (json_int_t)for_us),
		       ret_n);
}

int gpusched_resume(struct gpusched *g, const char *target, unsigned int *ret_n)
{
	return control(g, "resume", target, json_pack("{s:s?}", "target", target), ret_n);
}

int gpusched_park(struct gpusched *g, const char *target, uint64_t for_us, unsigned int *ret_n)
{
	return control(g, "park", target,
		       json_pack("{s:s?, s:I}", "target", target, "for_us", (json_int_t)for_us),
		       ret_n);
}

int gpusched_unpark(struct gpusched *g, const char *target, unsigned int *ret_n)
{
	CLEANUP_JSON json_t *answer = NULL;
	unsigned int done = 0, waiting = 0, failed = 0;
	int r;

	if (ret_n)
		*ret_n = 0;
	r = need(g, target, "the target");
	if (!r)
		r = ask_with(g, "unpark", json_pack("{s:s}", "target", target), &answer);
	if (!r)
		r = number(g, answer, "changed", &done);
	if (!r)
		r = number(g, answer, "waiting", &waiting);
	if (!r)
		r = number(g, answer, "failed", &failed);
	if (r)
		return r;
	if (ret_n)
		*ret_n = done;
	if (failed)
		return gs_fail(&g->err, -EREMOTEIO, "unpark: %u done, %u failed", done, failed);
	return waiting ? gs_fail(&g->err, -EAGAIN, "unpark: %u done, %u wait for memory", done,
				 waiting)
		       : 0;
}

int gpusched_restore(struct gpusched *g, unsigned int *ret_n)
{
	CLEANUP_JSON json_t *answer = NULL;
	unsigned int restored = 0, failed = 0;
	int r;

	if (ret_n)
		*ret_n = 0;
	r = need(g, g, "");
	if (!r)
		r = ask_with(g, "restore", json_object(), &answer);
	if (!r)
		r = number(g, answer, "restored", &restored);
	if (!r)
		r = number(g, answer, "failed", &failed);
	if (r)
		return r;
	if (ret_n)
		*ret_n = restored;
	return failed ? gs_fail(&g->err, -EREMOTEIO, "%u TSGs put back, %u failed", restored,
				failed)
		      : 0;
}

/* ---- classes, watching ----------------------------------------------------------------------- */

int gpusched_class_set(struct gpusched *g, const char *target, const char *class_name)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r = need(g, target, "the target");

	if (!r)
		r = need(g, class_name, "the class");
	return r ? r
		 : ask_with(g, "class_set",
			    json_pack("{s:s, s:s}", "target", target, "class", class_name),
			    &answer);
}

int gpusched_class_clear(struct gpusched *g, const char *target)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r = need(g, target, "the target");

	return r ? r : ask_with(g, "class_clear", json_pack("{s:s}", "target", target), &answer);
}

static int stream(struct gpusched *g, enum gs_stream which, gpusched_event_fn fn, void *user,
		  uint64_t timeout_us)
{
	int r = need(g, (const void *)(uintptr_t)fn, "the function to call");

	if (r)
		return r;
	return g->ops ? g->ops->stream(g->self, which, fn, user, timeout_us, &g->err)
		      : gs_fail(&g->err, -EBADF, "this handle was not opened");
}

int gpusched_watch(struct gpusched *g, gpusched_event_fn fn, void *user, uint64_t timeout_us)
{
	return stream(g, GS_STREAM_EVENTS, fn, user, timeout_us);
}

int gpusched_trace(struct gpusched *g, gpusched_event_fn fn, void *user, uint64_t timeout_us)
{
	return stream(g, GS_STREAM_TURNS, fn, user, timeout_us);
}
