// SPDX-License-Identifier: MIT
/*
 * agents.c - keeps a page for each agent: its figures, and what the daemon allows it
 *
 * An agent connects, and the kernel says which process it is. The daemon sends it a page that no
 * process can shrink; the daemon maps no file and opens no path of a client. Pre-switches may take
 * half of any second. A process that had the GPU for longer than that, by the log, may make none.
 * If it makes some all the same, it loses its long slice for a while. The probes leave out launches
 * that an agent counts. If a policy asks for launches, the probes count all, since only their
 * counts are facts.
 */
#include "control/agents.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "basic/share.h"
#include "process/process.h"
#include "wire/agent.h"
#include "control/told_requests.h"
#include "control/control.h"
#include "control/launches.h"
#include "control/waker.h"
#include "hub/limited.h"
#include "park/on_use.h"
#include "table/started.h"

#define LOOK_NS NS_PER_S
#define MOST 273                /* 256 for users, and a sixteenth of all for root */
#define AT_ONCE 16              /* connections accepted in one iteration of the loop */
#define AGAIN_NS (NS_PER_S / 2) /* a process gets no second page within this time */
/* by then an agent has reported its first launches, if it counts */
#define BEGINS_NS (2 * NS_PER_S)

struct agent {
	struct agent *prev, *next;
	struct gs_process *process;
	uid_t uid; /* the user who connected: the page is that user's */
	uint64_t since_ns;
	struct gs_agent_sheet *sheet;
	struct gs_told_requests *request;
	/* at the last check */
	uint64_t held_ns;           /* GPU time, by the log */
	uint64_t pre_ns;            /* GPU time of its pre-switches, as the agent reported */
	uint64_t launches, told_ns; /* launches believed, and when they were reported */
	uint64_t tsg;               /* the process's only compute TSG; 0: none, or several */
	bool counts;                /* the agent counts the launches, and the probes do not */
	bool greedy;                /* its pre-switches took more of the GPU than allowed */
	/* of the process's TSGs in the table, at this check */
	uint64_t log_ns;
	uint32_t ncompute, class_id;
	bool probed; /* the probes have counted a launch of this TSG */
};

struct gs_agents {
	struct gs_control *ctl;
	int fd;
	sd_event_source *come, *look;
	struct agent *all;
	struct gs_shares shares;
	uint64_t began_ns; /* CLOCK_BOOTTIME */
	uint64_t looked_ns;
	uint64_t by_class[GPUSCHED_MAX_CLASSES];
};

static struct agent *agent_in(const struct gs_process *p)
{
	return p ? p->of[GS_PROCESS_AGENT] : NULL;
}

