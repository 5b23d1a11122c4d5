// SPDX-License-Identifier: MIT
#include "mps/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "mps/pool.h"
#include "process/process.h"

#define IDLE_DEFAULT_US 60000000ull
#define LOOK_NS (2 * NS_PER_S)
#define LOOK_SOON_NS (250 * NS_PER_MS) /* pause while a program is about to arrive */
#define SOON_FOR_NS (20 * NS_PER_S)
/* If a program has neither become a client nor ended in this time, the server may hang. */
#define HANG_NS (15 * NS_PER_S)
/* Least time between probes for clients with an unknown exit status, which may end often. */
#define TAINTED_NS (30 * NS_PER_S)
#define START_MS 60000
#define MAX_CONTEXTS 60 /* NVIDIA's limit for one MPS server on one GPU */

static volatile sig_atomic_t ending;

static void on_signal(int sig)
{
	ending = sig;
}

static uint64_t idle_limit_ns(void)
{
	const char *text = getenv("GPUSCHED_POOL_IDLE");
	uint64_t us = IDLE_DEFAULT_US;

	if (text && gs_parse_us(text, 1000, 86400000000ull, &us, NULL))
		us = IDLE_DEFAULT_US;
	return us * NS_PER_US;
}

/* ---- members --------------------------------------------------------------------------------- */

static void refuse(struct gs_mps_member *m, int code, const char *text)
{
	struct gs_mps_message no = { .op = GS_MPS_REFUSED, .number = code };

	snprintf(no.text, sizeof(no.text), "%s", text);
	gs_mps_link_send(m->sock, &no);
}

/*
 * Refuses a program with other GPUs than the pool's, or of another class (except in a shared
 * server), or if the server is full.
 */
static int check(const struct gs_mps_pool *p, const struct gs_mps_member *m, const char *gpus,
		 struct gs_error *err)
{
	if (!gs_mps_place_same_gpus(gpus, p->gpus))
		return gs_fail(err, -ENOTSUP,
			       "%s %s has the GPUs %.200s, and this program wants %.200s: give it "
			       "another name (--%s=NAME)",
			       gs_mps_place_kind(&p->place), p->place.name, p->gpus, gpus,
			       gs_mps_place_kind(&p->place));
	if (!p->place.share && strcmp(m->class_name, p->class_name))
		return gs_fail(
			err, -ENOTSUP,
			"pool %s is of class %s: one of class %s needs another name (--pool=NAME)",
			p->place.name, p->class_name, m->class_name);
	if (p->nclients >= MAX_CONTEXTS)
		return gs_fail(err, -ENOTSUP,
			       "%s %s has %zu programs already: an MPS server takes %d contexts",
			       gs_mps_place_kind(&p->place), p->place.name, p->nclients,
			       MAX_CONTEXTS);
	return 0;
}

/* Lets a program in. Do not call this while the server is probed. */
static void let_in(struct gs_mps_pool *p, struct gs_mps_member *m)
{
	struct gs_mps_message yes = { .op = GS_MPS_IN };
	struct gs_error err = { 0 };
	int r = gs_mps_server_ready(p, &err);

	m->waits = false;
	if (r) {
		refuse(m, r, err.text);
		return;
	}
	yes.number = p->server;
	snprintf(yes.word, sizeof(yes.word), "%s", p->server_class);
	gs_mps_server_tell(p); /* first: the daemon must know the program before it starts */
	m->in = true;
	m->since_ns = gs_now_ns();
	p->look_ns = 0;
	gs_mps_link_send(m->sock, &yes);
}

static void join(struct gs_mps_pool *p, struct gs_mps_member *m, const struct gs_mps_message *say)
{
	struct gs_error err = { 0 };
	int r;

	m->run = say->pid;
	snprintf(m->class_name, sizeof(m->class_name), "%s", say->word);
	gs_mps_server_look(
		p); /* a program may have ended just now: its server may take no new one */
	p->suspect |= p->tainted;
	r = check(p, m, say->text, &err);
	if (r)
		refuse(m, r, err.text);
	else if (p->probe || p->suspect)
		m->waits = true;
	else
		let_in(p, m);
}

/*
 * Called when a program has ended. If the program failed, it may have left work on the GPU, so the
 * server is probed before another program is let in.
 */
static void left(struct gs_mps_pool *p, struct gs_mps_member *m, int status)
{
	struct gs_mps_message done = { .op = GS_MPS_DONE };
	bool failed = !WIFEXITED(status) || WEXITSTATUS(status);

	if (failed)
		gs_mps_server_look(p); /* the program may have failed because the server ended */
	if (m->in && !m->outside && failed)
		p->suspect = true;
	m->in = false;
	gs_mps_link_send(m->sock, &done);
}

