// SPDX-License-Identifier: MIT
/* service.c - starts and ends an instance: opens, repairs, adopts, classifies, runs, restores */
#include "service/service.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "process/reader.h"
#include "gate/gate.h"
#include "rm/module.h"
#include "intake/adoption.h"
#include "control/agents.h"
#include "control/counted_requests.h"
#include "control/discarding.h"
#include "control/budgets.h"
#include "control/harm.h"
#include "hub/task.h"
#include "intake/intake.h"
#include "intake/hardware.h"
#include "intake/pods.h"
#include "service/instance.h"
#include "control/launches.h"
#include "intake/rescan.h"
#include "control/lock.h"
#include "hub/loop.h"
#include "requests/alerting.h"
#include "requests/metrics.h"
#include "control/policy.h"
#include "control/restoring.h"
#include "figures/gpu_time.h"
#include "figures/ledger.h"
#include "figures/memory.h"
#include "means/means.h"
#include "park/parking.h"
#include "control/starting.h"
#include "intake/reap.h"
#include "control/takeover.h"
#include "requests/trace.h"
#include "requests/question.h"
#include "requests/verbs.h"
#include "requests/watch.h"
#include "table/cfg.h"
#include "table/events.h"
#include "table/facts.h"
#include "table/past.h"
#include "taps/taps.h"
#include "engine/guardian.h"
#include "engine/lock.h"
#include "engine/restore.h"
#include "requests/target.h"

#define SETTLE_MS 2000 /* longest wait at the end for calls under way */
/* a guardian that dies sooner than this is not replaced: the next one would die as well */
#define GUARDIAN_LIVES_NS NS_PER_S

