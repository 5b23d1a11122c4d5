// SPDX-License-Identifier: MIT
#include "control/harm.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/json_sheet.h"
#include "control/control.h"
#include "control/harm_priv.h"
#include "control/klog.h"
#include "control/policy.h"
#include "engine/quarantine.h"
#include "figures/openmetrics.h"
#include "hub/json.h"
#include "table/events.h"
#include "table/facts.h"

#define FIRST_PID 0xEFFFFFFCu /* inode of the machine's own pid namespace */
#define SAME_NS (60 * NS_PER_S)
#define TOLD_NS (600 * NS_PER_S)

static uint64_t dilated(uint64_t ns)
{
	return (uint64_t)((double)ns * gs_env()->dilate);
}

/* ---- what gpusched had done ------------------------------------------------------------------ */

void gs_harm_called(void *self, const struct gs_engine_call *call)
{
	struct gs_control *ctl = self;
	struct gs_harm *h = ctl->harm;
	struct harm_tsg *t;

	if (!h || call->dry_run || call->op == GS_RM_GET_TIMESLICE)
		return;
	if (!call->res.err && call->gpu != GPUSCHED_GPU_UNKNOWN)
		gs_quarantine_answered(&h->book, call->gpu);
	t = harm_tsg_get(h, &call->key, call->id);
	if (t)
		harm_tsg_called(t, call, gs_now_ns());
}

void gs_harm_ended(void *self, const struct gs_end *end)
{
	struct gs_control *ctl = self;

	if (ctl->harm)
		harm_tsg_ended(ctl->harm, end->id, gs_now_ns());
}

/* ---- one report ------------------------------------------------------------------------------ */

static int gpu_of(const struct gs_hub *hub, const struct gs_xid *x)
{
	unsigned int domain, bus, device;

	for (size_t i = 0; x->located && i < hub->ngpus; i++)
		if (sscanf(hub->gpus[i].pci, "%x:%x:%x", &domain, &bus, &device) == 3 &&
		    domain == x->domain && bus == x->bus && device == x->device)
			return (int)hub->gpus[i].index;
	return -1;
}

static void count(struct gs_harm *h, int gpu, uint32_t xid)
{
	for (size_t i = 0; i < h->ncounts; i++)
		if (h->counts[i].gpu == gpu && h->counts[i].xid == xid) {
			h->counts[i].times++;
			return;
		}
	if (h->ncounts < HARM_COUNTS)
		h->counts[h->ncounts++] = (struct harm_count){ gpu, xid, 1 };
	else
		gs_count(h->ctl->hub, GS_SVC_XIDS_LEFT);
}

/* True if `status` shows the report. */
static bool is_told(const struct gs_harm_told *t, uint64_t now)
{
	return t->times && now - t->ns < dilated(TOLD_NS) && !gs_xid_is_own(t->xid.number);
}

static unsigned int count_of(const struct gs_harm *h, uid_t uid)
{
	unsigned int n = 0;

	for (size_t i = 0; i < HARM_TOLD; i++)
		n += h->told[i].times && h->told[i].uid == uid;
	return n;
}

/*
 * The note that the next one replaces: one that `status` does not show, if there is any; of these
 * the oldest of the user who has most. Notes without an owner count as root's.
 */
static struct gs_harm_told *note_to_replace(struct gs_harm *h, uid_t uid, uint64_t now)
{
	struct gs_harm_told *ret = NULL;
	unsigned int most = 0;

	for (size_t i = 0; i < HARM_TOLD; i++) {
		struct gs_harm_told *o = &h->told[i];
		bool told = is_told(o, now), was = ret && is_told(ret, now);
		unsigned int n = o->times ? count_of(h, o->uid) : HARM_TOLD;

		if (told && uid && !gs_share_yields(o->uid, n, HARM_TOLD))
			continue;
		if (!ret || (was && !told) ||
		    (was == told && (n > most || (n == most && o->ns < ret->ns)))) {
			ret = o;
			most = n;
		}
	}
	return ret;
}

struct gs_harm_told *harm_note(struct gs_harm *h, const struct gs_harm_told *told)
{
	struct gs_harm_told *ret;

