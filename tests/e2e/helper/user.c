// SPDX-License-Identifier: MIT
/* user.c - calls libgpusched as other programs do, and prints each result on a line */
#include <errno.h>
#include <gpusched/gpusched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"

static int print_tsg(const struct gpusched_tsg_info *t, void *user)
{
	unsigned int *n = user;

	printf("tsg %llu pid %d kind %s slice %lld/%lld class %s memory %lld tid %d handles %x "
	       "%x\n",
	       (unsigned long long)t->id, t->pid, t->kind, (long long)t->is.timeslice_us,
	       (long long)t->asked.timeslice_us, *t->class_name ? t->class_name : "-",
	       (long long)t->memory_bytes, t->tid, t->client, t->tsg);
	return ++*n == 100 ? 1 : 0;
}

static int count_event(const char *json, void *user)
{
	unsigned int *n = user;

	if (json[0] != '{')
		return -EPROTO;
	return ++*n >= 4 ? 7 : 0;
}

static void told(struct gpusched *g, const char *what, int r, unsigned int n)
{
	printf("%s %d %u %s\n", what, r, n, r < 0 ? gpusched_error(g) : "-");
}

static void steer(struct gpusched *g, const char *target)
{
	struct gpusched_values v = { 333, GPUSCHED_UNSET, GPUSCHED_UNSET, GPUSCHED_UNSET };
	unsigned int n = 0;
	int r;

	r = gpusched_set(g, target, &v, &n);
	told(g, "set", r, n);
	v.timeslice_us = 0;
	r = gpusched_set(g, target, &v, &n);
	told(g, "bad-set", r, n);
	r = gpusched_preempt(g, target, &n);
	told(g, "preempt", r, n);
	r = gpusched_suspend(g, target, 0, &n);
	told(g, "suspend", r, n);
	r = gpusched_resume(g, target, &n);
	told(g, "resume", r, n);
	r = gpusched_unset(g, target, &n);
	told(g, "unset", r, n);
	v.timeslice_us = 333;
	r = gpusched_set(g, "pid:999999", &v, NULL);
	told(g, "no-target", r, 0);
	told(g, "class", gpusched_class_set(g, target, "lc"), 0);
	told(g, "no-class", gpusched_class_set(g, target, "nobody"), 0);
	told(g, "class-clear", gpusched_class_clear(g, target), 0);
}

/* Watches twice: events between the two watches are not lost. */
static void watch(struct gpusched *g, const char *target)
{
	struct gpusched_values v = { 444, GPUSCHED_UNSET, GPUSCHED_UNSET, GPUSCHED_UNSET };
	unsigned int n = 0;
	int r;

	r = gpusched_watch(g, count_event, &n, 200000);
	told(g, "watch-idle", r, 0);
	n = 0;
	gpusched_set(g, target, &v, NULL);
	r = gpusched_watch(g, count_event, &n, 5000000);
	told(g, "watch", r, n);
}

static int on_turn(const char *json, void *user)
{
	return json[0] == '{' ? 7 : -EPROTO;
}

/* Checks that @watching, which has a stream already, gets no second one; then traces. */
static void trace(struct gpusched *watching)
{
	struct gpusched *g = NULL;

	told(watching, "second-stream", gpusched_trace(watching, on_turn, NULL, 1000), 0);
	if (!gpusched_open(NULL, &g))
		told(g, "trace", gpusched_trace(g, on_turn, NULL, 5000000), 0);
	gpusched_close(g);
}

int verb_user(int nwords, char **words)
{
	struct gpusched_open_options o = { .size = sizeof(o) };
	struct gpusched *g = NULL, *bad = NULL;
	unsigned int n = 0;
	char *json = NULL;
	int r;

	r = gpusched_open(&o, &g);
	if (r) {
		told(g, "open", r, 0);
		gpusched_close(g);
		return 1;
	}
	printf("daemon %d version %s\n", gpusched_has_daemon(g), gpusched_version());
	r = gpusched_list(g, words[0], print_tsg, &n);
	told(g, "list", r, n);
	steer(g, words[0]);
	watch(g, words[0]);
	trace(g);
	r = gpusched_request(g, "stats", NULL, &json);
	told(g, "request", r, json && json[0] == '{');
	free(json);
	told(g, "bad-request", gpusched_request(g, "no such", NULL, &json), 0);
	r = gpusched_restore(g, &n);
	told(g, "restore", r, n > 0);
	gpusched_close(g);
	o.size = 1;
	r = gpusched_open(&o, &bad);
	told(bad, "bad-size", r, 0);
	gpusched_close(bad);
	return 0;
}
