// SPDX-License-Identifier: MIT
/* At a daemon's start, applies settings again that people made while the last daemon ran. */
#include <inttypes.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "process/process.h"
#include "classify/words.h"
#include "control/control.h"
#include "control/starting.h"
#include "table/cfg.h"
#include "engine/restore.h"

void gs_reapply_learn(struct gs_control *ctl)
{
	struct gs_past *past = &ctl->past;
	struct gs_restored done = { 0 };
	struct gpusched_cfg cfg;
	uint64_t died_ns;

	if (!ctl->hub->opts.daemon || ctl->hub->opts.dry_run)
		return;
	past->crashed = ctl->saved.running;
	if (!gs_table_cfg(ctl->hub->table, &cfg))
		past->died_ns = cfg.heartbeat_ns;
	if (!gs_report_take(&done, &died_ns)) {
		past->died_ns = died_ns;
		past->restored += done.restored;
		past->gone += done.gone;
		past->failed += done.failed;
		past->continued += done.continued;
		gs_log(LOG_WARNING,
		       "the daemon before died: %u TSGs were put back, %u gone, %u failed, %u "
		       "stopped processes went on",
		       done.restored, done.gone, done.failed, done.continued);
	}
	if (!past->died_ns)
		past->died_ns = gs_now_ns();
	past->twice = past->crashed && gs_reapply_crashed_twice(&ctl->saved, past->died_ns);
	if (past->crashed)
		ctl->saved.crashed_ns = past->died_ns;
	if (past->twice)
		gs_words_no_slices(ctl->hub->classes, "two crashes");
}

bool gs_reapply_crashed_twice(const struct gs_saved *saved, uint64_t died_ns)
{
	return saved->crashed_ns && died_ns >= saved->crashed_ns &&
	       died_ns - saved->crashed_ns < GS_SAVED_TWICE_NS;
}

/* ---- settings -------------------------------------------------------------------------------- */

static bool same_tsg(const struct gs_saved_tsg *t, const struct gpusched_tsg *rec)
{
	return rec->key.client == t->key.client && rec->key.handle == t->key.handle &&
	       rec->task.pid == t->pid && gs_process_same(rec->owner_start_ns, t->start_ns) &&
	       !(rec->flags & GPUSCHED_TSG_GONE);
}

/*
 * Applies saved settings again. Settings that the table has were made later, without a daemon, and
 * take precedence.
 */
static int reapply(struct gs_control *ctl, struct gs_saved_tsg *t, const struct gpusched_tsg *rec,
		   struct gs_error *err)
{
	struct gpusched_settings set = t->set, users = t->set;
	uint64_t now = gs_now_ns(), for_ns = 0;
	int r;

	set.valid &= ~rec->manual.valid;
	if (t->until_ns > now)
		for_ns = t->until_ns - now;
	else if (t->until_ns)
		set.valid &= ~GPUSCHED_RUNNABLE;
	t->key = rec->key;
	t->pending = false;
	users.valid = set.valid & t->users;
	set.valid &= ~t->users;
	r = set.valid ? gs_engine_set_manual(ctl->hub->engine, &rec->key, &set, for_ns, 0, err) : 0;
	if (!r && users.valid)
		r = gs_engine_set_manual(ctl->hub->engine, &rec->key, &users, for_ns, t->uid, err);
	t->reapplied = !r && (set.valid | users.valid);
	ctl->past.reapplied += t->reapplied;
	ctl->past.refused += r != 0;
	return r;
}

static void forget_harm(struct gs_control *ctl)
{
	struct gs_saved *saved = &ctl->saved;

	if (saved->ntsgs || saved->policy.chosen || saved->launches)
		gs_log(LOG_ERR,
		       "the daemon crashed twice within 60 s: what people had set (%zu TSGs%s%s) "
		       "is not in force again",
		       saved->ntsgs, saved->policy.name ? ", policy " : "",
		       saved->policy.name ? saved->policy.name : "");
	gs_saved_forget(ctl);
}

static void log_settings(const struct gs_past *past, const struct gs_error *first)
{
	if (past->reapplied || past->ended || past->refused)
		gs_log(LOG_NOTICE,
		       "settings of before the %s: %u TSGs have them again, %u have ended, %u "
		       "refused%s%s",
		       past->crashed ? "crash" : "restart", past->reapplied, past->ended,
		       past->refused, first->text[0] ? ": " : "", first->text);
}

