// SPDX-License-Identifier: MIT
/*
 * What takes long of a policy's start, and of beginning to count launches, in a thread of its own:
 * compiler, linker, verifier and attaching. The loop goes on meanwhile, and puts what is ready in
 * place. One at a time.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/log.h"
#include "gpusched/policy_types.h"
#include "service/internal.h"

struct gs_starting {
	struct gs_service *s;
	unsigned int refs;
	char *name; /* of the policy; NULL: launches alone */
	char **options;
	size_t noptions;
	bool count; /* launches are wanted whatever the policy says, and are not counted yet */
	bool may_count;

	/* the thread's, until @fd is readable */
	pthread_t thread;
	int fd;
	struct gs_policy *policy;
	struct gs_policy_exit exit;
	struct gs_launches *launches;
	struct gs_error err, launches_err;
	int code, launches_code;

	bool cancelled, done;
};

static void starting_free(struct gs_starting *t)
{
	for (size_t i = 0; i < t->noptions; i++)
		free(t->options[i]);
	free(t->options);
	free(t->name);
	free(t->exit.dump);
	if (t->fd >= 0)
		close(t->fd);
	free(t);
}

void gs_starting_unref(struct gs_starting *t)
{
	if (t && !--t->refs)
		starting_free(t);
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void *starting_main(void *arg)
{
	struct gs_starting *t = arg;
	uint64_t one = 1;
	bool count = t->count;

	if (t->name)
		t->code = gs_policy_prepare(t->s->o, t->name, (const char *const *)t->options,
					    t->noptions, &t->policy, &t->exit, &t->err);
	if (!t->code && t->name)
		count |= t->may_count && gs_policy_running(t->policy)->flags & GPUSCHED_F_WORK;
	if (!t->code && count)
		t->launches_code = gs_launches_new(t->s->o, &t->launches, &t->launches_err);
	if (write(t->fd, &one, sizeof(one)) < 0)
		gs_log(LOG_ERR, "a start is ready and cannot say so: %s", strerror(errno));
	return NULL;
}

/* ---- begin ----------------------------------------------------------------------------------- */

static int copy_wish(struct gs_starting *t, const char *name, const char *const *options, size_t n)
{
	if (!name)
		return 0;
	t->name = strdup(name);
	t->options = calloc(n + 1, sizeof(*t->options));
	if (!t->name || !t->options)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		t->options[i] = strdup(options[i]);
		if (!t->options[i])
			return -ENOMEM;
		t->noptions++;
	}
	return 0;
}

static int refuse_second(const struct gs_starting *t, struct gs_error *err)
{
	if (t->cancelled)
		return gs_fail(
			err, -EBUSY,
			"a start that was called off is still ending: try again in a moment");
	if (t->name)
		return gs_fail(err, -EBUSY,
			       "policy %s is being started: try again when that is done, or call "
			       "it off by 'gpusched policy stop'",
			       t->name);
	return gs_fail(err, -EBUSY, "launches begin to be counted: try again when that is done");
}

int gs_starting_begin(struct gs_service *s, const char *name, const char *const *options, size_t n,
		      struct gs_starting **ret, struct gs_error *err)
{
	struct gs_starting *t;
	int r;

	if (s->starting)
		return refuse_second(s->starting, err);
	t = calloc(1, sizeof(*t));
	if (!t)
		return gs_fail(err, -ENOMEM, "out of memory");
	t->s = s;
	t->refs = 1;
	t->may_count = s->opts.daemon && !s->launches;
	t->count = t->may_count && gs_service_launches_wanted(s);
	t->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	r = t->fd < 0 ? -errno : copy_wish(t, name, options, n);
	if (!r)
		r = gs_loop_add(s, t->fd);
	gs_policy_build_forbid(false);
	if (!r)
		r = -pthread_create(&t->thread, NULL, starting_main, t);
	if (r) {
		starting_free(t);
		return gs_fail(err, r, "nothing can be started now: %s", strerror(-r));
	}
	s->starting = t;
	t->refs++;
	*ret = t;
	return 0;
}

/* ---- end ------------------------------------------------------------------------------------- */

int gs_starting_fd(const struct gs_service *s)
{
	return s->starting ? s->starting->fd : -1;
}

static void put_launches(struct gs_starting *t)
{
	struct gs_service *s = t->s;

	if (t->launches_code)
		gs_log(LOG_WARNING, "%s", t->launches_err.text);
	if (!t->launches)
		return;
	s->launches = TAKE_PTR(t->launches);
	gs_launches_catch_up(s->launches);
	s->counters[GS_SVC_LAUNCH_LIBS_LEFT] += gs_launches_left(s->launches);
}