static struct agent *agent_of(const struct gs_control *ctl, uint32_t pid)
{
	return ctl->agents ? agent_in(gs_processes_find(ctl->hub, (pid_t)pid)) : NULL;
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void drop_agent(struct gs_agents *a, struct agent *one)
{
	struct gs_hub *hub = a->ctl->hub;

	if (one->counts && hub->launches)
		gs_launches_told(hub->launches, one->process->pid, false);
	gs_told_requests_free(one->request);
	munmap(one->sheet, GS_AGENT_SHEET_BYTES);
	one->process->of[GS_PROCESS_AGENT] = NULL;
	gs_processes_watch(hub, one->process, false);
	gs_shares_give(&a->shares, one->uid);
	DL_DELETE(a->all, one);
	free(one);
}

/* The process has ended, or executes another program or user's. */
static void agent_gone(struct gs_agents *a, struct agent *one)
{
	if (a->ctl->hub->launches)
		gs_launches_gone(a->ctl->hub->launches, one->process->pid);
	one->counts = false;
	drop_agent(a, one);
}

/* The shortest lead of all GPUs: a longer one costs the other programs time. */
static uint32_t lead_us(const struct gs_agents *a)
{
	const struct gs_hub *hub = a->ctl->hub;
	uint32_t least = 0;

	for (size_t i = 0; hub->account && i < hub->ngpus; i++) {
		struct gs_account_gpu g;
		uint32_t us;

		gs_account_gpu(hub->account, hub->gpus[i].index, &g);
		us = gs_costs_lead_us(&g.costs);
		if (us && (!least || us < least))
			least = us;
	}
	return least ? least : gs_costs_lead_us(&gs_costs_h200);
}

static int make_sheet(struct gs_agent_sheet **ret)
{
	CLEANUP_FD int fd = memfd_create("gpusched-agents", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	struct gs_agent_sheet *sheet;

	if (fd < 0 || ftruncate(fd, GS_AGENT_SHEET_BYTES) ||
	    fcntl(fd, F_ADD_SEALS, GS_AGENT_SHEET_SEALS))
		return -errno;
	sheet = mmap(NULL, GS_AGENT_SHEET_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (sheet == MAP_FAILED)
		return -errno;
	sheet->magic = GS_AGENT_SHEET_MAGIC;
	sheet->size = sizeof(*sheet);
	sheet->looked_ns = gs_now_ns();
	sheet->share_ns = gs_agents_share_ns(0, 0, LOOK_NS);
	*ret = sheet;
	return TAKE_FD(fd);
}

/*
 * True if the process is still the user's: the one that connected may have ended since, or may
 * execute another user's program. Then its page would speak for another user's process.
 */
static bool is_users(pid_t pid, uid_t uid)
{
	uid_t now;

	return !gs_process_uid(pid, &now) && now == uid;
}

/* True if the process may have a page. A process has at most one. */
static bool has_room(const struct gs_agents *a, const struct ucred *cred, uint64_t now)
{
	const struct agent *old = agent_of(a->ctl, (uint32_t)cred->pid);

	if (old)
		return now - old->since_ns >= AGAIN_NS;
	return gs_share_allows(cred->uid, gs_shares_of(&a->shares, cred->uid), a->shares.all, MOST);
}

/* Takes over the figures of an old page of the same process. */
static void take_over(struct gs_agents *a, struct agent *one)
{
	struct agent *old = agent_in(one->process);

	if (!old)
		return;
	one->launches = old->launches;
	one->told_ns = old->told_ns;
	drop_agent(a, old);
}

static void read_sheet(void *of, struct gs_request_words *ret)
{
	const struct gs_agent_sheet *s = of;

	*ret = (struct gs_request_words){
		.rest_ns = s->rest_ns,
		.launches = s->launches,
		.begins = s->begins,
		.quiet_us = s->quiet_us,
		.hinted = s->hinted,
		.arrivals = s->arrivals,
		.blurs = s->blurs,
	};
}

/* Takes @to, a connection of the process: the user's lane sends the page there, and closes it. */
static int new_requests(struct gs_agents *a, struct agent *one, int to, int fd)
{
	const struct gs_request_source source = { read_sheet, one->sheet, GPUSCHED_REQUEST_AGENT };
	struct gs_waker *waker;
	int r = gs_waker_new(a->ctl->hub->lanes, one->uid, to, GS_AGENT_SHEET_MAGIC, fd, &waker);

	if (r) {
		close(fd);
		gs_lanes_close(a->ctl->hub->lanes, one->uid, to);
		return r;
	}
	r = gs_told_requests_new(a->ctl, &source, waker, &one->request);
	if (r)
		gs_waker_free(waker);
	return r;
}

/* Hangs the page on its process. False: too many are known. */
static bool enter(struct gs_agents *a, struct agent *one, const struct ucred *cred,
		  uint64_t start_ns)
{
	const struct gs_process_who who = { cred->pid, cred->uid, start_ns, NULL };

	one->process = gs_processes_meet(a->ctl->hub, &who);
	if (!one->process)
		return false;
	take_over(a, one);
	if (!gs_shares_take(&a->shares, one->uid, MOST))
		return false;
	one->process->of[GS_PROCESS_AGENT] = one;
	gs_processes_watch(a->ctl->hub, one->process, true);
	DL_APPEND(a->all, one);
	return true;
}

/* Takes @to. */
static void give(struct gs_agents *a, int to, const struct ucred *cred)
{
	struct agent *one = calloc(1, sizeof(*one));
	uint64_t start_ns;
	int fd = -1;

	if (one && !gs_started(cred->pid, &start_ns) && is_users(cred->pid, cred->uid))
		fd = make_sheet(&one->sheet);
	if (fd < 0) {
		gs_lanes_close(a->ctl->hub->lanes, cred->uid, to);
		free(one);
		return;
	}
	one->uid = cred->uid;
	one->since_ns = gs_now_ns();
	if (new_requests(a, one, to, fd) || !enter(a, one, cred, start_ns)) {
		gs_told_requests_free(one->request);
		munmap(one->sheet, GS_AGENT_SHEET_BYTES);
		free(one);
		return;
	}
	/* taken as counting launches until its first report, which comes soon and may deny that */
	one->counts = a->ctl->hub->launches && !gs_service_launches_for_policy(a->ctl) &&
		      !gs_launches_told(a->ctl->hub->launches, cred->pid, true);
}

/* ---- the check, once a second ---------------------------------------------------------------- */

static void take_tsg(struct gs_hub *hub, const struct gpusched_tsg *rec, struct agent *one)
{
	const struct gs_account *account = hub->account;
	struct gs_turn_sums sums;

	if (account && !gs_account_of(account, rec->task.id, &sums))
		one->log_ns += sums.held_ns;
	if (rec->task.kind != GPUSCHED_KIND_COMPUTE || rec->flags & GPUSCHED_TSG_GONE)
		return;
	one->tsg = one->ncompute++ ? 0 : rec->task.id;
	gs_told_requests_tsg(one->request, rec);
	one->class_id = rec->task.class_id;
	one->probed = one->probed || rec->task.known & GPUSCHED_KNOWN_LAUNCHES;
	/* comes last: the record may show that its process has ended, and so end the page */
	gs_observers_deadline_told(&hub->observers, rec, one->sheet->deadline_us);
}

/* Reads the table once for all processes, since it may be large. */
static void take_tsgs(struct gs_agents *a, const struct gpusched_tsg *recs, size_t n)
{
	struct agent *one;

	DL_FOREACH(a->all, one) {
		one->log_ns = 0;
		one->tsg = 0;
		one->ncompute = 0;
		one->class_id = GPUSCHED_CLASS_NONE;
		one->probed = false;
		gs_told_requests_clear(one->request);
	}
	for (size_t i = 0; i < n; i++) {
		one = agent_of(a->ctl, recs[i].task.pid);
		if (one)
			take_tsg(a->ctl->hub, &recs[i], one);
	}
}

/* Takes the long slice from all TSGs of a greedy process, since nobody knows which one used it. */
static void curb_greedy(struct gs_agents *a, const struct gpusched_tsg *recs, size_t n)
{
	for (size_t i = 0; i < n && a->ctl->hub->engine; i++) {
		const struct agent *one = agent_of(a->ctl, recs[i].task.pid);

		if (one && one->greedy && recs[i].task.kind == GPUSCHED_KIND_COMPUTE)
			gs_engine_greedy(a->ctl->hub->engine, &recs[i].key);
	}
}

static void look_at_holds(struct gs_agents *a, struct agent *one, uint64_t now)
{
	uint64_t before = one->held_ns, pre_ns = one->sheet->held_ns, share;

	one->held_ns = one->log_ns;
	share = gs_agents_share_ns(before, one->held_ns, now - a->looked_ns);
	one->greedy = !share && pre_ns != one->pre_ns;
	one->pre_ns = pre_ns;
	one->sheet->share_ns = share;
	one->sheet->lead_us = lead_us(a);
	one->sheet->looked_ns = now;
}

static uint64_t boot_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
}

static uint64_t age_ns(uint64_t start_ns)
{
	uint64_t now = boot_ns();

	return now > start_ns ? now - start_ns : 0;
}

/*
 * True if all launches of an agent's first report were made since this daemon started, and no probe
 * has counted any of them.
 */
static bool begins_ours(const struct gs_agents *a, const struct agent *one)
{
	return one->process->start_ns >= a->began_ns && (one->counts || !a->ctl->hub->launches);
}

static void take_launches(struct gs_agents *a, struct agent *one, bool fresh, uint64_t now)
{
	uint64_t before = one->launches, told = one->sheet->launches;
	uint64_t span = one->told_ns ? now - one->told_ns : age_ns(one->process->start_ns);
	bool ours = one->told_ns ? one->counts : begins_ours(a, one);

	if (!fresh)
		return;
	one->launches = gs_agents_believed(before, told, span);
	one->told_ns = now;
	if (ours && one->class_id < GPUSCHED_MAX_CLASSES)
		a->by_class[one->class_id] += one->launches - before;
}

/* @anew: the probes have just begun to count. */
static void look_at_launches(struct gs_agents *a, struct agent *one, bool anew)
{
	uint64_t now = gs_now_ns(), at = one->sheet->counted_ns;
	bool fresh = at && at <= now && now - at < GS_AGENT_BEAT_NS;
	bool begins = !one->told_ns && now - one->since_ns < BEGINS_NS;
	bool counts = (fresh || (begins && one->counts)) && !gs_service_launches_for_policy(a->ctl);

	take_launches(a, one, fresh, now);
	/* the probes may have counted a part of the launches, before the agent came */
	anew = anew || (counts && one->probed);
	if (a->ctl->hub->launches && (counts != one->counts || anew) &&
	    gs_launches_told(a->ctl->hub->launches, one->process->pid, counts))
		counts = false;
	one->counts = counts;
}

/*
 * A parked program stands still in its next call of libcuda, so a call is the sign that it wants to
 * work.
 */
static void look_at_use(const struct gs_agents *a, const struct agent *one)
{
	uint64_t now = gs_now_ns(), at = one->sheet->counted_ns, use = one->sheet->calls;

	if (!at || at > now || now - at >= GS_AGENT_BEAT_NS)
		return;
	gs_park_use_counts(a->ctl->parking, one->process->pid, one->process->start_ns, use);
}

static void look_at_all(struct gs_agents *a, uint64_t now)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct agent *one;
	bool greedy = false;
	size_t n = 0;

	if (gs_table_all(a->ctl->hub->table, &recs, &n))
		n = 0;
	take_tsgs(a, recs, n);
	DL_FOREACH(a->all, one) {
		gs_told_requests_calm(one->request);
		look_at_holds(a, one, now);
		look_at_launches(a, one, false);
		look_at_use(a, one);
		greedy = greedy || one->greedy;
	}
	if (greedy)
		curb_greedy(a, recs, n);
	a->looked_ns = now;
}

void gs_agents_look(struct gs_control *ctl)
{
	CLEANUP_FREE struct gpusched_tsg *recs = NULL;
	struct gs_agents *a = ctl->agents;
	struct agent *one;
	size_t n = 0;

	if (!a || !a->all || gs_table_all(ctl->hub->table, &recs, &n))
		return;
	take_tsgs(a, recs, n);
	DL_FOREACH(a->all, one)
		look_at_launches(a, one, true);
}

void gs_agents_call(void *self, const struct gs_engine_call *call)
{
	struct gs_control *ctl = self;
	bool takes = call->op == GS_RM_PREEMPT || call->op == GS_RM_SUSPEND;
	struct agent *one = takes ? agent_of(ctl, call->pid) : NULL;

	if (one && !call->res.err && !call->dry_run)
		one->sheet->yield_ns = gs_now_ns();
}

void gs_agents_process_ended(void *self, struct gs_process *p)
{
	struct gs_control *ctl = self;

	if (agent_in(p))
		agent_gone(ctl->agents, agent_in(p));
}

/* The page of a process that is another user's by now would speak for that user's process. */
void gs_agents_process_changed(void *self, struct gs_process *p, enum gs_process_change what)
{
	struct gs_control *ctl = self;
	struct agent *one = agent_in(p);
	bool users = what == GS_PROCESS_UID && one && one->uid != p->uid;

	if (one && (what == GS_PROCESS_EXEC || users))
		agent_gone(ctl->agents, one);
}

static void look_later(struct gs_agents *a, uint64_t now)
{
	sd_event_source_set_time(a->look, (now + LOOK_NS) / NS_PER_US);
	sd_event_source_set_enabled(a->look, SD_EVENT_ONESHOT);
}

static int on_look(sd_event_source *src, uint64_t us, void *user)
{
	struct gs_agents *a = user;
	uint64_t now = gs_now_ns();

	look_at_all(a, now);
	if (a->all)
		look_later(a, now);
	return 0;
}

/* ---- connections ----------------------------------------------------------------------------- */

/* Takes @fd. */
static void take_in(struct gs_agents *a, int fd)
{
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	uint64_t now = gs_now_ns();

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.pid <= 0) {
		gs_lanes_close(a->ctl->hub->lanes, GS_LANES_NOBODY, fd);
		return;
	}
	if (!has_room(a, &cred, now)) {
		gs_lanes_close(a->ctl->hub->lanes, cred.uid, fd);
		gs_count(a->ctl->hub, GS_SVC_AGENTS_LEFT);
		gs_limited(a->ctl->hub, cred.uid, GS_LIMIT_AGENTS);
		return;
	}
	if (!a->all) {
		a->looked_ns = now;
		look_later(a, now);
	}
	give(a, fd, &cred);
}

