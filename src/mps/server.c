// SPDX-License-Identifier: MIT
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "mps/pool.h"
#include "process/process.h"

#define START_NS (20 * NS_PER_S)
/* Without start_server (older versions), there is no server until a client comes. */
#define OLD_NS (2 * NS_PER_S)
/* The server is registered anew at this interval, since the daemon may have been restarted. */
#define REGISTER_NS (2 * NS_PER_S)
#define END_NS (10 * NS_PER_S)
#define STEP_NS (50 * NS_PER_MS)
#define READY_TRIES 3

void gs_mps_say(struct gs_mps_pool *p, const char *format, ...)
{
	struct gs_mps_message m = { .op = GS_MPS_SAY };
	va_list ap;

	va_start(ap, format);
	vsnprintf(m.text, sizeof(m.text), format, ap);
	va_end(ap);
	for (size_t i = 0; i < p->nmembers; i++)
		if (p->members[i].run)
			gs_mps_link_send(p->members[i].sock, &m);
}

/* ---- the daemon ------------------------------------------------------------------------------ */

static void add_pid(json_t *all, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", (int)pid);
	json_array_append_new(all, json_string(text));
}

static json_t *client_names(const struct gs_mps_pool *p)
{
	json_t *all = json_array();

	for (size_t i = 0; i < p->nclients; i++)
		add_pid(all, p->clients[i]);
	return all;
}

/*
 * Returns the pids of the programs in the pool. They include the probe: like all clients, it has a
 * handle of the server's TSG.
 */
static json_t *member_names(const struct gs_mps_pool *p)
{
	json_t *all = json_array();

	if (p->probe)
		add_pid(all, p->probe);
	for (size_t i = 0; i < p->nmembers; i++)
		if (p->members[i].run)
			add_pid(all, p->members[i].run);
	return all;
}

static int tell_daemon(struct gs_mps_pool *p, struct gs_error *err)
{
	CLEANUP_JSON json_t *answer = NULL;
	int r = gs_mps_place_daemon("pool_set",
				    json_pack("{s:i,s:s,s:s,s:b,s:o,s:o}", "server", (int)p->server,
					      "name", p->place.name, "class", p->class_name,
					      "share", p->place.share, "clients", client_names(p),
					      "members", member_names(p)),
				    &answer, err);

	p->register_ns = gs_now_ns();
	if (r)
		return r;
	snprintf(p->server_class, sizeof(p->server_class), "%s",
		 json_string_value(json_object_get(answer, "class")) ?: "none");
	p->batch = (unsigned int)json_integer_value(json_object_get(answer, "batch"));
	return 0;
}

/* Registers the server's state with the daemon, also again when the daemon has been away. */
static void keep_registered(struct gs_mps_pool *p, bool changed)
{
	struct gs_error err = { 0 };
	int r;

	if (!p->server || (!changed && gs_now_ns() < p->register_ns + REGISTER_NS))
		return;
	r = tell_daemon(p, &err);
	if (r == -ENOENT) /* the server has ended: the next check reports it */
		return;
	/* try again at the next check; until then the daemon has the earlier registration */
	if (r == -EBUSY && p->server_class[0]) {
		p->register_ns = 0;
		return;
	}
	if (!r) {
		p->told_daemon = false;
		return;
	}
	if (!p->told_daemon)
		gs_mps_say(p,
			   "gpuschedd does not have the MPS server %d as one unit now (%.300s): it "
			   "is left alone until then",
			   (int)p->server, err.text);
	p->told_daemon = true;
}

/*
 * True if the engine refuses to suspend the server, since one call cannot suspend all its channels.
 * This is so if the server has too many channels, or if clients have channels under their own
 * handles of the server's TSG.
 */
static bool is_past_batch(const struct gs_mps_pool *p, const json_t *tsg)
{
	const char *kind = json_string_value(json_object_get(tsg, "kind"));
	pid_t pid = (pid_t)json_integer_value(json_object_get(tsg, "pid"));

	if (!kind || strcmp(kind, "compute"))
		return false;
	if (pid == p->server)
		return p->batch && json_integer_value(json_object_get(tsg, "channels")) > p->batch;
	for (size_t i = 0; i < p->nclients; i++)
		if (p->clients[i] == pid && json_is_true(json_object_get(tsg, "mps")))
			return true;
	return false;
}