int gs_service_check_config(const struct gs_config *config, struct gs_error *err)
{
	struct gs_declared made = { NULL };
	int r = gs_config_declare(config, GS_NAMING_STRICT, &made, err);

	gs_config_declared_done(&made);
	return r;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* Checks that this process is in the pid namespace in which the taps record pids. */
static int check_pid_namespace(struct gs_service *s, struct gs_error *err)
{
	struct gpusched_cfg cfg;
	struct stat st;
	int r;

	r = gs_table_cfg(s->hub->table, &cfg);
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
	r = s->hub->opts.read_only ? gs_taps_on(err) : gs_takeover_taps_ready(err);
	if (!r)
		r = gs_table_open(&s->hub->table, err);
	if (!r)
		r = check_pid_namespace(s, err);
	if (r)
		return gs_fail(err, r, "the taps cannot be turned on: %s", strerror(-r));
	s->self_added = !gs_cfg_self_add(s->hub->table, getpid());
	return 0;
}

static void only_watch(struct gs_hub *hub)
{
	hub->watch_only = true;
	hub->opts.dry_run = true;
	gs_log(LOG_WARNING,
	       "driver %s is of no known branch: gpusched only watches, and does nothing to any "
	       "TSG (UnknownDriver=)",
	       hub->driver);
}

/*
 * Reads the driver's version and the GPUs. If that fails, turns the taps off again if this instance
 * turned them on (@fresh).
 */
static int read_machine(struct gs_service *s, bool fresh, struct gs_error *err)
{
	int r;

	r = gs_rm_driver(&s->hub->branch, s->hub->driver, sizeof(s->hub->driver), err);
	if (!r)
		r = gs_gpus_read(&s->hub->gpus, &s->hub->ngpus, err);
	if (r) {
		if (fresh)
			gs_taps_off(NULL);
		return gs_fail(err, r, "the NVIDIA driver does not answer: %s", strerror(-r));
	}
	if (!gs_rm_driver_branch_known(s->hub->branch) && !s->hub->config->unknown_driver)
		only_watch(s->hub);
	if (!s->hub->opts.read_only)
		gs_cfg_gpus(s->hub->table, s->hub->gpus, s->hub->ngpus);
	return 0;
}

static int publish_classes(struct gs_service *s, struct gs_error *err)
{
	int r = s->hub->opts.read_only ? 0 : gs_classes_publish(s->hub->classes, s->hub->table);

	return r ? gs_fail(err, r, "the classes cannot be published: %s", strerror(-r)) : 0;
}

/*
 * Restores the settings that a dead daemon left changed. We hold the lock, so a heartbeat in the
 * table comes from a daemon that died: an orderly end clears it. Commands write no heartbeat, since
 * their manual settings are meant to stay.
 */
static int repair(struct gs_service *s, struct gs_error *err)
{
	struct gpusched_cfg cfg;
	struct gs_restored done = { 0 };
	struct gs_error why = { 0 };
	int r;

	if (s->hub->opts.read_only || s->hub->opts.dry_run)
		return 0;
	r = gs_table_cfg(s->hub->table, &cfg);
	if (r || !cfg.heartbeat_ns)
		return 0;
	/* first, so that the dead daemon's gate stops no more processes during the restore */
	gs_cfg_policy_active(s->hub->table, false);
	r = gs_restore(s->hub->table, s->hub->branch, &done, &why);
	gs_cfg_heartbeat(s->hub->table, 0);
	if (r && !done.failed)
		return gs_fail(err, r, "%s", why.text);
	s->control->past.restored += done.restored;
	s->control->past.gone += done.gone;
	s->control->past.failed += done.failed;
	s->control->past.continued += done.continued;
	if (done.changed)
		gs_log(LOG_WARNING, "an earlier daemon died: %u TSGs put back, %u gone, %u failed",
		       done.restored, done.gone, done.failed);
	if (done.continued)
		gs_log(LOG_WARNING,
		       "an earlier daemon died: %u processes that its gate had stopped go on",
		       done.continued);
	return 0; /* a user who can make a restore fail must not make our start fail */
}

static int start_guardian(struct gs_service *s, struct gs_error *err);

/* Replaces a guardian that has died. */
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

	if (!s->hub->opts.daemon || s->hub->opts.dry_run)
		return 0;
	r = gs_guardian_start(s->hub->table, s->hub->branch, &s->guardian, err);
	if (!r)
		r = sd_event_add_io(s->hub->event, &s->guardian_ended, gs_guardian_fd(s->guardian),
				    EPOLLIN, on_guardian_ended, s);
	return r < 0 ? gs_fail(err, r, "the guardian cannot start: %s", strerror(-r)) : 0;
}

static void dispatch_engine(struct gs_service *s)
{
	gs_engine_dispatch(s->hub->engine);
	gs_completions_happened(&s->hub->waits, GS_ON_ENGINE);
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
	struct gs_service *s = user;

	gs_gpu_time_complete(s->figures, rec);
	if ((rec->task.want.valid & GPUSCHED_RUNNABLE) && !rec->task.want.runnable &&
	    gs_past_of(s->hub->table, (pid_t)rec->task.pid))
		rec->task.known |= GPUSCHED_KNOWN_PAST_SHARE;
}

static void on_call(const struct gs_engine_call *call, void *user)
{
	struct gs_service *s = user;

	gs_observers_called(&s->hub->observers, call);
}

static void on_wish(const struct gpusched_tsg *rec, void *user)
{
	struct gs_service *s = user;

	gs_observers_tell(&s->hub->observers, rec, GPUSCHED_EV_WANT, 0);
}

static void on_overruled(const struct gpusched_tsg *rec, uint32_t why, void *user)
{
	struct gs_service *s = user;

	gs_policy_log_overruled(s->control, rec, why);
	gs_observers_tell(&s->hub->observers, rec, GPUSCHED_EV_OVERRULED, why);
}

static void on_park(const struct gpusched_tsg *rec, uint32_t min, void *user)
{
	struct gs_service *s = user;

	gs_park_wish(s->parking, rec, min);
}

static void on_denied(const struct gpusched_tsg *rec, void *user)
{
	struct gs_service *s = user;

	gs_reap_denied(s->intake, rec);
}

