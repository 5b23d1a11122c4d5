// SPDX-License-Identifier: MIT
/* qualify.c - runs the parts of a qualification one after the other, within a time limit */
#include "qualify/qualify.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "account/kept.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/json_sheet.h"
#include "config/config.h"
#include "local/ask.h"
#include "probe/probe.h"
#include "qualify/judge.h"
#include "qualify/priv.h"
#include "taps/taps.h"

#define PARTS_S 150 /* parts are asked to end at this time, and must end by QUALIFY_LIMIT_S */

/* ---- stopping by a signal, or at the time limit -------------------------------------------------- */

static volatile sig_atomic_t stop;

/*
 * The first signal asks the parts to end, and sets an alarm. A second signal or the alarm means
 * that a part hangs, so we exit at once. Our programs and our daemon end with us, and the daemon
 * restores all settings.
 */
static void on_signal(int signal)
{
	struct itimerval last = { .it_value.tv_sec = QUALIFY_LIMIT_S - PARTS_S - 5 };

	if (stop)
		_exit(GS_EXIT_FAILED);
	stop = signal;
	setitimer(ITIMER_REAL, &last, NULL);
}

struct guard {
	struct sigaction was[5];
};
static const int signals[5] = { SIGINT, SIGTERM, SIGALRM, SIGHUP, SIGQUIT };

static void guard_begin(struct guard *g)
{
	const struct sigaction on = { .sa_handler = on_signal };
	struct itimerval first = { .it_value.tv_sec = PARTS_S };

	stop = 0;
	for (unsigned int i = 0; i < GS_COUNT(signals); i++)
		sigaction(signals[i], &on, &g->was[i]);
	setitimer(ITIMER_REAL, &first, NULL);
}

static void guard_end(struct guard *g)
{
	struct itimerval none = { 0 };

	setitimer(ITIMER_REAL, &none, NULL);
	for (unsigned int i = 0; i < GS_COUNT(signals); i++)
		sigaction(signals[i], &g->was[i], NULL);
}

/* ---- parts ----------------------------------------------------------------------------------------- */

static void tell(const struct qualify *q, const char *what)
{
	if (q->o->tell)
		q->o->tell(what);
}

static const char *reason(const struct qualify *q, const struct gs_error *err)
{
	if (stop == SIGALRM)
		return "time was over";
	if (stop)
		return "it was stopped";
	return err->text[0] ? err->text : "it was not tried";
}

static void judge_log(struct qualify *q)
{
	if (q->r->checks[QUALIFY_LOG].known)
		return;
	if (q->r->records)
		qualify_yes(q, QUALIFY_LOG, "%llu records, %llu lost",
			    (unsigned long long)q->r->records, (unsigned long long)q->r->lost);
	else
		qualify_no(q, QUALIFY_LOG, "it is open, and says nothing of our programs");
}

static void take_calls(struct qualify *q)
{
	CLEANUP_JSON json_t *stats = NULL;

	if (!qualify_ask("stats", NULL, &stats, NULL))
		q->r->calls = json_incref(json_object_get(stats, "calls"));
}

static void measure(struct qualify *q)
{
	struct gs_error err = { 0 };
	int r;

	tell(q, "costs of switches");
	r = qualify_session_begin(q, &err);
	if (!r)
		r = qualify_costs(q, &err);
	if (!r)
		tell(q, "effects of settings");
	if (!r)
		r = qualify_effects(q, &err);
	if (!r)
		judge_log(q);
	take_calls(q);
	qualify_session_end(q);
	/* if a part ended early, the error is the reason for all results that are still unknown */
	qualify_judge_leave_reasons(q->r, QUALIFY_TAIL, QUALIFY_ALONE_P50, reason(q, &err));
	if (!r && !q->o->quick) {
		tell(q, "latencies beside others");
		r = qualify_latency(q, &err);
	}
	q->r->complete = !r && !stop;
	qualify_judge_leave_reasons(q->r, QUALIFY_CHECKS_MAX, QUALIFY_COSTS_MAX,
				    !r && q->o->quick ? "not with --quick" : reason(q, &err));
}

/* ---- begin and end ----------------------------------------------------------------------------------- */

static int no_daemon(struct gs_error *err)
{
	CLEANUP(gs_closep) struct gpusched *g = NULL;

	if (gpusched_open(NULL, &g))
		return 0;
	return gs_fail(err, -EBUSY,
		       "gpuschedd runs here: stop it first ('%s'), since this has one of its own",
		       gs_env()->sim ? "kill" : "systemctl stop gpuschedd");
}

/*
 * Checks that we are root and that the driver's branch is known, tested or not. If the
 * configuration allows unknown drivers, an unknown branch is treated as the newest known one.
 */
