// SPDX-License-Identifier: MIT
#include "preempt/way.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "preempt/cost.h"
#include "gpusched/gpusched.h"
#include "wire/agent.h"
#include "rm/way.h"

#define AGENT_STARTS_MS 2000

/* The functions of libgpusched that are loaded here, without the prefix gpusched_. */
#define LIBRARY(X) \
	X(open) X(close) X(list) X(set) X(unset) X(preempt) X(suspend) X(resume) X(request)

struct way {
	pthread_mutex_t lock;
	struct gpusched *daemon; /* NULL: the agent is used */
	char name[160];
#define X(name) __typeof__(&gpusched_##name) name;
	LIBRARY(X)
#undef X
};

/* Loads a library, first from the directory of this one: that file has the same version. */
static void *open_beside(const char *file)
{
	char path[512];
	Dl_info us;
	const char *slash;
	void *lib = NULL;

	if (dladdr((void *)(uintptr_t)way_new, &us) && (slash = strrchr(us.dli_fname, '/'))) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - us.dli_fname), us.dli_fname,
			 file);
		lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	}
	return lib ? lib : dlopen(file, RTLD_NOW | RTLD_LOCAL);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static bool daemon_open(struct way *w)
{
	void *lib = open_beside("libgpusched.so.1");

	if (!lib)
		return false;
#define X(name) \
	w->name = (__typeof__(w->name))dlsym(lib, "gpusched_" #name); \
	if (!w->name) \
		return false;
	LIBRARY(X)
#undef X
	if (!w->open(NULL, &w->daemon))
		return true;
	w->close(w->daemon);
	w->daemon = NULL;
	return false;
}

static uint32_t daemon_cost(struct way *w, const unsigned char *uuid)
{
	CLEANUP_FREE char *answer = NULL;

	if (w->request(w->daemon, "gpus", NULL, &answer) || !answer)
		return 0;
	return cost_of_us(answer, uuid);
}

struct found {
	struct way_tsg *tsgs;
	int n;
};

static int on_tsg(const struct gpusched_tsg_info *info, void *user)
{
	struct found *f = user;

	if (!strcmp(info->kind, "compute") && f->n < (int)WAY_TSGS)
		f->tsgs[f->n++] = (struct way_tsg){
			.id = info->id,
			.client = info->client,
			.tsg = info->tsg,
			.asked_us = info->asked.timeslice_us,
		};
	return 0;
}

static int daemon_list(struct way *w, struct way_tsg *ret)
{
	struct found f = { .tsgs = ret };
	char target[32];
	int r;

	snprintf(target, sizeof(target), "pid:%d", (int)getpid());
	r = w->list(w->daemon, target, on_tsg, &f);
	/* -ENOENT: the daemon does not know this process yet */
	return r == -ENOENT ? 0 : r ? r : f.n;
}

static int daemon_call(struct way *w, const struct way_tsg *tsg, enum way_op op, uint32_t arg)
{
	const struct gpusched_values slice = {
		.timeslice_us = arg,
		.interleave = GPUSCHED_UNSET,
		.preempt_mode = GPUSCHED_UNSET,
		.runnable = GPUSCHED_UNSET,
	};
	char target[32];

	snprintf(target, sizeof(target), "tsg:%llu", (unsigned long long)tsg->id);
	switch (op) {
	case WAY_SLICE:
		return arg ? w->set(w->daemon, target, &slice, NULL)
			   : w->unset(w->daemon, target, NULL);
	case WAY_PREEMPT:
		return w->preempt(w->daemon, target, NULL);
	case WAY_SUSPEND:
		return w->suspend(w->daemon, target, WAY_LEASE_US, NULL);
	case WAY_RESUME:
		return w->resume(w->daemon, target, NULL);
	}
	return -EINVAL;
}

/* ---- the agent ------------------------------------------------------------------------------- */

/*
 * Connects to the agent in this process. A preloaded agent is already there after cuInit(). If
 * there is none, loads it in the same way as CUDA's injection would.
 */
static bool agent_open(void)
{
	uint64_t end = gs_now_ns() + AGENT_STARTS_MS * NS_PER_MS;
	char dir[80];
	int (*start)(void);
	void *lib;
	int fd;

	if (gs_agent_way_dir_check(gs_agent_way_dir(dir, sizeof(dir)), 1))
		return false;
	if (!dlsym(RTLD_DEFAULT, "gpusched_hints")) {
		lib = open_beside("libgpusched-agent.so");
		start = lib ? (int (*)(void))dlsym(lib, "InitializeInjection") : NULL;
		if (!start)
			return false;
		start();
	}
	while ((fd = gs_agent_way_connect(getpid())) < 0 && gs_now_ns() < end)
		gs_sleep_ns(NS_PER_MS);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int agent_list(struct way_tsg *ret)
{
	const size_t size =
		sizeof(struct gs_agent_answer) + GS_AGENT_TSGS * sizeof(struct gpusched_tsg);
	CLEANUP_FREE struct gs_agent_answer *a = calloc(1, size);
	CLEANUP_FD int fd = gs_agent_way_connect(getpid());
	int n = 0, r;

	if (!a || fd < 0)
		return a ? fd : -ENOMEM;
	r = gs_agent_way_ask(fd, &(struct gs_agent_request){ .ask = GS_AGENT_LIST }, a, size, NULL);
	for (uint32_t i = 0; !r && i < a->n; i++)
		if (a->tsgs[i].task.kind == GPUSCHED_KIND_COMPUTE)
			ret[n++] = (struct way_tsg){
				.client = a->tsgs[i].key.client,
				.tsg = a->tsgs[i].key.handle,
				.asked_us = a->tsgs[i].task.asked.timeslice_us,
			};
	return r ? r : n;
}

static int agent_call(const struct way_tsg *tsg, enum way_op op, uint32_t arg)
{
	static const enum gs_rm_op ops[] = {
		[WAY_SLICE] = GS_RM_SET_TIMESLICE,
		[WAY_PREEMPT] = GS_RM_PREEMPT,
		[WAY_SUSPEND] = GS_RM_SUSPEND,
		[WAY_RESUME] = GS_RM_RESUME,
	};
	const struct gs_rm_tsg t = { .pid = getpid(), .client = tsg->client, .tsg = tsg->tsg };
	struct gs_rm_step step = { .op = ops[op], .arg = arg };

	if (op == WAY_SLICE && !arg) {
		step.arg = (uint32_t)tsg->asked_us;
		step.clear = true;
	}
	return gs_way_agent.take(&t, &step, 1);
}

/* ---- daemon or agent ------------------------------------------------------------------------- */

int way_new(struct way **ret)
{
	struct way *w = calloc(1, sizeof(*w));

	if (!w)
		return -ENOMEM;
	pthread_mutex_init(&w->lock, NULL);
	snprintf(w->name, sizeof(w->name), "%s",
		 daemon_open(w) ? "daemon"
		 : agent_open() ? "agent"
				: "none: no daemon answers, and there is no libgpusched-agent.so "
				  "or no folder for its socket (XDG_RUNTIME_DIR)");
	*ret = w;
	return 0;
}

void way_free(struct way *w)
{
	if (!w)
		return;
	if (w->daemon)
		w->close(w->daemon);
	pthread_mutex_destroy(&w->lock);
	free(w);
}

const char *way_name(const struct way *w)
{
	return w->name;
}

int way_list(struct way *w, struct way_tsg ret[WAY_TSGS])
{
	int n;

	if (w->name[0] == 'n')
		return -ENOTSUP;
	pthread_mutex_lock(&w->lock);
	n = w->daemon ? daemon_list(w, ret) : agent_list(ret);
	pthread_mutex_unlock(&w->lock);
	return n;
}

uint32_t way_switch_cost_us(struct way *w, const unsigned char *uuid)
{
	uint32_t us;

	pthread_mutex_lock(&w->lock);
	us = w->daemon ? daemon_cost(w, uuid) : 0;
	pthread_mutex_unlock(&w->lock);
	return us;
}

int way_call(struct way *w, const struct way_tsg *tsg, enum way_op op, uint32_t arg)
{
	int r;

	pthread_mutex_lock(&w->lock);
	r = w->daemon ? daemon_call(w, tsg, op, arg) : agent_call(tsg, op, arg);
	pthread_mutex_unlock(&w->lock);
	return r;
}