static int on_come(sd_event_source *src, int fd, uint32_t events, void *user)
{
	for (unsigned int i = 0; i < AT_ONCE; i++) {
		int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

		if (peer < 0)
			break;
		take_in(user, peer);
	}
	return 0;
}

static int listen_on(void)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int r = gs_agent_sheet_path(sun.sun_path, sizeof(sun.sun_path));

	if (r)
		return r;
	/* a socket that is left is a dead daemon's, since we hold the instance's lock */
	unlink(sun.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&sun, sizeof(sun)) || chmod(sun.sun_path, 0666) ||
	    listen(fd, AT_ONCE))
		return -errno;
	return TAKE_FD(fd);
}

void gs_agents_start(struct gs_control *ctl)
{
	struct gs_agents *a;
	uint64_t start_ns;
	int r;

	if (!ctl->hub->opts.daemon)
		return;
	a = calloc(1, sizeof(*a));
	if (!a)
		return;
	a->ctl = ctl;
	a->began_ns = boot_ns();
	a->fd = r = listen_on();
	/*
	 * Has gs_started() load its BPF program now: that may take longer than an iteration of the
	 * loop should.
	 */
	if (r >= 0)
		r = gs_started(getpid(), &start_ns);
	if (r >= 0)
		r = sd_event_add_io(ctl->hub->event, &a->come, a->fd, EPOLLIN, on_come, a);
	if (r >= 0) /* the lowest priority, so that a flood of connections holds up nothing else */
		r = sd_event_source_set_priority(a->come, SD_EVENT_PRIORITY_IDLE);
	if (r >= 0)
		r = sd_event_add_time(ctl->hub->event, &a->look, CLOCK_MONOTONIC, 0, 10000, on_look,
				      a);
	if (r >= 0)
		r = sd_event_source_set_enabled(a->look, SD_EVENT_OFF);
	ctl->agents = a;
	if (r >= 0)
		return;
	gs_log(LOG_WARNING, "agents get no page of this daemon's: %s", strerror(-r));
	gs_agents_end(ctl);
}