/* Drops pending settings that fitted no record. */
static void drop_ended(struct gs_control *ctl)
{
	struct gs_saved *saved = &ctl->saved;
	size_t kept = 0;

	for (size_t i = 0; i < saved->ntsgs; i++)
		if (!saved->tsgs[i].pending || saved->tsgs[i].away)
			saved->tsgs[kept++] = saved->tsgs[i];
	ctl->past.ended = (unsigned int)(saved->ntsgs - kept);
	saved->ntsgs = kept;
}

void gs_reapply_settings(struct gs_control *ctl)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_error first = { 0 };
	size_t n = 0;

	if (!ctl->hub->opts.daemon || ctl->hub->opts.dry_run)
		return;
	if (ctl->past.twice)
		forget_harm(ctl);
	if (gs_table_all(ctl->hub->table, &recs, &n))
		n = 0;
	for (size_t i = 0; i < n; i++) {
		struct gs_saved_tsg *t = gs_saved_find(&ctl->saved, recs[i].task.id);

		if (t && t->pending && same_tsg(t, &recs[i]))
			reapply(ctl, t, &recs[i], &first);
		else if (!t && recs[i].manual.valid) /* a person set them while no daemon ran */
			gs_saved_note(ctl, &recs[i].key, NULL, GPUSCHED_ALL_SETTINGS);
	}
	drop_ended(ctl);
	log_settings(&ctl->past, &first);
	ctl->saved.running = ctl->saved.dirty = true;
	gs_saved_write(ctl, true);
}

/* ---- the policy ------------------------------------------------------------------------------ */

static bool still_chosen(const struct gs_control *ctl)
{
	const struct gs_saved_policy *p = &ctl->saved.policy;
	CLEANUP_FREE char *now = gs_saved_configured(ctl);

	return p->chosen && now && p->configured && !strcmp(now, p->configured);
}

/* Only logs a failure: it is no mistake in the configuration, since the policy ran before. */
static void start_chosen(struct gs_control *ctl)
{
	const struct gs_saved_policy *p = &ctl->saved.policy;
	struct gs_error err = { 0 };

	if (!p->name) {
		if (ctl->hub->config->policy[0])
			gs_log(LOG_NOTICE, "policy %s does not start: a person had stopped it",
			       ctl->hub->config->policy);
		return;
	}
	if (gs_starting_now(ctl, p->name, p->host, (const char *const *)p->options, p->noptions,
			    &err))
		gs_log(LOG_ERR, "policy %s does not run again: %s", p->name, err.text);
	else
		gs_log(LOG_NOTICE, "policy %s runs again, as before the %s",
		       gs_policy_running(ctl->hub->policy)->name,
		       ctl->past.crashed ? "crash" : "restart");
}

static void start_permanent(struct gs_control *ctl)
{
	struct gs_saved_policy p = { 0 };
	struct gs_error err = { 0 };
	int r = gs_permanent_load(&p, &err);

	if (r == -ENOENT)
		return;
	if (!r)
		r = gs_starting_now(ctl, p.name, p.host, (const char *const *)p.options, p.noptions,
				    &err);
	if (r)
		gs_log(LOG_ERR,
		       "the permanent policy does not start: %s; 'gpusched policy start NAME "
		       "--permanent' replaces it",
		       err.text);
	gs_saved_policy_done(&p);
}

int gs_reapply_policy(struct gs_control *ctl, struct gs_error *err)
{
	const struct gs_config *c = ctl->hub->config;

	if (!ctl->hub->opts.daemon)
		return 0;
	if (!ctl->hub->opts.dry_run) {
		ctl->launches_asked = ctl->saved.launches;
		if (still_chosen(ctl)) {
			start_chosen(ctl);
			return 0;
		}
	}
	if (!c->policy[0]) {
		start_permanent(ctl);
		return 0;
	}
	ctl->wanted.by_config = true;
	return gs_starting_now(ctl, c->policy, c->policy_host,
			       (const char *const *)c->policy_options.text, c->policy_options.n,
			       err);
}
