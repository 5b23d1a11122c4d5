// SPDX-License-Identifier: MIT
/* request.c - carries every request through its steps, from arrival to answer */
#include "requests/request.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "requests/audit.h"
#include "requests/requests.h"
#include "intake/rescan.h"
#include "hub/limited.h"
#include "hub/loop.h"
#include "requests/unread.h"

#define RESTORING_MS 5000 /* how long a request waits at most for a restore to finish */

static int check_service(const struct gs_requests *rs, const struct gs_verb *v,
			 struct gs_error *err)
{
	if (!rs && !(v->flags & GS_VERB_ALONE))
		return gs_fail(err, -ENOTSUP, "%s needs an open instance", v->name);
	if (rs && rs->hub->opts.read_only && !(v->flags & (GS_VERB_READS | GS_VERB_ALONE)))
		return gs_fail(err, -ENOTSUP, "%s: this handle was opened read-only", v->name);
	return 0;
}

/* Names the verb as the command line does: "policy start" for policy_start. */
static int refuse(const char *verb, struct gs_error *err)
{
	int noun = (int)strcspn(verb, "_");

	return gs_fail(err, -EPERM, "only root may use '%.*s%s%s'", noun, verb,
		       verb[noun] ? " " : "", verb[noun] ? verb + noun + 1 : "");
}

/* ---- the life of a request ------------------------------------------------------------------- */

/* Frees the state of the current step. */
static void drop_state(struct gs_request *rq)
{
	if (rq->free_state)
		rq->free_state(rq->state);
	rq->state = NULL;
	rq->free_state = NULL;
}

/* Enters a change, or an attempt to make one, with its author in the journal. */
static void enter(struct gs_request *rq, int code)
{
	const struct gs_verb *v = rq->verb;

	if (!rq->entered && v &&
	    (v->flags & (GS_VERB_ROOT | GS_VERB_OWNER) || gs_arg_given(rq, "on")))
		gs_audit(rq->rs, rq->peer, v->name, rq->args, code, rq->err->text, rq->answer);
	rq->entered = true;
}

/* Charges the size of the answer so far to the user. */
static int hold(struct gs_request *rq)
{
	return rq->rs && rq->rs->hub->opts.daemon
		       ? gs_unread_hold(rq->rs, rq->peer->uid, rq->size, &rq->held, rq->err)
		       : 0;
}

/*
 * Hands over the answer. A daemon turns it into text, and charges the text's size to the user until
 * the client has read it.
 */
static int deliver(struct gs_request *rq)
{
	if (!rq->c.text && rq->rs && rq->rs->hub->opts.daemon) {
		rq->c.text = json_dumps(rq->answer, JSON_COMPACT);
		if (!rq->c.text)
			return -ENOMEM;
	}
	if (!rq->c.text)
		rq->c.answer = TAKE_PTR(rq->answer);
	rq->size = rq->c.text ? strlen(rq->c.text) : 0;
	return hold(rq);
}

/* Adds "dry_run" and "watch_only" to the answer of a change: if true, no call is made. */
static void tell_dry_run(struct gs_request *rq)
{
	if (!rq->rs || !rq->verb || !rq->answer ||
	    !(rq->verb->flags & (GS_VERB_ROOT | GS_VERB_OWNER)))
		return;
	json_object_set_new(rq->answer, "dry_run", json_boolean(rq->rs->hub->opts.dry_run));
	json_object_set_new(rq->answer, "watch_only", json_boolean(rq->rs->hub->watch_only));
}

static int finish(struct gs_request *rq, int code)
{
	drop_state(rq);
	rq->size = 0;
	if (code)
		gs_fail(rq->err, code, "%.64s: %s", rq->verb ? rq->verb->name : "request",
			strerror(-code));
	if (!code)
		tell_dry_run(rq);
	enter(rq, code);
	/*
	 * Root's changes are synced to disk before the answer. Other users' changes are not, since
	 * users could force any number of writes.
	 */
	if (rq->rs)
		gs_saved_write(rq->rs->control, rq->peer->uid == 0);
	if (!code)
		code = deliver(rq);
	if (code) {
		free(rq->c.text);
		rq->c.text = NULL;
		rq->size = 0;
		hold(rq);
	}
	if (code && rq->rs)
		gs_count(rq->rs->hub, code == -EPERM ? GS_SVC_REFUSED : GS_SVC_REQUESTS_FAILED);
	return code;
}

