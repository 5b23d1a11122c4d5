// SPDX-License-Identifier: MIT
/* Life cycle of an instance: open, repair, adopt, classify, run; and the orderly end. */
#include "service/service.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "process/reader.h"
#include "rm/module.h"
#include "service/adopting.h"
#include "service/agents.h"
#include "service/errand.h"
#include "service/intake.h"
#include "service/hardware.h"
#include "service/instance.h"
#include "service/launches.h"
#include "service/looking.h"
#include "service/lock.h"
#include "service/loop.h"
#include "service/metrics.h"
#include "service/oddities.h"
#include "service/policy.h"
#include "service/restoring.h"
#include "service/sight.h"
#include "service/starting.h"
#include "service/sweeping.h"
#include "service/takeover.h"
#include "service/trace.h"
#include "service/verbs.h"
#include "service/watch.h"
#include "table/cfg.h"
#include "table/events.h"
#include "table/facts.h"
#include "taps/taps.h"

#define SETTLE_MS 2000
#define GUARDIAN_LIVES_NS NS_PER_S /* one that dies sooner is not replaced: the next would too */

int gs_service_check_config(const struct gs_config *config, struct gs_error *err)
{
	struct gs_classes *classes;
	int r = gs_config_classes(config, &classes, err);

	if (!r)
		gs_classes_free(classes);
	return r;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The table's pids must mean to us what they mean to the taps. */
static int check_pid_namespace(struct gs_service *s, struct gs_error *err)
{
	struct gpusched_cfg cfg;
	struct stat st;
	int r;

	r = gs_cfg_get(s->o, &cfg);
	if (r)
		return gs_fail(err, r, "the table of TSGs cannot be read: %s", strerror(-r));
	if (stat("/proc/self/ns/pid", &st))
		return gs_fail(err, -errno, "/proc/self/ns/pid: %s", strerror(errno));
	if (cfg.pidns_ino && cfg.pidns_ino != st.st_ino)
		return gs_fail(err, -ENOTSUP,
			       "the TSG table belongs to another pid namespace: run gpusched in "
			       "that one (the host's)");
	return 0;
}

static int open_table(struct gs_service *s, bool *ret_fresh, struct gs_error *err)
{
	struct gs_taps_status status = { 0 };
	int r;

	*ret_fresh = gs_taps_status(&status, NULL) || !status.on;
	r = s->opts.read_only ? gs_taps_on(err) : gs_taps_ready(err);
	if (!r)
		r = gs_table_open(&s->o, err);
	if (!r)
		r = check_pid_namespace(s, err);
	if (r)
		return gs_fail(err, r, "the taps cannot be turned on: %s", strerror(-r));
	s->self_added = !gs_self_add(s->o, getpid());
	return 0;
}

/* Taps that we turned on ourselves do not stay where there is nothing to observe. */
static int read_machine(struct gs_service *s, bool fresh, struct gs_error *err)
{
	char version[64];
	int r;

	r = gs_rm_driver(&s->branch, version, sizeof(version), err);
	if (!r)
		r = gs_gpus_read(&s->gpus, &s->ngpus, err);
	if (r) {
		if (fresh)
			gs_taps_off(NULL);
		return gs_fail(err, r, "the NVIDIA driver does not answer: %s", strerror(-r));
	}
	if (!s->opts.read_only)
		gs_cfg_gpus(s->o, s->gpus, s->ngpus);
	return 0;
}

static int publish_classes(struct gs_service *s, struct gs_error *err)
{
	int r = s->opts.read_only ? 0 : gs_classes_publish(s->classes, s->o);

	return r ? gs_fail(err, r, "the classes cannot be published: %s", strerror(-r)) : 0;
}

/*
 * We hold the lock, so a heartbeat in the table is that of a daemon that died. A daemon that ends
 * in order, and a command, leave none: their manual settings are meant to stay.
 */
static int repair(struct gs_service *s, struct gs_error *err)
{
	struct gpusched_cfg cfg;
	struct gs_restored done = { 0 };
	struct gs_error why = { 0 };
	int r;

	if (s->opts.read_only || s->opts.dry_run)
		return 0;
	r = gs_cfg_get(s->o, &cfg);
	if (r || !cfg.heartbeat_ns)
		return 0;
	gs_cfg_policy_active(s->o, false); /* first: its gate stops nobody any more */
	r = gs_restore(s->o, s->branch, &done, &why);
	gs_cfg_heartbeat(s->o, 0);
	if (r && !done.failed)
		return gs_fail(err, r, "%s", why.text);
	s->past.restored += done.restored;
	s->past.gone += done.gone;
	s->past.failed += done.failed;
	s->past.continued += done.continued;
	if (done.changed)
		gs_log(LOG_WARNING, "an earlier daemon died: %u TSGs put back, %u gone, %u failed",
		       done.restored, done.gone, done.failed);
	if (done.continued)
		gs_log(LOG_WARNING,
		       "an earlier daemon died: %u processes that its gate had stopped go on",
		       done.continued);
	return 0; /* whose owner does not let it be put back keeps nobody from starting */
}

static int start_guardian(struct gs_service *s, struct gs_error *err);

/* It ended though nobody told it to: another one takes its place. */
static int on_guardian_ended(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	struct gs_service *s = user;
	bool soon = gs_guardian_age_ns(s->guardian) < GUARDIAN_LIVES_NS;
	struct gs_error err = { 0 };

	s->guardian_ended = sd_event_source_disable_unref(src);
	gs_guardian_end(s->guardian);
	s->guardian = NULL;
	if (soon)
		gs_log(LOG_ERR, "the guardian died at once: this daemon's death would be repaired "
				"by the next start or 'gpusched restore' alone");
	else if (start_guardian(s, &err))
		gs_log(LOG_ERR, "%s", err.text);
	else
		gs_log(LOG_WARNING, "the guardian died: another one took its place");
	return 0;
}

static int start_guardian(struct gs_service *s, struct gs_error *err)
{
	int r;

	if (!s->opts.daemon || s->opts.dry_run)
		return 0;
	r = gs_guardian_start(s->o, s->branch, &s->guardian, err);
	if (!r)
		r = sd_event_add_io(s->event, &s->guardian_ended, gs_guardian_fd(s->guardian),
				    EPOLLIN, on_guardian_ended, s);
	return r < 0 ? gs_fail(err, r, "the guardian cannot start: %s", strerror(-r)) : 0;
}

static void dispatch_engine(struct gs_service *s)
{
	gs_engine_dispatch(s->e);
	gs_waits_happened(&s->waits, GS_ON_ENGINE);
}

static int on_results(sd_event_source *src, int fd, uint32_t revents, void *user)
{
	dispatch_engine(user);
	return 0;
}

static int on_engine_due(sd_event_source *src, uint64_t us, void *user)
{
	dispatch_engine(user);
	return 0;
}

static void complete(struct gpusched_tsg *rec, void *user)
{
	gs_sight_complete(user, rec);
}

static void on_call(const struct gs_engine_call *call, void *user)
{
	struct gs_service *s = user;

	gs_observers_called(&s->observers, call);
}

static void on_wish(const struct gpusched_tsg *rec, void *user)
{
	struct gs_service *s = user;

	gs_observers_tell(&s->observers, rec, GPUSCHED_EV_WANT, 0);
}

static void on_overruled(const struct gpusched_tsg *rec, uint32_t why, void *user)
{
	struct gs_service *s = user;

	gs_policy_log_overruled(s, rec, why);
	gs_observers_tell(&s->observers, rec, GPUSCHED_EV_OVERRULED, why);
}

static int start_engine(struct gs_service *s, struct gs_error *err)
{
	const struct gs_engine_opts opts = {
		.size = sizeof(opts),
		.dry_run = s->opts.dry_run,
		.branch = s->branch,
		.gpus = s->gpus,
		.ngpus = s->ngpus,
		.switch_cost_us = s->config->switch_cost_us,
		.hold_limit_ms = s->config->hold_limit_ms,
		.complete = complete,
		.on_call = on_call,
		.on_wish = on_wish,
		.on_overruled = on_overruled,
		.on_denied = gs_on_denied,
		.user = s,
	};
	struct gpusched_cfg cfg = { 0 };
	int r;

	r = gs_engine_new(s->o, &opts, &s->e, err);
	if (!r)
		r = gs_cfg_get(s->o, &cfg);
	s->epoch = cfg.epoch;
	if (!r)
		r = sd_event_add_io(s->event, &s->results, gs_engine_fd(s->e), EPOLLIN, on_results,
				    s);
	if (r >= 0) /* the loop gives it its times */
		r = sd_event_add_time(s->event, &s->due, CLOCK_MONOTONIC, UINT64_MAX, 1,
				      on_engine_due, s);
	return r < 0 ? gs_fail(err, r, "the reconciler cannot start: %s", strerror(-r)) : 0;
}

static uint32_t server_of(uint32_t pid, void *user)
{
	const struct gs_pool *p = gs_pool_of_process(user, (pid_t)pid);

	return p ? (uint32_t)p->server : 0;
}

static int start_acting(struct gs_service *s, struct gs_error *err)
{
	struct gs_error why = { 0 };
	int r;

	r = gs_loop_new(s, err);
	if (!r && gs_service_launches_start(s) < 0)
		r = gs_fail(err, -ENOMEM, "the event loop: out of memory");
	if (!r) /* before any thread is made: it is a fork of this process */
		r = start_guardian(s, err);
	if (!r)
		r = start_engine(s, err);
	if (!r)
		r = gs_intake_start(s, err);
	if (!r && s->opts.daemon) { /* only policies ask for them */
		r = gs_jobs_begin(s->o);
		if (r)
			gs_fail(err, r, "no map for the TSGs' jobs: %s", strerror(-r));
	}
	if (!r)
		r = gs_sight_start(s, server_of, err);
	if (!r)
		r = gs_ledger_start(s, err);
	if (r)
		return r;
	gs_agents_start(s);
	gs_records_settle(s);
	gs_adopting_go_on(s);
	gs_cfg_gate(s->o, gs_host_gate(s));
	if (gs_launches_forget())
		gs_log(LOG_WARNING, "counts of launches are left from an earlier instance");
	gs_reapply_settings(s);
	r = gs_reapply_policy(s, err);
	if (!r && s->opts.daemon && gs_service_launches_wanted(s) && !s->launches)
		gs_starting_now(s, NULL, NULL, NULL, 0, &why); /* it logs a failure */
	gs_service_launches_update(s);
	return r;
}

static int start(struct gs_service *s, struct gs_error *err)
{
	bool fresh;
	int r;

	r = gs_config_classes(s->config, &s->classes, err);
	if (!r)
		r = s->opts.read_only ? 0 : gs_service_lock(&s->lock_fd, err);
	if (!r && !s->opts.read_only) /* first: opening it may upgrade it */
		r = gs_lock_table(&s->table_fd, err);
	if (!r)
		r = open_table(s, &fresh, err);
	if (!r && !s->opts.read_only)
		r = gs_lock_table(&s->table_fd, err);
	if (!r)
		r = read_machine(s, fresh, err);
	if (!r)
		r = publish_classes(s, err);
	if (r)
		return r;
	gs_saved_load(s);
	gs_past_learn(s);
	r = repair(s, err);
	if (r)
		return r;
	if (gs_sweep(s->o, NULL, NULL, NULL) < 0)
		gs_log(LOG_DEBUG, "the first sweep failed");
	if (s->config->adopt && (fresh || s->opts.daemon))
		gs_adopting_begin(s);
	return s->opts.read_only ? 0 : start_acting(s, err);
}

int gs_service_new(const struct gs_config *config, const struct gs_service_opts *opts,
		   struct gs_service **ret, struct gs_error *err)
{
	struct gs_service *s;
	int r;

	if (opts->size != sizeof(*opts))
		return gs_fail(err, -EINVAL, "gs_service_opts of another version");
	s = calloc(1, sizeof(*s));
	if (!s)
		return gs_fail(err, -ENOMEM, "out of memory");
	s->config = config;
	s->opts = *opts;
	s->lock_fd = s->table_fd = -1;
	gs_service_observe(s);
	r = start(s, err);
	if (r) {
		gs_service_free(s);
		return gs_fail(err, r, "%s", strerror(-r));
	}
	*ret = s;
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* A dry run's manual settings were wishes without effect: the next instance must not find them. */
static void forget_dry_run(struct gs_service *s)
{
	struct gpusched_tsg *recs;
	size_t n;

	if (!s->e || gs_table_all(s->o, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (recs[i].manual.valid)
			gs_engine_clear_manual(s->e, &recs[i].key, GPUSCHED_ALL_SETTINGS, 0);
	free(recs);
}

static void restore_at_end(struct gs_service *s)
{
	struct gs_restoring *t;
	struct gs_error err = { 0 };

	if (gs_restoring_begin(s, &t, &err)) {
		gs_log(LOG_ERR, "%s", err.text);
		return;
	}
	gs_errand_wait(&t->errand);
	if (t->code)
		gs_log(LOG_ERR, "restore: %s", t->err.text);
	if (t->done.changed)
		gs_log(LOG_INFO, "%u TSGs put back, %u gone, %u failed", t->done.restored,
		       t->done.gone, t->done.failed);
	gs_errand_unref(&t->errand);
}

static void end_acting(struct gs_service *s)
{
	gs_starting_call_off(s, "gpusched ended");
	gs_service_policy_stop(s, GS_POLICY_EXIT_STOPPED, "gpusched ended");
	gs_starting_cancel(s); /* it would put counting in place again */
	gs_service_launches_end(s);
	if (s->opts.dry_run)
		forget_dry_run(s);
	gs_loop_settle(s, SETTLE_MS);
	gs_agents_end(s);
	gs_questions_end(s);
	gs_ledger_end(s);
	gs_trace_end(s);
	gs_oddities_end(s);
	gs_sight_end(s);
	s->events = sd_event_source_disable_unref(s->events);
	s->results = sd_event_source_disable_unref(s->results);
	s->due = sd_event_source_disable_unref(s->due);
	gs_engine_free(s->e);
	s->e = NULL;
	if (s->opts.daemon && !s->opts.dry_run && s->o && s->event)
		restore_at_end(s);
	gs_module_end();
}

void gs_service_free(struct gs_service *s)
{
	if (!s)
		return;
	if (s->restoring)
		gs_errand_wait(&s->restoring->errand);
	gs_saved_end(s);
	end_acting(s);
	gs_adopting_end(s);
	gs_aliases_end(s);
	gs_hardware_end(s);
	gs_sweeping_end(s);
	gs_starting_end(
		s); /* it is in the compiler or the verifier: what acted is put back by now */
	gs_watch_free_all(s);
	gs_pools_free(s);
	gs_observers_free(&s->observers);
	if (s->o && s->opts.daemon && !s->opts.dry_run && s->event)
		gs_cfg_heartbeat(s->o, 0);
	s->guardian_ended = sd_event_source_disable_unref(s->guardian_ended);
	gs_guardian_end(s->guardian);
	gs_ends_free(s);
	gs_looking_free(s);
	gs_metrics_free(s);
	gs_loop_free(s);
	if (s->self_added)
		gs_self_del(s->o, getpid());
	gs_table_close(s->o);
	gs_saved_free(&s->saved);
	gs_classes_free(s->classes);
	free(s->gpus);
	free(s->last_exit.dump);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	if (s->table_fd >= 0)
		close(s->table_fd);
	free(s);
}