void gs_agents_end(struct gs_control *ctl)
{
	struct gs_agents *a = ctl->agents;

	if (!a)
		return;
	while (a->all) {
		/* tells the agent now; otherwise it would wait for a missing heartbeat */
		a->all->sheet->looked_ns = 0;
		drop_agent(a, a->all);
	}
	gs_shares_done(&a->shares);
	sd_event_source_disable_unref(a->come);
	sd_event_source_disable_unref(a->look);
	if (a->fd >= 0)
		close(a->fd);
	free(a);
	ctl->agents = NULL;
}

/* ---- the agents' reports --------------------------------------------------------------------- */

bool gs_agents_launches(const struct gs_control *ctl, const struct gpusched_tsg *rec,
			uint64_t *ret_launches)
{
	const struct agent *one = agent_of(ctl, rec->task.pid);

	if (!one || !one->counts || one->tsg != rec->task.id)
		return false;
	*ret_launches = one->launches;
	return true;
}

bool gs_agents_graphs(const struct gs_control *ctl, const struct gpusched_tsg *rec,
		      uint64_t *ret_ns, uint64_t *ret_launches, uint64_t *ret_graphs)
{
	const struct agent *one = agent_of(ctl, rec->task.pid);

	if (!one || one->tsg != rec->task.id)
		return false;
	*ret_ns = one->sheet->counted_ns;
	*ret_launches = one->sheet->launches;
	*ret_graphs = one->sheet->graph_launches;
	return *ret_ns != 0;
}

void gs_agents_by_class(const struct gs_control *ctl, uint64_t *inout)
{
	for (size_t i = 0; ctl->agents && i < GPUSCHED_MAX_CLASSES; i++)
		inout[i] += ctl->agents->by_class[i];
}

bool gs_agents_told(const struct gs_control *ctl, const struct gpusched_tsg *rec,
		    struct gs_agent_facts *ret, bool *ret_counted)
{
	const struct agent *one = ctl ? agent_of(ctl, rec->task.pid) : NULL;

	if (!one || rec->task.kind != GPUSCHED_KIND_COMPUTE)
		return false;
	*ret = (struct gs_agent_facts){ 0 };
	ret->hints = one->sheet->hints;
	ret->holds = one->sheet->holds;
	ret->held_ns = one->sheet->held_ns;
	ret->deadline_us = one->sheet->deadline_us;
	*ret_counted = !(rec->task.known & GPUSCHED_KNOWN_LAUNCHES) &&
		       gs_agents_launches(ctl, rec, &ret->launches);
	return true;
}

struct gs_told_requests *gs_agents_requests(const struct gs_control *ctl, pid_t pid)
{
	const struct agent *one = agent_of(ctl, (uint32_t)pid);

	return one ? one->request : NULL;
}