/*
 * Runs steps until one must wait. A step with much work (gs_request_work()) runs in slices of time,
 * which the event loop gives to the users in turn.
 */
static int take_steps(struct gs_completion *c, uint64_t now_ns)
{
	struct gs_request *rq = (struct gs_request *)c;
	int (*step)(struct gs_request * rq, uint64_t now_ns);
	int r, held;

	do {
		step = rq->step;
		r = step(rq, now_ns);
		held = !r || r == -EINPROGRESS ? hold(rq) : 0;
		r = held ? held : r;
	} while (r == -EINPROGRESS && (rq->works ? gs_request_has_time(rq) : rq->step != step));
	if (r == -EINPROGRESS && rq->works) {
		rq->until_ns = 0;
		rq->queued_ns = rq->waited ? 0 : gs_now_ns();
		gs_loop_slice(rq->rs->hub, &rq->sliced, rq->waited);
		rq->waited = true;
	}
	return r == -EINPROGRESS ? r : finish(rq, r);
}

static void take_slice(struct gs_sliced *w, uint64_t until_ns)
{
	struct gs_request *rq = GS_SLICED_OF(w, struct gs_request, sliced);

	if (rq->queued_ns && gs_now_ns() - rq->queued_ns > NS_PER_S && rq->peer->uid)
		gs_limited(rq->rs->hub, rq->peer->uid, GS_LIMIT_TURNS);
	rq->queued_ns = 0;
	rq->until_ns = until_ns;
	gs_completion_ask(&rq->c, gs_now_ns());
}

int gs_request_work(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns))
{
	gs_request_wait(rq, step, 0, 0);
	rq->works = true;
	return -EINPROGRESS;
}

int gs_request_wait(struct gs_request *rq, int (*step)(struct gs_request *rq, uint64_t now_ns),
		    unsigned int on, unsigned int ms)
{
	rq->step = step;
	rq->works = false;
	rq->c.on = on;
	rq->c.look_ns = 0;
	rq->c.until_ns = ms ? gs_now_ns() + ms * NS_PER_MS : 0;
	return -EINPROGRESS;
}

static int step_idle(struct gs_request *rq, uint64_t now_ns)
{
	if (gs_completion_is_late(&rq->c, now_ns))
		return 0;
	return gs_rescan_is_over(rq->rs->intake) && gs_engine_idle(rq->rs->hub->engine)
		       ? 0
		       : -EINPROGRESS;
}