/* Counting was on when it began, and was turned off meanwhile. */
static void count_after_all(struct gs_service *s)
{
	struct gs_starting *t;

	if (s->opts.daemon && !s->launches && gs_service_launches_wanted(s) &&
	    !gs_starting_begin(s, NULL, NULL, 0, &t, NULL))
		gs_starting_unref(t);
}

static void put_in_place(struct gs_starting *t)
{
	put_launches(t);
	if (t->name)
		t->code = gs_service_policy_put(t->s, t->name, TAKE_PTR(t->policy), &t->exit,
						t->code, &t->err);
	else if (t->launches_code) {
		t->s->launches_asked = false;
		t->code = t->launches_code;
		t->err = t->launches_err;
	}
	gs_service_launches_update(t->s);
	if (t->name && !t->code && !t->launches_code)
		count_after_all(t->s);
}

void gs_starting_dispatch(struct gs_service *s)
{
	struct gs_starting *t = s->starting;
	uint64_t waste;

	if (read(t->fd, &waste, sizeof(waste)) < 0)
		return; /* not yet */
	s->starting = NULL;
	pthread_join(t->thread, NULL);
	gs_loop_del(s, t->fd);
	if (t->cancelled) {
		gs_policy_discard(t->policy);
		gs_launches_free(t->launches, NULL);
	} else {
		put_in_place(t);
	}
	t->done = true;
	gs_starting_unref(t);
}

static bool wait_readable(int fd, int ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r;

	do
		r = poll(&p, 1, ms);
	while (r < 0 && errno == EINTR);
	return r > 0;
}

void gs_starting_cancel(struct gs_service *s)
{
	if (!s->starting)
		return;
	s->starting->cancelled = true;
	gs_policy_build_forbid(true);
}

void gs_starting_end(struct gs_service *s)
{
	if (!s->starting)
		return;
	gs_starting_cancel(s);
	wait_readable(s->starting->fd, -1);
	gs_starting_dispatch(s);
}

const char *gs_starting_policy(const struct gs_service *s)
{
	return s->starting && !s->starting->cancelled ? s->starting->name : NULL;
}

/* ---- who waits for it ------------------------------------------------------------------------ */

int gs_starting_result(const struct gs_starting *t, struct gs_error *err)
{
	if (t->cancelled)
		return gs_fail(err, -ECANCELED, "%s was called off before it had started",
			       t->name ? t->name : "counting launches");
	if (!t->done)
		return -EINPROGRESS;
	return t->code ? gs_fail(err, t->code, "%s", t->err.text) : 0;
}

int gs_starting_wait(struct gs_starting *t, int ms, struct gs_error *err)
{
	if (t->s->starting == t && wait_readable(t->fd, ms))
		gs_starting_dispatch(t->s);
	return gs_starting_result(t, err);
}

int gs_starting_now(struct gs_service *s, const char *name, const char *const *options, size_t n,
		    struct gs_error *err)
{
	struct gs_beating beating;
	struct gs_starting *t;
	int r = gs_starting_begin(s, name, options, n, &t, err);

	if (r)
		return r;
	gs_beating_start(&beating, s);
	r = gs_starting_wait(t, -1, err);
	gs_beating_stop(&beating);
	gs_starting_unref(t);
	return r;
}

struct waiting {
	struct gs_pending base;
	struct gs_starting *t;
	void (*fill)(struct gs_service *s, json_t *answer);
};

static int waiting_poll(struct gs_pending *base, json_t **ret_answer, struct gs_error *err)
{
	struct waiting *w = (struct waiting *)base;
	json_t *answer;
	int r = gs_starting_result(w->t, err);

	if (r)
		return r;
	answer = json_object();
	if (!answer)
		return gs_fail(err, -ENOMEM, "out of memory");
	w->fill(w->t->s, answer);
	*ret_answer = answer;
	return 0;
}

static void waiting_free(struct gs_pending *base)
{
	struct waiting *w = (struct waiting *)base;

	gs_starting_unref(w->t);
	free(w);
}

int gs_starting_answer(struct gs_request *rq, struct gs_starting *t,
		       void (*fill)(struct gs_service *s, json_t *answer))
{
	struct waiting *w = rq->ret_pending ? calloc(1, sizeof(*w)) : NULL;
	int r = gs_starting_wait(t, w ? GS_PENDING_MS : -1, rq->err);

	if (w && r == -EINPROGRESS) {
		*w = (struct waiting){ { waiting_poll, waiting_free }, t, fill };
		*rq->ret_pending = &w->base;
		return r;
	}
	if (!r)
		fill(rq->s, rq->answer);
	gs_starting_unref(t);
	free(w);
	return r;
}