static int need_driver(struct qualify *q, struct gs_error *err)
{
	struct gs_config *config = NULL;
	struct gs_probe root = { 0 };
	unsigned int branch = 0;
	char version[64];
	int r;

	gs_probe_host_root(&root);
	if (!root.ok)
		return gs_fail(err, -EPERM, "%s: %s", root.detail, root.remedy);
	r = gs_rm_driver(&branch, version, sizeof(version), err);
	if (r || gs_rm_driver_branch_known(branch))
		return r;
	r = gs_config_load(&config, err);
	if (r)
		return r;
	q->run.any_driver = config->unknown_driver;
	gs_config_free(config);
	if (!q->run.any_driver)
		return gs_fail(
			err, -ENOTSUP,
			"driver %s: its branch is not known, so that gpusched only watches; with "
			"UnknownDriver=yes this would show which calls it takes, their effects "
			"and costs",
			version);
	return 0;
}

/* Chooses the GPU to qualify. If there are several, our programs see only that one. */
static int choose_gpu(struct qualify *q, struct gs_error *err)
{
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	const struct gs_gpu *gpu;
	size_t n = 0;
	int r = gs_gpus_read(&gpus, &n, err);

	if (r)
		return r;
	if (!n)
		return gs_fail(err, -ENODEV, "there is no GPU");
	gpu = q->o->gpu ? gs_gpu_find(gpus, n, q->o->gpu) : gpus;
	if (!gpu)
		return gs_fail(err, -EINVAL, "'%s' is no GPU here: see 'gpusched gpus'", q->o->gpu);
	q->gpu = *gpu;
	if (n > 1)
		setenv("CUDA_VISIBLE_DEVICES", gpu->uuid, 1);
	snprintf(q->r->gpu, sizeof(q->r->gpu), "%s", gpu->name);
	snprintf(q->r->uuid, sizeof(q->r->uuid), "%s", gpu->uuid);
	snprintf(q->r->pci, sizeof(q->r->pci), "%s", gpu->pci);
	return 0;
}

/*
 * Stores the costs for later daemons, except with --force: other programs on the GPU would have
 * distorted the measurements.
 */
static void keep_costs(struct qualify *q)
{
	CLEANUP_FREE struct gs_kept *kept = calloc(1, sizeof(*kept));
	struct gs_costs costs = qualify_judge_costs(q->r, (uint64_t)time(NULL));
	const struct gs_kept_gpu *k;

	if (!kept || q->o->force)
		return;
	gs_kept_load(kept, NULL); /* on failure, @kept is empty, and a damaged file is replaced */
	k = gs_kept_find(kept, &q->gpu);
	if (gs_kept_counts(k, &q->gpu, q->r->driver))
		costs = gs_kept_above(&k->costs, &costs);
	if (gs_kept_put(kept, &q->gpu, q->r->driver, &costs, 0))
		gs_kept_save(kept, NULL);
}

/* Turns the taps off. A failure is only reported, since the results are valid anyway. */
static void clean_up(struct qualify *q)
{
	struct gs_error why = { 0 };

	if (bench_path_forget(&q->run, &why))
		snprintf(q->r->left, sizeof(q->r->left), "%.190s", why.text);
}

static int run(struct qualify *q, struct gs_error *err)
{
	struct gs_taps_status taps = { 0 };
	bool had_taps = !gs_taps_status(&taps, NULL) && taps.on;
	int r;

	r = qualify_cleaner_start(&q->cleaner, !had_taps, err);
	if (r)
		return r;
	tell(q, "speed of the idle GPU");
	q->run.note_dir = q->cleaner.dir;
	r = bench_path_begin(&q->run, err);
	if (!r) {
		q->r->multiprocessors = q->run.path->multiprocessors;
		snprintf(q->r->driver, sizeof(q->r->driver), "%s", q->run.driver);
		measure(q);
		keep_costs(q);
	}
	if (!had_taps && q->run.path)
		clean_up(q);
	bench_path_end(&q->run);
	qualify_cleaner_end(&q->cleaner);
	return r;
}

int qualify_run(const struct qualify_opts *o, struct qualify_result *ret, struct gs_error *err)
{
	CLEANUP_FREE struct qualify *q = calloc(1, sizeof(*q));
	uint64_t from = gs_now_ns();
	struct guard guard;
	int r;

	*ret = (struct qualify_result){ .dilate = gs_env()->dilate, .latencies = json_array() };
	for (int i = 0; i < QUALIFY_COSTS_MAX; i++)
		ret->costs[i].us = NAN;
	if (!q || !ret->latencies)
		return gs_fail(err, -ENOMEM, "out of memory");
	*q = (struct qualify){ .o = o, .r = ret, .daemon = BENCH_CHILD_NONE };
	q->run = (struct bench_run){
		.mode = gs_env()->sim ? BENCH_PATH : BENCH_REAL,
		.seconds = gs_env()->sim ? 2 : 4,
		.warmup_s = gs_env()->sim ? 1 : 3,
		.dilate = gs_env()->dilate,
		.gpus = 1,
		.beside_others = o->force,
		.stop = &stop,
	};
	r = need_driver(q, err);
	if (!r)
		r = no_daemon(err);
	if (!r)
		r = choose_gpu(q, err);
	if (r)
		return r;
	guard_begin(&guard);
	r = run(q, err);
	guard_end(&guard);
	ret->seconds = (double)(gs_now_ns() - from) / 1e9;
	return r;
}

void qualify_free(struct qualify_result *r)
{
	json_decref(r->calls);
	json_decref(r->latencies);
}