static int start_engine(struct gs_service *s, struct gs_error *err)
{
	const struct gs_engine_opts opts = {
		.size = sizeof(opts),
		.dry_run = s->hub->opts.dry_run,
		.branch = s->hub->branch,
		.gpus = s->hub->gpus,
		.ngpus = s->hub->ngpus,
		.switch_cost_us = s->hub->config->switch_cost_us,
		.hold_limit_ms = s->hub->config->hold_limit_ms,
		.complete = complete,
		.on_call = on_call,
		.on_wish = on_wish,
		.on_overruled = on_overruled,
		.on_park = s->hub->opts.daemon ? on_park : NULL,
		.on_denied = on_denied,
		.user = s,
	};
	struct gpusched_cfg cfg = { 0 };
	int r;

	r = gs_engine_new(s->hub->table, &opts, &s->hub->engine, err);
	if (!r)
		r = gs_table_cfg(s->hub->table, &cfg);
	s->hub->epoch = cfg.epoch;
	if (!r)
		r = sd_event_add_io(s->hub->event, &s->hub->results, gs_engine_fd(s->hub->engine),
				    EPOLLIN, on_results, s);
	if (r >= 0) /* UINT64_MAX: not set; the loop sets the timer later */
		r = sd_event_add_time(s->hub->event, &s->hub->due, CLOCK_MONOTONIC, UINT64_MAX, 1,
				      on_engine_due, s);
	return r < 0 ? gs_fail(err, r, "the reconciler cannot start: %s", strerror(-r)) : 0;
}

static uint32_t server_of(uint32_t pid, void *user)
{
	const struct gs_pool *p = gs_pool_of_process(user, (pid_t)pid);

	return p ? (uint32_t)p->server : 0;
}

static bool launches_of(void *user, const struct gpusched_tsg *rec, struct gs_told *ret)
{
	return gs_agents_graphs(user, rec, &ret->ns, &ret->launches, &ret->graphs);
}

/* A daemon asks for names in a thread, a little later. */
static int declare(struct gs_service *s, struct gs_error *err)
{
	struct gs_declared made;
	int r = gs_config_declare(
		s->hub->config, s->hub->opts.daemon ? GS_NAMING_LATER : GS_NAMING_KEEP, &made, err);

	if (r)
		return r;
	s->hub->classes = made.classes;
	s->budgets = made.budgets;
	s->hub->waiting = made.waiting;
	s->hub->waiting_budgets = made.waiting_budgets;
	return 0;
}

static int start_acting(struct gs_service *s, struct gs_error *err)
{
	struct gs_error why = { 0 };
	int r;

	r = gs_loop_new(s->hub, err);
	if (!r && gs_service_launches_start(s->control) < 0)
		r = gs_fail(err, -ENOMEM, "the event loop: out of memory");
	if (!r) /* before any thread starts: the guardian is a fork of this process */
		r = start_guardian(s, err);
	if (!r)
		gs_names_start(s);
	if (!r)
		gs_links_start(s);
	if (!r)
		r = start_engine(s, err);
	if (!r)
		r = gs_intake_start(s->intake, err);
	if (!r && s->hub->opts.daemon) { /* only policies use the map of jobs, and need a daemon */
		r = gs_facts_begin_jobs(s->hub->table);
		if (r)
			gs_fail(err, r, "no map for the TSGs' jobs: %s", strerror(-r));
	}
	if (!r)
		r = gs_figures_start(s->figures, server_of, s->intake, err);
	if (r)
		return r;
	gs_means_start(s->means, launches_of, s->control);
	r = gs_budgets_set(s->control, s->figures, &s->budgets, err);
	s->acts = true;
	if (r)
		return r;
	r = gs_harm_start(s->control, s->figures);
	if (r)
		return gs_fail(err, r, "out of memory");
	gs_target_begin();
	r = gs_alerting_start(s->requests);
	if (r)
		return gs_fail(err, r, "out of memory");
	gs_agents_start(s->control);
	gs_counted_start(s->control);
	gs_rescan_at_once(s->intake);
	gs_adopting_go_on(s->intake);
	gs_cfg_gate(s->hub->table, gs_host_gate(s->control));
	if (gs_launches_forget())
		gs_log(LOG_WARNING, "counts of launches are left from an earlier instance");
	r = gs_parking_start(s->parking, err);
	if (r)
		return r;
	gs_reapply_settings(s->control);
	r = gs_reapply_policy(s->control, err);
	if (!r && s->hub->opts.daemon && gs_service_launches_wanted(s->control) &&
	    !s->hub->launches)
		/* ignores a failure, which gs_starting_now() has logged */
		gs_starting_now(s->control, NULL, NULL, NULL, 0, &why);
	gs_service_launches_update(s->control);
	return r;
}