	for (size_t i = 0; i < HARM_TOLD; i++) {
		struct gs_harm_told *o = &h->told[i];

		if (o->times && o->xid.number == told->xid.number && o->gpu == told->gpu &&
		    o->xid.pid == told->xid.pid && told->ns - o->ns < dilated(SAME_NS)) {
			o->times++;
			o->ns = told->ns;
			o->rpcs = told->rpcs;
			o->ended_policy |= told->ended_policy;
			return o;
		}
	}
	ret = note_to_replace(h, told->uid, told->ns);
	*ret = *told;
	return ret;
}

static json_t *event_of(const struct gs_harm *h, const struct gs_harm_told *t)
{
	json_t *o = json_object();

	gs_json_put_number(o, "time_ns", true, t->ns);
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_XID));
	gs_json_put_number(o, "xid", t->xid.number != 0, t->xid.number);
	gs_json_put(o, "reset", json_boolean(t->xid.reset));
	gs_json_put_number(o, "gpu", t->gpu >= 0, (uint64_t)t->gpu);
	if (t->owned) {
		gs_json_put_number(o, "pid", true, t->xid.pid);
		gs_json_put_number(o, "uid", true, t->uid);
		gs_json_put(o, "comm", gs_json_text(t->comm));
	}
	if (t->tsg)
		gs_json_put_number(o, "id", true, t->tsg);
	gs_json_put_text(o, "had", t->had[0] ? t->had : NULL);
	gs_json_put(o, "touched", json_boolean(t->touched));
	gs_json_put_text(o, "policy",
			 h->ctl->hub->policy ? gs_policy_running(h->ctl->hub->policy)->name : NULL);
	return o;
}

static void log_report(const struct gs_harm_told *t)
{
	char gpu[24] = "a GPU", who[64] = "no known program";

	if (t->gpu >= 0)
		snprintf(gpu, sizeof(gpu), "GPU %d", t->gpu);
	if (t->owned)
		snprintf(who, sizeof(who), "process %u", t->xid.pid);
	if (t->xid.number)
		gs_log(gs_xid_is_own(t->xid.number) ? LOG_INFO : LOG_WARNING,
		       "the driver reports Xid %u on %s, of %s; gpusched had done: %s",
		       t->xid.number, gpu, who, t->had[0] ? t->had : "nothing");
	else
		gs_log(LOG_ERR, "the driver reports that %s is lost, or needs a reset", gpu);
}

static void end_policy(struct gs_control *ctl, const char *why)
{
	struct gs_policy_exit exit = { .kind = GS_POLICY_EXIT_ERROR };

	if (!ctl->hub->policy)
		return;
	snprintf(exit.policy, sizeof(exit.policy), "%s", gs_policy_running(ctl->hub->policy)->name);
	snprintf(exit.message, sizeof(exit.message),
		 "%s: gpusched ends the policy, and puts back "
		 "what it had set",
		 why);
	gs_service_policy_failed(ctl, &exit);
}

static void say_quarantine(struct gs_harm *h, const struct gs_quarantine *q, bool begins)
{
	json_t *o = json_object();

	if (begins)
		gs_log(LOG_WARNING,
		       "%s of user %u is in quarantine for %" PRIu64
		       " minutes, after Xid %u: no policy suspends it",
		       q->program.exe, q->program.uid,
		       (uint64_t)((double)(q->until_ns - q->last_ns) / gs_env()->dilate / 6e10),
		       q->xid);
	else
		gs_log(LOG_NOTICE, "%s of user %u is in quarantine no more", q->program.exe,
		       q->program.uid);
	gs_json_put_number(o, "time_ns", true, gs_now_ns());
	gs_json_put_text(o, "event", gs_event_name(GPUSCHED_EV_QUARANTINE));
	gs_json_put_text(o, "state", begins ? "begins" : "ends");
	gs_json_put(o, "program", gs_json_text(q->program.exe));
	gs_json_put(o, "script", q->program.script[0] ? gs_json_text(q->program.script) : NULL);
	gs_json_put_number(o, "uid", true, q->program.uid);
	gs_json_put_number(o, "xid", true, q->xid);
	gs_json_put_number(o, "times", true, q->times);
	gs_json_put_number(o, "until_ns", true, q->until_ns);
	gs_observers_say(&h->ctl->hub->observers, o, q->program.uid);
}