static void check_batch(struct gs_mps_pool *p, const json_t *tsgs)
{
	const json_t *t;
	size_t i;

	json_array_foreach((json_t *)tsgs, i, t) {
		if (p->told_batch || !is_past_batch(p, t))
			continue;
		p->told_batch = true;
		gs_mps_say(p,
			   "the MPS server %d has more channels than one call suspends: it is "
			   "never suspended by a policy and gets time slices only",
			   (int)p->server);
	}
}

static void check_members(struct gs_mps_pool *p, const json_t *tsgs)
{
	for (size_t i = 0; i < p->nmembers; i++) {
		struct gs_mps_member *m = &p->members[i];
		struct gs_mps_message say = { .op = GS_MPS_SAY };
		pid_t pid = m->in && !m->outside ? gs_mps_member_outside(m, tsgs) : 0;

		if (!pid)
			continue;
		m->outside = true;
		snprintf(say.text, sizeof(say.text),
			 "process %d runs WITHOUT the MPS server: it has a TSG of its own. Is "
			 "CUDA_MPS_PIPE_DIRECTORY as it was set, and can the program enter it? Its "
			 "class holds for it alone",
			 (int)pid);
		gs_mps_link_send(m->sock, &say);
	}
}

/* Checks the TSGs of the user's processes for too many channels and for work without the server. */
static void look_at_tsgs(struct gs_mps_pool *p)
{
	CLEANUP_JSON json_t *answer = NULL;
	const json_t *tsgs;
	char target[32];

	snprintf(target, sizeof(target), "uid:%u", geteuid());
	if (!p->nmembers ||
	    gs_mps_place_daemon("list", json_pack("{s:s}", "target", target), &answer, NULL))
		return;
	tsgs = json_object_get(answer, "tsgs");
	check_batch(p, tsgs);
	check_members(p, tsgs);
}

/* ---- its life -------------------------------------------------------------------------------- */

/*
 * True if the server lives. A server that was killed counts as dead even while it still exists,
 * which it does until its GPU contexts are freed.
 */
static bool server_lives(const struct gs_mps_pool *p)
{
	return p->server && gs_process_same(gs_proc_start_ns(p->server), p->server_start_ns) &&
	       gs_proc_has_life(p->server);
}

static void take_server(struct gs_mps_pool *p, pid_t pid)
{
	if (p->server_fd >= 0)
		close(p->server_fd);
	p->server = pid;
	p->server_fd = pid ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	p->server_start_ns = pid ? gs_proc_start_ns(pid) : 0;
	p->server_class[0] = '\0';
	p->told_batch = false;
}

/* Waits for STEP_NS and returns true; returns false at once if it is past @until. */
static bool step(uint64_t until)
{
	if (gs_now_ns() >= until)
		return false;
	gs_sleep_ns(STEP_NS);
	return true;
}

/* True if a control daemon runs, even if it hangs. */
static bool is_answered(void)
{
	char text[256];
	int r = gs_mps_control_ask(text, sizeof(text), "get_server_list");

	return r != -ESRCH && r != -ENOENT;
}

/* Ends a control daemon that an earlier supervisor left, since we could not tell it from ours. */
static int end_leftover(const struct gs_mps_pool *p, struct gs_error *err)
{
	char text[256];
	uint64_t until = gs_now_ns() + 10 * NS_PER_S;

	if (!is_answered())
		return 0;
	gs_mps_control_ask(text, sizeof(text), "quit -t 1");
	do
		if (!is_answered())
			return 0;
	while (step(until));
	return gs_fail(err, -EBUSY,
		       "an MPS control daemon that nobody watches answers in %s/pipe, and does not "
		       "end: kill it",
		       p->place.dir);
}

static int start_control(struct gs_mps_pool *p, struct gs_error *err)
{
	uint64_t until = gs_now_ns() + START_NS;
	char text[256];
	int r = end_leftover(p, err);

	if (!r)
		r = gs_mps_keeper_start(&p->place, &p->keeper, err);
	while (!r && gs_mps_control_ask(text, sizeof(text), "get_server_list"))
		if (gs_mps_keeper_is_gone(&p->keeper) || !step(until))
			return gs_fail(err, -EIO,
				       "the MPS control daemon does not start: see %s/log",
				       p->place.dir);
	return r;
}