static int start(struct gs_service *s, struct gs_error *err)
{
	bool fresh;
	int r;

	r = declare(s, err);
	if (!r)
		r = s->hub->opts.read_only ? 0 : gs_service_lock(&s->lock_fd, err);
	if (!r && !s->hub->opts.read_only) /* before open_table(), which may upgrade the table */
		r = gs_lock_table(&s->table_fd, err);
	if (!r)
		r = open_table(s, &fresh, err);
	if (!r && !s->hub->opts.read_only)
		r = gs_lock_table(&s->table_fd, err);
	if (!r)
		r = read_machine(s, fresh, err);
	if (!r)
		r = publish_classes(s, err);
	if (r)
		return r;
	gs_saved_load(s->control);
	gs_reapply_learn(s->control);
	r = repair(s, err);
	if (r)
		return r;
	if (gs_sweep(s->hub->table, NULL, NULL, NULL) < 0)
		gs_log(LOG_DEBUG, "the first sweep failed");
	if (s->hub->config->adopt && !s->hub->watch_only && (fresh || s->hub->opts.daemon))
		gs_adopting_begin(s->intake);
	if (!s->hub->opts.read_only)
		return start_acting(s, err);
	gs_pods_begin(s->intake);
	return gs_parking_start(s->parking, err);
}

static int make_rooms(struct gs_service *s, const struct gs_config *config,
		      const struct gs_service_opts *opts)
{
	int r = gs_hub_new(
		config,
		&(struct gs_hub_opts){ opts->dry_run, opts->daemon, opts->read_only, opts->event },
		&s->hub);

	if (!r)
		r = gs_intake_new(s->hub, &s->intake);
	if (!r)
		r = gs_figures_new(s->hub, &s->figures);
	if (!r)
		r = gs_means_new(s->hub, s->figures, &s->means);
	if (!r)
		r = gs_parking_new(s->hub, s->figures, &s->parking);
	if (!r)
		r = gs_control_new(s->hub, &s->control);
	if (!r)
		r = gs_requests_new(s->hub, s->intake, s->figures, s->control, &s->requests);
	if (!r)
		s->requests->parking = s->control->parking = s->parking;
	if (!r)
		s->requests->means = s->means;
	if (!r)
		gs_service_observe(s);
	return r;
}