/* Finds the TSG on which gpusched acted last, among those of the process on that GPU. */
static void find_owner(struct gs_harm *h, struct gs_harm_told *told, struct gs_program_id *ret)
{
	struct harm_tsg *t = harm_tsg_of(h, told->xid.pid, told->gpu);
	uid_t uid;

	memset(ret, 0, sizeof(*ret));
	snprintf(told->comm, sizeof(told->comm), "%s", told->xid.name);
	if (!t) {
		told->owned = told->xid.pid && !gs_process_uid((pid_t)told->xid.pid, &uid);
		told->uid = told->owned ? uid : 0;
		return;
	}
	told->owned = true;
	told->tsg = t->id;
	told->uid = t->uid;
	snprintf(told->comm, sizeof(told->comm), "%s", t->comm);
	told->touched = t->called_ns && told->ns - t->called_ns < dilated(GS_TOUCHED_NS);
	harm_tsg_had(t, told->ns, told->had, sizeof(told->had));
	harm_tsg_program(h, t, ret);
}

static void follow(struct gs_harm *h);

static void on_record(const char *record, size_t n, void *user)
{
	struct gs_harm_told told = { .ns = gs_now_ns(), .times = 1 };
	struct gs_harm *h = user;
	struct gs_harm_verdict v;
	struct gs_program_id program;

	if (!gs_xid_read(record, n, &told.xid))
		return;
	gs_count(h->ctl->hub, GS_SVC_XIDS);
	if (!h->pids) /* the log's pids are of another namespace than ours */
		told.xid.pid = 0;
	told.first_ns = told.ns;
	told.gpu = gpu_of(h->ctl->hub, &told.xid);
	count(h, told.gpu, told.xid.number);
	find_owner(h, &told, &program);
	gs_quarantine_judge(&h->book,
			    &(struct gs_harm_report){ .xid = told.xid.number,
						      .gpu = told.gpu,
						      .reset = told.xid.reset,
						      .touched = told.touched,
						      .program = told.tsg ? &program : NULL },
			    told.ns, &v);
	told.rpcs = v.rpcs;
	told.ended_policy = v.ends_policy && h->ctl->hub->policy;
	if (harm_note(h, &told)->times == 1 || v.quarantine || told.ended_policy) {
		log_report(&told);
		gs_observers_say(&h->ctl->hub->observers, event_of(h, &told),
				 told.owned ? told.uid : GS_NOBODY);
	}
	if (v.left)
		gs_count(h->ctl->hub, GS_SVC_XIDS_LEFT);
	if (v.quarantine) {
		gs_count(h->ctl->hub, GS_SVC_QUARANTINES);
		say_quarantine(h, v.quarantine, true);
		follow(h);
	}
	if (v.ends_policy)
		end_policy(h->ctl, v.why);
}

/* ---- quarantine ------------------------------------------------------------------------------ */

static void on_tsg(struct harm_tsg *t, void *user)
{
	struct gs_harm *h = user;
	const struct gs_quarantine *q = NULL;
	struct gs_program_id program;

	if (!t->ended_ns && gs_quarantine_any(&h->book, gs_now_ns())) {
		harm_tsg_program(h, t, &program);
		q = gs_quarantine_of(&h->book, &program, gs_now_ns());
	}
	t->until_ns = q ? q->until_ns : 0;
	if (t->ended_ns || (!q && !t->inside))
		return;
	if (t->inside != (q != NULL))
		gs_facts_put_last_job(h->ctl->hub->table, t->id, GS_LAST_QUARANTINE, q != NULL);
	t->inside = q != NULL;
	gs_engine_quarantine(h->ctl->hub->engine, &t->key, q != NULL);
}

/* Tells the engine and the policy which TSGs are in quarantine. */
static void follow(struct gs_harm *h)
{
	harm_tsg_each(h, on_tsg, h);
}

static void tell_ends(struct gs_harm *h, uint64_t now)
{
	for (size_t i = 0; i < h->book.n; i++) {
		const struct gs_quarantine *q = &h->book.all[i];

		if (q->until_ns > h->looked_ns && q->until_ns <= now)
			say_quarantine(h, q, false);
	}
}

/* ---- looking --------------------------------------------------------------------------------- */