bool gs_request_is_left(const struct gs_request *rq)
{
	struct pollfd p = { .fd = rq->peer->fd };

	return p.fd >= 0 && poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

int gs_request_settle(struct gs_request *rq, unsigned int ms)
{
	return rq->rs->hub->engine ? gs_request_wait(rq, step_idle, GS_ON_ENGINE | GS_ON_LOOKED, ms)
				   : 0;
}

/* ---- requests that may not begin yet --------------------------------------------------------- */

static int step_verb(struct gs_request *rq, uint64_t now_ns);

static int step_restoring(struct gs_request *rq, uint64_t now_ns)
{
	if (!rq->rs->control->restoring)
		return gs_request_work(rq, step_verb);
	if (gs_completion_is_late(&rq->c, now_ns))
		return gs_fail(rq->err, -EBUSY,
			       "everything is being put back: try again when that is done");
	return -EINPROGRESS;
}

static int step_verb(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_verb *v = rq->verb;

	if (rq->rs && rq->rs->control->restoring && !(v->flags & (GS_VERB_READS | GS_VERB_ALONE)))
		return gs_request_wait(rq, step_restoring, GS_ON_TASK, RESTORING_MS);
	json_object_clear(rq->answer);
	return v->fn(rq);
}

/* Whether the caller may change anything: root of a container is nobody's owner, and no root. */
static int check_root(const struct gs_peer *peer, const struct gs_verb *v, struct gs_error *err)
{
	if (peer->place == GS_PEER_IN_OUR_POD && (v->flags & GS_VERB_REPORTS))
		return 0;
	if (peer->place != GS_PEER_HERE && (v->flags & (GS_VERB_ROOT | GS_VERB_OWNER)))
		return gs_fail(
			err, -EPERM,
			"%s: not for root of a container or of another namespace: ask from the "
			"machine itself, or from the daemon's own container",
			v->name);
	return (v->flags & GS_VERB_ROOT) && peer->uid ? refuse(v->name, err) : 0;
}

static int step_check(struct gs_request *rq, uint64_t now_ns)
{
	const struct gs_verb *v = rq->verb;
	int r;

	if (!v)
		return gs_fail(rq->err, -EINVAL, "there is no such verb");
	r = gs_args_check(v, rq->args, rq->err);
	if (!r)
		r = check_service(rq->rs, v, rq->err);
	if (!r)
		r = check_root(rq->peer, v, rq->err);
	if (!r && *rq->peer->pod && !(v->flags & GS_VERB_PODS))
		r = gs_fail(rq->err, -EPERM, "%s: not from a pod: it sees its own programs alone",
			    v->name);
	return r ? r : gs_request_work(rq, step_verb);
}

/* Parses the arguments, in a slice of the user's time too: 64 KiB take some milliseconds. */
static int step_read(struct gs_request *rq, uint64_t now_ns)
{
	json_error_t why = { 0 };

	rq->args = json_loadb(rq->body, rq->nbody, JSON_REJECT_DUPLICATES, &why);
	free(TAKE_PTR(rq->body));
	if (!rq->args)
		return gs_fail(rq->err, -EINVAL, "the body is not JSON: %s", why.text);
	return gs_request_work(rq, step_check);
}

static int step_line_up(struct gs_request *rq, uint64_t now_ns)
{
	return gs_request_work(rq, step_read);
}

/* ---- new requests ---------------------------------------------------------------------------- */

static void request_release(struct gs_completion *c)
{
	struct gs_request *rq = (struct gs_request *)c;

	if (rq->rs)
		gs_slices_drop(&rq->rs->hub->slices, &rq->sliced);
	drop_state(rq);
	enter(rq, -ECANCELED); /* the caller left before the end */
	if (rq->rs)
		gs_unread_drop(rq->rs, rq->peer->uid, &rq->held);
	free(rq->body);
	json_decref(rq->answer);
	json_decref((json_t *)rq->args);
	free(rq);
}

static struct gs_request *request_new(struct gs_requests *rs, const struct gs_peer *peer,
				      const struct gs_verb *verb)
{
	struct gs_request *rq = calloc(1, sizeof(*rq));

	if (!rq)
		return NULL;
	rq->c.check = take_steps;
	rq->c.release = request_release;
	rq->rs = rs;
	rq->who = *peer;
	rq->peer = &rq->who;
	rq->view = gs_view_of(rs, rq->peer);
	rq->answer = json_object();
	rq->err = &rq->c.err;
	rq->verb = verb;
	rq->sliced = (struct gs_sliced){ .work = take_slice, .uid = peer->uid };
	/* without a daemon, no other request competes for time, so slices have no end */
	rq->until_ns = rs && rs->hub->opts.daemon ? 0 : UINT64_MAX;
	return rq;
}

static struct gs_completion *begin(struct gs_request *rq, const char *name)
{
	struct gs_completions none = { 0 }; /* without a service, every verb finishes at once */

	if (!rq->answer || (!rq->args && !rq->nbody)) {
		request_release(&rq->c);
		return NULL;
	}
	if (rq->rs)
		gs_count(rq->rs->hub, GS_SVC_REQUESTS);
	if (!rq->verb)
		gs_fail(rq->err, -EINVAL, "there is no verb '%.64s'", name);
	gs_completion_begin(&rq->c, rq->rs ? &rq->rs->hub->waits : &none, gs_now_ns());
	return &rq->c;
}

struct gs_completion *gs_request_new(struct gs_requests *rs, const struct gs_peer *peer,
				     const struct gs_verb *verb, const char *name,
				     const json_t *args)
{
	struct gs_request *rq = request_new(rs, peer, verb);

	if (!rq)
		return NULL;
	rq->args = args ? json_incref((json_t *)args) : json_object();
	rq->step = step_check;
	return begin(rq, name);
}

struct gs_completion *gs_request_new_text(struct gs_requests *rs, const struct gs_peer *peer,
					  const struct gs_verb *verb, const char *name, char *body,
					  size_t n)
{
	struct gs_request *rq = n ? request_new(rs, peer, verb) : NULL;

	if (!n) {
		free(body);
		return gs_request_new(rs, peer, verb, name, NULL);
	}
	if (!rq) {
		free(body);
		return NULL;
	}
	rq->body = body;
	rq->nbody = n;
	rq->step = step_line_up;
	return begin(rq, name);
}
