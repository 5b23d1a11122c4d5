// SPDX-License-Identifier: MIT
#include "figures/verdict.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/grow.h"
#include "basic/json_sheet.h"
#include "config/config.h"
#include "rm/branches.h"

/*
 * If the slice cut at least this part of a program's turns, its waits are known without launches.
 */
#define MOSTLY_PCT 90

#define REMEDY_LEN sizeof(((struct gs_finding *)NULL)->remedy)

#define X(sym, name, level, text) { name, GS_LEVEL_##level },
static const struct {
	const char *name;
	enum gs_level level;
} kinds[] = { GS_FINDINGS(X) };
#undef X

const char *gs_verdict_level_name(enum gs_level level)
{
	static const char *const names[GS_LEVELS] = { "wrong", "note", "unknown" };

	return level < GS_LEVELS ? names[level] : "";
}

const char *gs_verdict_name(enum gs_finding_kind kind)
{
	return kind < GS_FINDING_MAX ? kinds[kind].name : "";
}

enum gs_level gs_verdict_level(enum gs_finding_kind kind)
{
	return kinds[kind].level;
}

/* ---- findings -------------------------------------------------------------------------------- */

void gs_verdict_done(struct gs_findings *f)
{
	free(f->all);
	*f = (struct gs_findings){ 0 };
}

static int compare(const void *a, const void *b)
{
	const struct gs_finding *x = a, *y = b;

	if (gs_verdict_level(x->kind) != gs_verdict_level(y->kind))
		return gs_verdict_level(x->kind) < gs_verdict_level(y->kind) ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	return (x->tsg > y->tsg) - (x->tsg < y->tsg);
}

void gs_verdict_sort(struct gs_findings *f)
{
	if (f->n)
		qsort(f->all, f->n, sizeof(*f->all), compare);
}