static void stop(struct gs_mps_pool *p, struct gs_mps_member *m)
{
	struct gs_mps_message done = { .op = GS_MPS_DONE };

	gs_mps_server_look(p);
	gs_mps_member_terminate(p->server, m);
	gs_mps_link_send(m->sock, &done);
}

/*
 * Called when the member's `gpusched run` has died: takes the program's work off the GPU, then
 * kills the program.
 */
static void abandon(struct gs_mps_pool *p, struct gs_mps_member *m)
{
	if (!m->in)
		return;
	gs_mps_server_look(p); /* the program may have become a client just now */
	gs_mps_member_terminate(p->server, m);
	gs_mps_member_kill(m);
	p->suspect |= !m->outside;
}

/* True if the server has clients, such as a descendant that a program left behind. */
static bool has_clients(const struct gs_mps_pool *p)
{
	for (size_t i = 0; i < p->nclients; i++)
		if (gs_proc_start_ns(p->clients[i]))
			return true;
	return false;
}

/* Handles GS_MPS_END: ends the pool, or refuses if programs are in it or about to join. */
static void end_if_empty(struct gs_mps_pool *p, struct gs_mps_member *asks)
{
	bool empty = !p->probe && !has_clients(p);

	for (size_t i = 0; i < p->nmembers; i++)
		empty &= !p->members[i].run;
	if (empty)
		ending = 1;
	else
		refuse(asks, -EBUSY, "programs are in the pool");
}

static void hear(struct gs_mps_pool *p, size_t i)
{
	struct gs_mps_member *m = &p->members[i];
	struct gs_mps_message say;

	if (gs_mps_link_receive(m->sock, &say, 0)) {
		abandon(p, m);
		close(m->sock);
		p->members[i] = p->members[--p->nmembers];
		p->look_ns = 0;
	} else if (say.op == GS_MPS_JOIN && !m->run) {
		join(p, m, &say);
	} else if (say.op == GS_MPS_STARTED) {
		m->child = say.pid;
		m->child_start_ns = gs_proc_start_ns(say.pid);
	} else if (say.op == GS_MPS_STOP) {
		stop(p, m);
	} else if (say.op == GS_MPS_LEFT) {
		left(p, m, say.number);
	} else if (say.op == GS_MPS_END && !m->run) {
		end_if_empty(p, m);
	}
}

static void greet(struct gs_mps_pool *p)
{
	int sock = gs_mps_link_accept(p->listen);

	if (sock < 0)
		return;
	if (p->nmembers == GS_MPS_MEMBERS) {
		struct gs_mps_member m = { .sock = sock };

		refuse(&m, -ENOTSUP, "64 programs wait for this pool or are in it already");
		close(sock);
		return;
	}
	p->members[p->nmembers++] = (struct gs_mps_member){ .sock = sock };
	p->had_members = true;
}

/* ---- the loop -------------------------------------------------------------------------------- */

/*
 * Requests a probe if a program has neither become a client nor ended, since it may hang while it
 * initializes CUDA. Each program causes this once.
 */
static void check_arrivals(struct gs_mps_pool *p, uint64_t now)
{
	p->suspect |= p->tainted && now >= p->probed_ns + TAINTED_NS;
	for (size_t i = 0; i < p->nmembers; i++) {
		struct gs_mps_member *m = &p->members[i];

		if (!m->in || m->seen || m->outside || !m->since_ns || now < m->since_ns + HANG_NS)
			continue;
		m->since_ns = 0;
		p->suspect = true;
	}
}

static bool is_soon(const struct gs_mps_pool *p, uint64_t now)
{
	for (size_t i = 0; i < p->nmembers; i++) {
		const struct gs_mps_member *m = &p->members[i];

		if (m->waits ||
		    (m->in && !m->seen && !m->outside && now < m->since_ns + SOON_FOR_NS))
			return true;
	}
	return p->probe || p->suspect;
}

/* True if the pool has no programs, and either its server has ended or the idle time is over. */
static bool is_idle(struct gs_mps_pool *p, uint64_t now, uint64_t limit)
{
	if (p->nmembers || p->probe || has_clients(p)) {
		p->idle_since_ns = 0;
		return false;
	}
	if (p->had_members && !p->keeper.pid)
		return true;
	if (!p->idle_since_ns)
		p->idle_since_ns = now;
	return now >= p->idle_since_ns + limit;
}

static void look(struct gs_mps_pool *p, uint64_t now)
{
	gs_mps_server_look(p);
	check_arrivals(p, now);
	gs_mps_probe_look(p);
	for (size_t i = 0; i < p->nmembers && !p->probe && !p->suspect; i++)
		if (p->members[i].waits)
			let_in(p, &p->members[i]);
	p->look_ns = gs_now_ns() + (is_soon(p, now) ? LOOK_SOON_NS : LOOK_NS);
}