static void look_for_server(struct gs_mps_pool *p)
{
	pid_t pid = 0, was = p->server;

	if (gs_mps_keeper_is_gone(&p->keeper)) {
		if (was || p->nclients)
			gs_mps_say(p, "the pool's MPS control daemon has ended: programs in the "
				      "pool fail. A new one starts with the next program");
		take_server(p, 0);
		p->nclients = 0;
		return;
	}
	if (server_lives(p))
		return;
	if (was) {
		gs_mps_say(p,
			   "the MPS server %d has ended: programs that were in it fail. A new one "
			   "starts with the next program",
			   (int)was);
		take_server(p, 0);
		p->nclients = 0;
	}
	if (!gs_mps_control_server(&pid) && pid && gs_proc_has_life(pid))
		/* the control daemon has started a server for a client */
		take_server(p, pid);
}

/* Waits until a killed server has ended: until then it is listed, and no new server starts. */
static int await_end(void)
{
	uint64_t until = gs_now_ns() + END_NS;
	pid_t pid = 0;
	int r;

	do
		r = gs_mps_control_server(&pid);
	while (!r && pid && !gs_proc_has_life(pid) && step(until));
	return r;
}

static int start_server(struct gs_mps_pool *p, struct gs_error *err)
{
	uint64_t until;
	char text[256] = "";
	pid_t pid = 0;
	int r = await_end();

	/* older versions do not know this command, and may not report that */
	if (!r)
		gs_mps_control_ask(text, sizeof(text), "start_server -uid %u", geteuid());
	until = gs_now_ns() + (text[0] ? OLD_NS : START_NS);
	while (!r && !(r = gs_mps_control_server(&pid)) && !pid && step(until))
		;
	if (r || (!pid && !text[0]))
		return gs_fail(err, -EIO, "the MPS server does not start: see %s/log",
			       p->place.dir);
	take_server(p, pid);
	return 0;
}

/*
 * Registers the server for the first time. If the user may not have the class, the daemon refuses
 * now, before any program works in the server.
 */
static int enlist(struct gs_mps_pool *p, struct gs_error *err)
{
	uint64_t until = gs_now_ns() + START_NS;
	int r;

	while ((r = tell_daemon(p, err)) == -EBUSY && step(until))
		*err = (struct gs_error){ 0 };
	return r;
}

static int make_ready(struct gs_mps_pool *p, struct gs_error *err)
{
	int r = 0;

	look_for_server(p);
	if (gs_mps_keeper_is_gone(&p->keeper))
		r = start_control(p, err);
	if (!r && !p->server)
		r = start_server(p, err);
	if (!r && p->server && !p->server_class[0])
		r = enlist(p, err);
	return r;
}

int gs_mps_server_ready(struct gs_mps_pool *p, struct gs_error *err)
{
	int r = -ENOENT;

	/* repeat after -ENOENT: the server has ended again */
	for (int i = 0; i < READY_TRIES && r == -ENOENT; i++) {
		*err = (struct gs_error){ 0 };
		r = make_ready(p, err);
	}
	if (r)
		gs_mps_server_end(p);
	return r;
}

void gs_mps_server_end(struct gs_mps_pool *p)
{
	gs_mps_probe_end(p);
	p->suspect = p->tainted = false;
	if (p->server)
		gs_mps_place_daemon("pool_end", json_pack("{s:i}", "server", (int)p->server), NULL,
				    NULL);
	gs_mps_keeper_end(&p->keeper);
	take_server(p, 0);
	p->nclients = 0;
}

static bool same_clients(const struct gs_mps_pool *p, const pid_t *clients, size_t n)
{
	return n == p->nclients && !memcmp(clients, p->clients, n * sizeof(*clients));
}

void gs_mps_server_tell(struct gs_mps_pool *p)
{
	keep_registered(p, true);
}

void gs_mps_server_look(struct gs_mps_pool *p)
{
	pid_t clients[GS_MPS_CLIENTS];
	bool changed = false;
	size_t n = 0;

	look_for_server(p);
	if (p->server && !gs_mps_control_clients(p->server, clients, &n)) {
		for (size_t i = 0; i < n; i++) /* leave out the probe, which is ours */
			if (p->probe && clients[i] == p->probe)
				clients[i--] = clients[--n];
		changed = !same_clients(p, clients, n);
		memcpy(p->clients, clients, sizeof(clients));
		p->nclients = n;
		for (size_t i = 0; i < p->nmembers; i++)
			p->tainted |= gs_mps_member_take(&p->members[i], clients, n);
	}
	keep_registered(p, changed || !p->server_class[0]);
	look_at_tsgs(p);
}