static struct gs_finding *add(struct gs_findings *ret, enum gs_finding_kind kind,
			      const char *remedy, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Returns NULL if out of memory. */
static struct gs_finding *add(struct gs_findings *ret, enum gs_finding_kind kind,
			      const char *remedy, const char *format, ...)
{
	struct gs_finding *f;
	va_list ap;

	if (GS_GROW(ret->all, ret->room, ret->n + 1))
		return NULL;
	f = &ret->all[ret->n++];
	*f = (struct gs_finding){ .kind = kind, .amount_pct = NAN, .gpu = -1 };
	snprintf(f->remedy, sizeof(f->remedy), "%s", remedy);
	va_start(ap, format);
	vsnprintf(f->text, sizeof(f->text), format, ap);
	va_end(ap);
	return f;
}

static const char *say(char ret[REMEDY_LEN], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static const char *say(char ret[REMEDY_LEN], const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(ret, REMEDY_LEN, format, ap);
	va_end(ap);
	return ret;
}

/* The remedy as text; it lasts as long as the block. */
#define SAY(...) say((char[REMEDY_LEN]){ 0 }, __VA_ARGS__)

/* Users act on their own programs, root on its own and on all others. */
static const char *sudo(uid_t owner)
{
	return owner ? "" : "sudo ";
}

#define START_AUTO "start a policy: 'sudo gpusched policy start auto'"

json_t *gs_verdict_json(const struct gs_finding *f)
{
	json_t *o = json_pack("{s:s, s:s, s:o, s:o}", "finding", gs_verdict_name(f->kind), "level",
			      gs_verdict_level_name(gs_verdict_level(f->kind)), "text",
			      gs_json_text(f->text), "do", gs_json_text(f->remedy));

	gs_rates_put_tenths(o, "amount_pct", f->amount_pct);
	json_object_set_new(o, "since_ns",
			    f->since_ns ? json_integer((json_int_t)f->since_ns) : json_null());
	json_object_set_new(o, "gpu", f->gpu >= 0 ? json_integer(f->gpu) : json_null());
	json_object_set_new(o, "pid", f->tsg ? json_integer(f->pid) : json_null());
	json_object_set_new(o, "tsg", f->tsg ? json_integer((json_int_t)f->tsg) : json_null());
	return o;
}

/* ---- limits ---------------------------------------------------------------------------------- */

#define LOST_PCT 10.0 /* a GPU with more than this part of its time in switches loses too much */
/* a program that waits and has less than this part of the GPU is starved */
#define STARVED_PCT 1.0
/* A service is harmed if it waits this many times as much as in calm minutes, plus these points. */
#define CALM_FACTOR 2.0
#define CALM_MARGIN_PCT 10.0
/*
 * If calm minutes are unknown: parts of the time, and of wait and GPU time together. By the first, a
 * program without a class that waits for others without one is a note.
 */
#define WAITED_PCT 10.0
#define WAIT_SHARE_PCT 60.0
/* A service that misses more of its requests because of others has a finding. */
#define MISSED_PCT 5.0

struct gs_limits gs_verdict_limits(const struct gs_config *config)
{
	return (struct gs_limits){
		.idle_ns = config->idle_limit_ms * NS_PER_MS,
		.idle_bytes = (uint64_t)config->idle_memory_mib << 20,
	};
}

bool gs_verdict_is_harmed(double waited, double wait_share, double calm)
{
	if (isnan(wait_share))
		return false;
	if (!isnan(calm))
		return wait_share > CALM_FACTOR * calm + CALM_MARGIN_PCT;
	return waited > WAITED_PCT && wait_share > WAIT_SHARE_PCT;
}

bool gs_verdict_is_lossy(double lost)
{
	return lost > LOST_PCT;
}

bool gs_verdict_is_hoarding(const struct gs_limits *l, uint64_t bytes, uint64_t idle_since_ns,
			    uint64_t now_ns)
{
	return idle_since_ns && bytes > l->idle_bytes && now_ns > idle_since_ns &&
	       now_ns - idle_since_ns >= l->idle_ns;
}

/* ---- the instance ---------------------------------------------------------------------------- */

static void judge_troubles(const struct gs_trouble_counts *rose, struct gs_findings *ret)
{
	const struct {
		uint64_t rose;
		enum gs_finding_kind kind;
		const char *what, *remedy;
	} troubles[] = {
		{ rose->stuck, GS_FINDING_STUCK, "calls to the driver do not return",
		  "see how often: 'gpusched stats'" },
		{ rose->gave_up, GS_FINDING_GAVE_UP, "changes were given up after calls failed",
		  "see which programs lack them: 'gpusched list'" },
		{ rose->log_lost, GS_FINDING_LOG_LOST, "records of the GPU's log were lost",
		  "nothing: figures around them are unknown, and the next ones known again" },
		{ rose->table_full, GS_FINDING_TABLE_FULL, "the table of programs is full",
		  "see who fills it: 'gpusched list --all'" },
	};

	for (size_t i = 0; i < GS_COUNT(troubles); i++)
		if (troubles[i].rose)
			add(ret, troubles[i].kind, troubles[i].remedy, "%s", troubles[i].what);
}

static void judge_death(const struct gs_state_facts *s, struct gs_findings *ret)
{
	struct gs_finding *f;

	if (!s->died)
		return;
	f = add(ret, GS_FINDING_POLICY_DIED,
		s->died_start
			? SAY("start it again: 'sudo gpusched policy start %.200s'", s->died_start)
			: "see its words by 'gpusched policy get', and start it from its "
			  "file again",
		"policy %s ended by itself: %s", s->died, s->died_why);
	if (f)
		f->since_ns = s->died_ns;
}

static void judge_difference(const struct gs_state_facts *s, struct gs_findings *ret)
{
	if (s->differs)
		add(ret, GS_FINDING_POLICY_DIFFERS,
		    "mend what the log of gpuschedd says, then 'sudo systemctl reload gpuschedd'",
		    "the configuration names policy %s, and %s runs",
		    *s->differs ? s->differs : "none", s->policy ? s->policy : "none");
}

static void judge_lines(const struct gs_state_facts *s, struct gs_findings *ret)
{
	char waiting[160] = "";

	if (!s->left_out)
		return;
	if (s->waiting)
		snprintf(waiting, sizeof(waiting), "; %zu of them until a user or group is known%s",
			 s->waiting,
			 s->waiting_budgets ? ", and a budget counts nothing so long" : "");
	add(ret, GS_FINDING_LINES_LEFT,
	    s->waiting < s->left_out
		    ? "mend what 'gpusched doctor' says, then reload gpuschedd"
		    : "'gpusched doctor' has the name, which is asked for again each minute",
	    "%zu line%s of the configuration %s left out: %s%s%s", s->left_out,
	    s->left_out > 1 ? "s" : "", s->left_out > 1 ? "are" : "is", s->left_out_at,
	    s->left_out > 1 ? " and others" : "", waiting);
}

static void judge_driver(const struct gs_state_facts *s, struct gs_findings *ret)
{
	add(ret, GS_FINDING_DRIVER_UNKNOWN,
	    SAY("use a driver from %d to %d, or try this one as 'gpusched doctor' says",
		NV_BRANCH_FIRST, NV_BRANCH_LAST),
	    "driver branch %u is not known: gpusched only watches, and changes no program",
	    s->unknown_branch);
}

void gs_verdict_state(const struct gs_state_facts *s, struct gs_findings *ret)
{
	if (!s->daemon)
		add(ret, GS_FINDING_NO_DAEMON, SAY("start it: '%s'", s->start_daemon),
		    "no daemon runs: nobody watches the GPUs");
	judge_death(s, ret);
	judge_difference(s, ret);
	judge_lines(s, ret);
	judge_troubles(&s->rose, ret);
	if (s->root_passed)
		add(ret, GS_FINDING_ROOT_PASSED,
		    "use cgroup= or namespace= in the rule, then 'sudo systemctl reload gpuschedd'",
		    "%u program%s no class, since a rule is passed over: a container's root chose "
		    "it",
		    s->root_passed, s->root_passed > 1 ? "s have" : " has");
	if (s->pods_unwatched)
		add(ret, GS_FINDING_PODS_UNWATCHED,
		    "raise sysctl fs.inotify.max_user_instances and max_user_watches, then 'sudo "
		    "systemctl reload gpuschedd'",
		    "%u folder%s that name%s pods cannot be watched: names may come late",
		    s->pods_unwatched, s->pods_unwatched > 1 ? "s" : "",
		    s->pods_unwatched > 1 ? "" : "s");
	if (s->unknown_branch)
		judge_driver(s, ret);
	else if (s->dry_run)
		add(ret, GS_FINDING_DRY_RUN,
		    "set DryRun=no in gpusched.conf, then 'sudo systemctl restart gpuschedd'",
		    "DryRun=yes: nothing is done to any program, whatever is answered or logged");
}

/* The first word of @classes that does not raise a program above others; else the first. */
static const char *other_class(const char *classes)
{
	const char *next = strchr(classes, ' ');

	return !strncmp(classes, "lc ", 3) && next ? next + 1 : classes;
}

void gs_verdict_class(const struct gs_class_facts *c, struct gs_findings *ret)
{
	const char *other;

	if (!c->policy && !strcmp(c->name, "lc")) {
		add(ret, GS_FINDING_CLASS_IDLE, START_AUTO,
		    "class lc has no effect without a policy");
		return;
	}
	if (!strcmp(c->name, "normal")) { /* no policy acts on it; that is its purpose */
		if (c->policy && c->beside_lc)
			add(ret, GS_FINDING_CLASS_IDLE,
			    "if they are to make room: 'sudo gpusched class set class:normal be'",
			    "class normal keeps its own settings beside services");
		return;
	}
	if (!c->ignored)
		return;
	other = other_class(c->acts_on);
	add(ret, GS_FINDING_CLASS_IDLE,
	    SAY("give them a class that it acts on (%s): 'sudo gpusched class set class:%s %.*s'",
		c->acts_on, c->name, (int)strcspn(other, " "), other),
	    "policy %s does not act on class %s", c->policy, c->name);
}

/* ---- GPUs ------------------------------------------------------------------------------------ */

/*
 * If no daemon runs, nobody reads the log: gs_verdict_state() reports that, so this function does
 * not.
 */
static void judge_log(const struct gs_gpu_facts *g, struct gs_findings *ret)
{
	struct gs_finding *f;

	if (!g->read || g->log || (!g->reason && !g->mig))
		return;
	if (g->mig)
		f = add(ret, GS_FINDING_NO_MIG_LOG,
			"nothing: the driver keeps no log of a GPU in MIG mode",
			"GPU %d is in MIG mode: who has it, and who waits, is not known", g->gpu);
	else
		f = add(ret, GS_FINDING_LOG_UNREAD,
			"see what keeps it from being read: 'gpusched doctor'",
			"GPU %d: its log cannot be read: %s", g->gpu, g->reason);
	if (f)
		f->gpu = g->gpu;
}

/*
 * Judges by the last ten seconds or by the last one or two, whichever lost more: so a new loss
 * shows at once.
 */
static void judge_lost(const struct gs_gpu_facts *g, struct gs_findings *ret)
{
	bool lately = !isnan(g->lately.lost_pct) && !(g->lately.lost_pct < g->window.lost_pct);
	const struct gs_gpu_rates *r = lately ? &g->lately : &g->window;
	struct gs_finding *f;

	if (!gs_verdict_is_lossy(r->lost_pct))
		return;
	f = add(ret, GS_FINDING_LOST_TIME,
		SAY("give class be longer slices: 'sudo gpusched set class:be,gpu:%d "
		    "timeslice=2ms'",
		    g->gpu),
		"GPU %d loses %.0f %% of its time in %.0f switches a second: slices are short",
		g->gpu, r->lost_pct, r->switches_per_s);
	if (!f)
		return;
	f->gpu = g->gpu;
	f->amount_pct = r->lost_pct;
}

void gs_verdict_gpu(const struct gs_gpu_facts *g, struct gs_findings *ret)
{
	judge_log(g, ret);
	judge_lost(g, ret);
}

/* A policy may well leave a GPU idle for a moment. */
#define KEPT_IDLE_NS (3 * NS_PER_S)

void gs_verdict_kept_idle(const struct gs_kept_idle_facts *k, struct gs_findings *ret)
{
	uint64_t for_ns = k->idle_ns < k->off_ns ? k->idle_ns : k->off_ns;
	struct gs_finding *f;

	if (!k->policy || for_ns < KEPT_IDLE_NS)
		return;
	f = add(ret, GS_FINDING_KEPT_IDLE,
		"if that is not wanted, end the policy: 'sudo gpusched policy stop'",
		"GPU %d is idle, and policy %s %s process %u (%s)", k->gpu, k->policy,
		k->held ? "does not admit" : "suspends", k->pid, k->comm);
	if (!f)
		return;
	f->gpu = k->gpu;
	f->tsg = k->tsg;
	f->pid = k->pid;
	f->uid = k->uid;
	f->since_ns = k->now_ns > for_ns ? k->now_ns - for_ns : 0;
}

/* ---- programs -------------------------------------------------------------------------------- */

static void put_process(struct gs_finding *f, const struct gs_tsg_facts *t, double amount_pct)
{
	if (!f)
		return;
	f->gpu = t->gpu;
	f->tsg = t->id;
	f->pid = t->pid;
	f->uid = t->uid;
	f->amount_pct = amount_pct;
}

/* No suspension by a policy lasts longer, unless its class says so. */
#define NO_TURN_NS (10 * NS_PER_S)
#define NO_STEP_NS (10 * NS_PER_S)

static void judge_stuck(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	put_process(
		add(ret, GS_FINDING_NO_TURN,
		    SAY("put it back on the GPU: '%sgpusched resume pid:%u'", sudo(t->uid), t->pid),
		    "process %u (%s) has work and got no turn for %.0f s, though nothing of "
		    "gpusched keeps it off",
		    t->pid, t->comm, (double)t->stuck_ns / 1e9),
		t, NAN);
}

static void judge_still(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	if (t->still_ns < NO_STEP_NS || t->suspended)
		return;
	put_process(
		add(ret, GS_FINDING_NO_STEPS,
		    SAY("see whether it waits for another process: 'gpusched list pid:%u'", t->pid),
		    "process %u (%s) has launched nothing for %.0f s and has not finished what "
		    "it launched, since gpusched acted on it",
		    t->pid, t->comm, (double)t->still_ns / 1e9),
		t, NAN);
}

static void judge_starved(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	if (t->stuck_ns >= NO_TURN_NS && !t->suspended) {
		judge_stuck(t, ret);
		return;
	}
	if (!t->waiting || t->suspended || !(t->window.held_pct < STARVED_PCT))
		return;
	put_process(add(ret, GS_FINDING_STARVED,
			SAY("give it a longer slice: 'sudo gpusched set pid:%u timeslice=20ms'",
			    t->pid),
			"process %u (%s) waits for the GPU and gets %.1f %% of it", t->pid, t->comm,
			t->window.held_pct),
		    t, t->window.held_pct);
}

static void judge_harmed(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	const struct gs_tsg_rates *r = &t->window;
	char calm[64] = "; its calm minutes are not known";

	if (!gs_verdict_is_harmed(r->waited_pct, r->wait_share_pct, t->calm_pct))
		return;
	if (!isnan(t->calm_pct))
		snprintf(calm, sizeof(calm), "; in its calm minutes %.0f %%", t->calm_pct);
	put_process(add(ret, GS_FINDING_LC_WAITS,
			t->policy ? "see what else would help: 'gpusched advise'" : START_AUTO,
			"process %u (%s) of class lc waits %.0f %% of its time for the GPU%s",
			t->pid, t->comm, r->wait_share_pct, calm),
		    t, r->wait_share_pct);
}

/*
 * Reports waits that nobody sees: after a drained turn, only a launch shows that a program waits.
 */
static void judge_unseen(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	static const char count[] = "count launches: 'sudo gpusched observe launches on'",
			  start[] = "start it by 'gpusched run --class lc', so that it tells of "
				    "its requests";
	static const struct {
		const char *why, *remedy;
	} ways[] = {
		[GS_COUNTING_UNKNOWN] = { "no launches are counted", count },
		[GS_COUNTING_OFF] = { "no launches are counted", count },
		[GS_COUNTING_ON] = { "its launches are not counted", start },
		[GS_COUNTING_REFUSED] = { "launches cannot be counted here", start },
	};
	const struct gs_tsg_rates *r = &t->window;

	if (t->counted || !(r->turns_per_s > 0) || r->cut_pct >= MOSTLY_PCT)
		return;
	put_process(add(ret, GS_FINDING_WAITS_UNSEEN, ways[t->counting].remedy,
			"process %u (%s) of class lc: how long its requests wait is not known, "
			"since %s",
			t->pid, t->comm, ways[t->counting].why),
		    t, NAN);
}

static void judge_missed(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	const struct gs_slo_counts *slo = &t->slo;
	double pct = slo->requests ? 100 * (double)slo->others / (double)slo->requests : 0;

	if (!t->slo_ns || slo->requests < GS_SLO_ENOUGH || !(pct > MISSED_PCT))
		return;
	put_process(add(ret, GS_FINDING_SLO_MISSED,
			t->policy ? "see what else would help: 'gpusched advise'" : START_AUTO,
			"process %u (%s): %llu of its last %llu requests took longer than %g ms, "
			"the time of class %s, because of others",
			t->pid, t->comm, (unsigned long long)slo->others,
			(unsigned long long)slo->requests, (double)t->slo_ns / 1e6, t->class),
		    t, pct);
}

void gs_verdict_tsg(const struct gs_tsg_facts *t, struct gs_findings *ret)
{
	judge_starved(t, ret);
	judge_still(t, ret);
	judge_missed(t, ret);
	if (!t->lc)
		return;
	judge_harmed(t, ret);
	judge_unseen(t, ret);
}

void gs_verdict_classless(const struct gs_classless_facts *c, struct gs_findings *ret)
{
	const struct gs_tsg_facts t = { .gpu = c->gpu, .id = c->tsg, .pid = c->pid, .uid = c->uid };

	if (c->several && c->waited_pct > WAITED_PCT)
		put_process(add(ret, GS_FINDING_CLASSLESS, "'gpusched advise' says what would help",
				"programs without a class share GPU %d, and process %u (%s) waits "
				"%.0f %% of the time for the others",
				c->gpu, c->pid, c->comm, c->waited_pct),
			    &t, c->waited_pct);
}

void gs_verdict_holder(const struct gs_limits *l, const struct gs_holder_facts *h,
		       struct gs_findings *ret)
{
	struct gs_finding *f;

	if (!gs_verdict_is_hoarding(l, h->bytes, h->idle_since_ns, h->now_ns))
		return;
	f = add(ret, GS_FINDING_MEMORY_IDLE,
		SAY("take its memory out: '%sgpusched park pid:%u'", sudo(h->uid), h->pid),
		"process %u (%s) is idle and holds %.1f GiB of GPU %d's memory", h->pid, h->comm,
		(double)h->bytes / (double)(1ull << 30), h->gpu);
	if (!f)
		return;
	f->gpu = h->gpu;
	f->tsg = h->id;
	f->pid = h->pid;
	f->uid = h->uid;
	f->since_ns = h->idle_since_ns;
}

static struct gs_finding *parked_finding(const struct gs_parked_facts *p, struct gs_findings *ret)
{
	char guest[40] = "", back[120] = "";
	int n = 0;

	if (p->sign)
		n = snprintf(back, sizeof(back), ", until it works again, as its %s tells",
			     p->sign);
	else if (p->blind)
		n = snprintf(back, sizeof(back),
			     ", until somebody says so: it has no agent and no probe");
	if (!p->sign && p->waiters > 0)
		snprintf(back + n, sizeof(back) - (size_t)n, "; %d of its threads seem%s to wait",
			 p->waiters, p->waiters == 1 ? "s" : "");

	if (p->guest)
		snprintf(guest, sizeof(guest), ", for process %u", p->guest);
	if (p->lost)
		return add(ret, GS_FINDING_PARK_LOST,
			   SAY("end it, since libcuda never brings it back: '%skill %u'",
			       sudo(p->uid), p->pid),
			   "process %u (%s) is lost: its restore met no memory", p->pid, p->comm);
	return add(ret, GS_FINDING_PARKED,
		   p->waits ? "free GPU memory: 'gpusched list' shows who holds it"
			    : SAY("'%sgpusched unpark pid:%u' brings it back",
				  sudo(p->by_root ? 0 : p->uid), p->pid),
		   "process %u (%s) is parked by %s%s: %.1f GiB%s", p->pid, p->comm,
		   p->by_policy   ? "gpusched, as a policy wished"
		   : p->by_itself ? "gpusched, since it was idle"
		   : p->by_root   ? "root"
				  : "its user",
		   guest, (double)p->bytes / (double)(1ull << 30),
		   p->waits ? ", and waits for memory to come back" : back);
}

void gs_verdict_parked(const struct gs_parked_facts *p, struct gs_findings *ret)
{
	struct gs_finding *f = parked_finding(p, ret);

	if (!f)
		return;
	f->pid = p->pid;
	f->uid = p->uid;
	f->since_ns = p->since_ns;
}

void gs_verdict_suspended(const struct gs_suspended_facts *s, struct gs_findings *ret)
{
	struct gs_finding *f;

	f = add(ret, GS_FINDING_SUSPENDED,
		SAY("'%sgpusched resume pid:%u' lets it run", sudo(s->uid), s->pid),
		"process %u (%s) is off the GPU: a person suspended it%s", s->pid, s->comm,
		s->for_a_while ? " for a while" : "");
	if (!f)
		return;
	f->gpu = s->gpu;
	f->tsg = s->tsg;
	f->pid = s->pid;
	f->uid = s->uid;
	f->since_ns = s->since_ns;
}

void gs_verdict_budget(const struct gs_budget_facts *b, struct gs_findings *ret)
{
	struct gs_finding *f;

	if (b->used_ns < b->all_ns)
		return;
	f = add(ret, GS_FINDING_BUDGET, "'gpusched budget' shows it, and root may raise Budget=",
		"%s %.150s has used up its %llu s of GPU time a %s: until %s it %s", b->of, b->name,
		(unsigned long long)(b->all_ns / NS_PER_S), b->per, b->until,
		b->stop ? "is suspended" : "runs only where nobody else waits");
	if (f && b->all_ns)
		f->amount_pct = 100 * (double)b->used_ns / (double)b->all_ns;
}

void gs_verdict_in_vain(const struct gs_in_vain_facts *v, struct gs_findings *ret)
{
	struct gs_finding *f;

	f = add(ret, GS_FINDING_PARK_IN_VAIN,
		SAY("if it is to be parked all the same: '%sgpusched park pid:%u'", sudo(v->uid),
		    v->pid),
		"process %u (%s) is not parked by itself any more: it was wanted back at once, "
		"twice",
		v->pid, v->comm);
	if (!f)
		return;
	f->tsg = v->tsg;
	f->pid = v->pid;
	f->uid = v->uid;
	f->since_ns = v->since_ns;
}

/* ---- damage ---------------------------------------------------------------------------------- */

static struct gs_finding *lost_finding(const struct gs_xid_facts *x, struct gs_findings *ret)
{
	char gpu[24] = "a GPU";

	if (x->gpu >= 0)
		snprintf(gpu, sizeof(gpu), "GPU %d", x->gpu);
	return add(ret, GS_FINDING_GPU_LOST,
		   "end its programs, then reset it: 'sudo nvidia-smi -r'",
		   "%s is lost, or needs a reset, as the driver says%s", gpu,
		   x->ended_policy ? "; gpusched ended its policy" : "");
}

static struct gs_finding *xid_finding(const struct gs_xid_facts *x, struct gs_findings *ret)
{
	char who[64] = "no known process", row[128] = "";

	if (x->pid)
		snprintf(who, sizeof(who), "process %u (%s)", x->pid, x->comm);
	if (x->rpcs)
		snprintf(row, sizeof(row), ": time-out %u of the driver's firmware in a row%s",
			 x->rpcs, x->rpcs >= 3 ? ", after which the driver gives the GPU up" : "");
	return add(ret, GS_FINDING_XID,
		   x->had[0] ? "see what was done to it: 'gpusched history --changes'"
			     : "see the log: 'sudo dmesg'",
		   "Xid %u of %s%s; gpusched had done: %s%s", x->number, who, row,
		   x->had[0] ? x->had : "nothing",
		   x->ended_policy ? "; gpusched ended its policy" : "");
}

void gs_verdict_xid(const struct gs_xid_facts *x, struct gs_findings *ret)
{
	struct gs_finding *f = x->reset ? lost_finding(x, ret) : xid_finding(x, ret);

	if (!f)
		return;
	f->gpu = x->gpu;
	f->tsg = x->tsg;
	f->pid = x->pid;
	f->uid = x->uid;
	f->since_ns = x->since_ns;
}

void gs_verdict_failed_call(const struct gs_failed_call_facts *c, struct gs_findings *ret)
{
	struct gs_finding *f = add(
		ret, GS_FINDING_CALL_FAILED,
		SAY("see its state, which the policy leaves for a while: 'gpusched list pid:%u'",
		    c->pid),
		"process %u (%s): the driver failed the call %s (%s)", c->pid, c->comm, c->call,
		c->status);

	if (!f)
		return;
	f->gpu = c->gpu;
	f->tsg = c->tsg;
	f->pid = c->pid;
	f->uid = c->uid;
	f->since_ns = c->since_ns;
}

void gs_verdict_quarantine(const struct gs_quarantine_facts *q, struct gs_findings *ret)
{
	struct gs_finding *f = add(
		ret, GS_FINDING_QUARANTINE,
		"nothing: it ends by itself, and until then no policy suspends the program",
		"%.150s of user %u is in quarantine for %.0f more minutes, after Xid %u (%u %s)",
		q->program, q->uid, (double)q->left_ns / 6e10 + 0.5, q->xid, q->times,
		q->times == 1 ? "time" : "times");

	if (!f)
		return;
	f->uid = q->uid;
	f->since_ns = q->since_ns;
}