static void serve(struct gs_mps_pool *p)
{
	struct pollfd f[2 + GS_MPS_MEMBERS];
	uint64_t limit = idle_limit_ns(), now = gs_now_ns();

	while (!ending && !is_idle(p, now, limit)) {
		size_t n = p->nmembers;
		uint64_t wait = p->look_ns > now ? p->look_ns - now : 0;

		if (p->idle_since_ns && wait > limit)
			wait = limit;
		f[0] = (struct pollfd){ .fd = p->listen, .events = POLLIN };
		f[1] = (struct pollfd){ .fd = p->server_fd, .events = POLLIN };
		for (size_t i = 0; i < n; i++)
			f[2 + i] = (struct pollfd){ .fd = p->members[i].sock, .events = POLLIN };
		if (poll(f, 2 + n, (int)(wait / NS_PER_MS)) > 0) {
			/* backwards: the last member takes the place of one that is removed */
			for (size_t i = n; i-- > 0;)
				if (f[2 + i].revents)
					hear(p, i);
			/* before greet(): members must hear first that the server has ended */
			if (f[1].revents)
				gs_mps_server_look(p);
			if (f[0].revents)
				greet(p);
		}
		now = gs_now_ns();
		if (now >= p->look_ns)
			look(p, now);
		now = gs_now_ns();
	}
}

/* Ends the pool. Removes the socket first, so that late programs start another supervisor. */
static void end(struct gs_mps_pool *p)
{
	char path[GS_MPS_DIR_MAX + 8];

	snprintf(path, sizeof(path), "%s/api", p->place.dir);
	unlink(path);
	gs_mps_say(
		p,
		"the pool's supervisor was told to end: its server ends, and programs in it fail");
	gs_mps_server_end(p);
	gs_mps_place_clear(&p->place, "pipe");
}

/* ---- start ----------------------------------------------------------------------------------- */

static void set_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGINT, &sa, NULL);
}

/* Runs in the supervisor's process, which init adopts. @ready: gets a struct gs_error at start. */
static void supervise(struct gs_mps_pool *p, int ready)
{
	struct gs_error err = { 0 };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	prctl(PR_SET_NAME, "gpusched-pool");
	set_signals();
	(void)!chdir("/");
	gs_mps_control_environment(&p->place, p->gpus);
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close_range(STDERR_FILENO + 1, (unsigned int)ready - 1, 0);
	close_range((unsigned int)ready + 1, UINT_MAX, 0);
	p->listen = gs_mps_control_check_gpus(p->gpus, &err) ? -1 : gs_mps_link_serve(&p->place);
	if (p->listen < 0)
		gs_fail(&err, -EIO, "no socket in %s: %s", p->place.dir, strerror(errno));
	(void)!write(ready, &err, sizeof(err));
	close(ready);
	if (p->listen >= 0)
		serve(p);
	end(p);
	_exit(0);
}

static int start(struct gs_mps_pool *p, struct gs_error *err)
{
	struct gs_error answer = { 0 };
	struct pollfd f;
	int ready[2];
	pid_t pid;

	if (pipe2(ready, O_CLOEXEC))
		return gs_fail(err, -errno, "no pipe: %s", strerror(errno));
	pid = fork();
	if (!pid) {
		if (!fork())
			supervise(p, ready[1]);
		_exit(0);
	}
	close(ready[1]);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	f = (struct pollfd){ .fd = ready[0], .events = POLLIN };
	if (pid < 0 || poll(&f, 1, START_MS) <= 0 ||
	    read(ready[0], &answer, sizeof(answer)) != (ssize_t)sizeof(answer))
		gs_fail(&answer, -EIO, "no supervisor could be started for this pool");
	close(ready[0]);
	return answer.code ? gs_fail(err, answer.code, "%s", answer.text) : 0;
}

int gs_mps_supervisor_start(const struct gs_mps_place *p, const char *gpus, const char *class_name,
			    struct gs_error *err)
{
	CLEANUP_FREE struct gs_mps_pool *pool = calloc(1, sizeof(*pool));
	char path[GS_MPS_DIR_MAX + 8];
	CLEANUP_FD int lock = -1;
	int sock;

	if (!pool)
		return gs_fail(err, -ENOMEM, "out of memory");
	snprintf(path, sizeof(path), "%s/lock", p->dir);
	lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock < 0 || flock(lock, LOCK_EX))
		return gs_fail(err, -errno, "%s: %s", path, strerror(errno));
	sock = gs_mps_link_connect(p); /* another program may have started a supervisor meanwhile */
	if (sock >= 0) {
		close(sock);
		return 0;
	}
	pool->place = *p;
	pool->keeper = (struct gs_mps_keeper)GS_MPS_NO_KEEPER;
	pool->server_fd = -1;
	snprintf(pool->gpus, sizeof(pool->gpus), "%s", gpus);
	snprintf(pool->class_name, sizeof(pool->class_name), "%s", class_name);
	return start(pool, err);
}