static void read_log(struct gs_harm *h)
{
	uint64_t lost = 0;
	int r;

	if (!h->log)
		return;
	r = gs_klog_read(h->log, on_record, h, &lost);
	h->ctl->hub->counters[GS_SVC_KLOG_LOST] += lost;
	if (!r)
		return;
	gs_log(LOG_WARNING, "the kernel's log cannot be read any more: %s", strerror(-r));
	gs_count(h->ctl->hub, GS_SVC_KLOG_UNREAD);
	gs_klog_close(TAKE_PTR(h->log));
}

void gs_harm_beat(void *self)
{
	struct gs_control *ctl = self;
	struct gs_harm *h = ctl->harm;
	uint64_t now = gs_now_ns();

	if (!h)
		return;
	read_log(h);
	if (now - h->looked_ns < GS_BEATS_SECOND_NS)
		return;
	harm_tsgs_look(h, gs_quarantine_any(&h->book, now), now);
	tell_ends(h, now);
	if (gs_quarantine_any(&h->book, h->looked_ns ? h->looked_ns : 1))
		follow(h);
	h->looked_ns = now;
}

/* ---- questions ------------------------------------------------------------------------------- */

uint64_t gs_harm_until(const struct gs_control *ctl, uint64_t id)
{
	const struct harm_tsg *t = ctl->harm ? harm_tsg_find(ctl->harm, id) : NULL;

	return t && t->inside ? t->until_ns : 0;
}

void gs_harm_each(const struct gs_control *ctl,
		  void (*fn)(const struct gs_harm_told *told, void *user), void *user)
{
	const struct gs_harm *h = ctl->harm;
	uint64_t now = gs_now_ns();

	for (size_t i = 0; h && i < HARM_TOLD; i++)
		if (is_told(&h->told[i], now))
			fn(&h->told[i], user);
}

void gs_harm_each_quarantine(const struct gs_control *ctl,
			     void (*fn)(const struct gs_quarantine *q, void *user), void *user)
{
	const struct gs_harm *h = ctl->harm;

	for (size_t i = 0; h && i < h->book.n; i++)
		if (gs_now_ns() < h->book.all[i].until_ns)
			fn(&h->book.all[i], user);
}

void gs_harm_metrics(const struct gs_control *ctl, FILE *f)
{
	const struct gs_harm *h = ctl->harm;

	gs_openmetrics_head(f, "xids", "counter",
			    "errors that the driver reported (Xid 0: a lost GPU)");
	for (size_t i = 0; h && i < h->ncounts; i++) {
		const struct harm_count *c = &h->counts[i];
		char gpu[12] = "";

		if (c->gpu >= 0)
			snprintf(gpu, sizeof(gpu), "%d", c->gpu);
		fprintf(f, "gpusched_xids_total{gpu=\"%s\",xid=\"%u\"} %" PRIu64 "\n", gpu, c->xid,
			c->times);
	}
}

/* ---- life ------------------------------------------------------------------------------------ */

static bool has_the_logs_pids(void)
{
	struct stat st;

	return gs_env()->sim || (!stat("/proc/self/ns/pid", &st) && st.st_ino == FIRST_PID);
}

int gs_harm_start(struct gs_control *ctl, struct gs_figures *fig)
{
	struct gs_harm *h;
	int r;

	if (!ctl->hub->opts.daemon || ctl->harm)
		return 0;
	h = calloc(1, sizeof(*h));
	if (!h)
		return -ENOMEM;
	h->ctl = ctl;
	h->fig = fig;
	h->book.dilate = gs_env()->dilate;
	h->pids = has_the_logs_pids();
	ctl->harm = h;
	r = gs_klog_open(&h->log);
	if (!r)
		return 0;
	gs_count(ctl->hub, GS_SVC_KLOG_UNREAD);
	gs_log(LOG_NOTICE,
	       "the kernel's log cannot be read (%s): the driver's errors (Xids) are not seen",
	       strerror(-r));
	return 0;
}

void gs_harm_end(struct gs_control *ctl)
{
	struct gs_harm *h = TAKE_PTR(ctl->harm);

	if (!h)
		return;
	gs_klog_close(h->log);
	harm_tsgs_free(h);
	free(h);
}