/* Frees the rooms. Call this when none of their threads and requests runs any more. */
static void free_rooms(struct gs_service *s)
{
	if (s->hub)
		gs_processes_free(s->hub);
	gs_requests_free(s->requests);
	gs_control_free(s->control);
	gs_parking_free(s->parking);
	gs_means_free(s->means);
	gs_figures_free(s->figures);
	gs_intake_free(s->intake);
	gs_hub_free(s->hub);
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
	s->lock_fd = s->table_fd = -1;
	r = make_rooms(s, config, opts);
	if (r) {
		free_rooms(s);
		free(s);
		return gs_fail(err, r, "out of memory");
	}
	r = start(s, err);
	if (r) {
		gs_service_free(s);
		return gs_fail(err, r, "%s", strerror(-r));
	}
	*ret = s;
	return 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* Clears the manual settings of a dry run: the next instance would otherwise apply them. */
static void forget_dry_run(struct gs_service *s)
{
	struct gpusched_tsg *recs;
	size_t n;

	if (!s->hub->engine || gs_table_all(s->hub->table, &recs, &n))
		return;
	for (size_t i = 0; i < n; i++)
		if (recs[i].manual.valid)
			gs_engine_clear_manual(s->hub->engine, &recs[i].key, GPUSCHED_ALL_SETTINGS,
					       0);
	free(recs);
}

static void restore_at_end(struct gs_service *s)
{
	struct gs_restoring *t;
	struct gs_error err = { 0 };

	if (gs_restoring_begin(s->control, &t, &err)) {
		gs_log(LOG_ERR, "%s", err.text);
		return;
	}
	gs_task_wait(&t->task);
	if (t->code)
		gs_log(LOG_ERR, "restore: %s", t->err.text);
	if (t->done.changed)
		gs_log(LOG_INFO, "%u TSGs put back, %u gone, %u failed", t->done.restored,
		       t->done.gone, t->done.failed);
	gs_task_unref(&t->task);
}

static void end_acting(struct gs_service *s)
{
	gs_starting_call_off(s->control, "gpusched ended");
	gs_service_policy_stop(s->control, GS_POLICY_EXIT_STOPPED, "gpusched ended");
	gs_starting_cancel(s->control); /* else it could turn the counting of launches on again */
	gs_service_launches_end(s->control);
	if (s->hub->opts.dry_run)
		forget_dry_run(s);
	gs_loop_settle(s->hub, SETTLE_MS);
	gs_parking_end(s->parking);
	gs_counted_end(s->control);
	gs_agents_end(s->control);
	gs_verb_history_end(s->requests);
	gs_alerting_end(s->requests);
	gs_harm_end(s->control);
	gs_budgets_end(s->control);
	gs_memory_end(s->figures);
	gs_means_end(s->means);
	gs_ledger_end(s->figures);
	gs_trace_end(s->requests);
	gs_gpu_time_end(s->figures);
	gs_intake_quiet(s->intake);
	s->hub->results = sd_event_source_disable_unref(s->hub->results);
	s->hub->due = sd_event_source_disable_unref(s->hub->due);
	gs_engine_free(s->hub->engine);
	s->hub->engine = NULL;
	if (s->hub->opts.daemon && !s->hub->opts.dry_run && s->hub->table && s->hub->event)
		restore_at_end(s);
	gs_module_end();
}

void gs_service_free(struct gs_service *s)
{
	if (!s)
		return;
	gs_reload_end(s);
	gs_names_end(s);
	gs_links_end(s);
	if (s->control->restoring)
		gs_task_wait(&s->control->restoring->task);
	gs_saved_end(s->control);
	end_acting(s);
	gs_adopting_end(s->intake);
	gs_pods_finish(s->intake);
	gs_aliases_end(s->intake);
	gs_hardware_end(s->intake);
	gs_reap_end(s->intake);
	/*
	 * waits for a policy that is still in the compiler or the verifier; the running policy was
	 * stopped in end_acting()
	 */
	gs_starting_end(s->control);
	gs_discarding_end(s->control);
	gs_watch_free_all(s->requests);
	if (s->hub->table && s->hub->opts.daemon && !s->hub->opts.dry_run && s->hub->event) {
		gs_cfg_heartbeat(s->hub->table, 0);
		/* lets processes go on that the gate stopped during the restore */
		gs_gate_release(s->hub->table, true, NULL);
	}
	s->guardian_ended = sd_event_source_disable_unref(s->guardian_ended);
	gs_guardian_end(s->guardian);
	if (s->self_added)
		gs_cfg_self_del(s->hub->table, getpid());
	free_rooms(s);
	gs_budget_rules_done(&s->budgets);
	if (s->lock_fd >= 0)
		close(s->lock_fd);
	if (s->table_fd >= 0)
		close(s->table_fd);
	free(s);
}

int gs_service_run(struct gs_service *s, int ms)
{
	return gs_loop_run(s->hub, ms);
}
