// SPDX-License-Identifier: MIT
#include "policy/hooked.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/log.h"
#include "policy/host.h"

#define FOLDER "/usr/lib/gpusched/loader"
#define FIRST_FD 3
#define MAX_MAPS 96
#define LOAD_LIMIT_NS (60 * NS_PER_S)
#define ATTACH_LIMIT_NS (20 * NS_PER_S)
#define END_LIMIT_NS (10 * NS_PER_S)

/* A policy in the driver's hooks, and the program policy-load, which keeps it there. */
struct gs_hooked {
	char name[GS_POLICY_NAME_LEN];
	pid_t pid;   /* the program policy-load; 0: it has ended */
	int in, out; /* our ends of the program's standard input and output */
	bool runs;
	uint64_t attached_ns; /* when we told the program to attach the policy */
	char said[1024];      /* the end of its output */
};

/* ---- its program ----------------------------------------------------------------------------- */

static bool find(const char *file, char ret[PATH_MAX])
{
	const char *folder = getenv("GPUSCHED_LOADER");
	char path[PATH_MAX];

	snprintf(path, sizeof(path), FOLDER "/%s", file);
	if (folder)
		snprintf(ret, PATH_MAX, "%s/%s", folder, file);
	else
		gs_beside_installed(path, ret, PATH_MAX);
	return !access(ret, R_OK);
}

int gs_hooked_found(struct gs_error *err)
{
	char path[PATH_MAX];

	return find("policy-load", path) && find("glue.bpf.o", path)
		       ? 0
		       : gs_fail(err, -ENOTSUP,
				 "no %s: what loads policies into the driver's hooks is not "
				 "installed (make -C driver/loader install)",
				 path);
}

struct start {
	posix_spawn_file_actions_t actions;
	char *argv[2 * MAX_MAPS + 4];
	char maps[MAX_MAPS][64]; /* NAME=FD */
	int fds[MAX_MAPS], n, argc;
};

/* Hands @fd to the child, under the next number from FIRST_FD on. */
static int hand_over(struct start *s, int fd)
{
	/* above all numbers that the child uses, so that no later dup2() overwrites it */
	int high = fcntl(fd, F_DUPFD_CLOEXEC, FIRST_FD + MAX_MAPS + 1);

	if (high < 0)
		return -errno;
	s->fds[s->n++] = high;
	return -posix_spawn_file_actions_adddup2(&s->actions, high, FIRST_FD + s->n - 1);
}

static int hand_over_maps(struct start *s, const struct gs_policy *p)
{
	struct bpf_map *map;
	int r = 0;

	bpf_object__for_each_map(map, p->loaded.obj) {
		const char *name = bpf_map__name(map);
		/* for a section's map, libbpf puts the object's name before the section's */
		const char *section = strchr(name, '.');

		if (r || s->n == MAX_MAPS - 1)
			return r ? r : -E2BIG;
		snprintf(s->maps[s->n], sizeof(s->maps[0]), "%.48s=%d", section ? section : name,
			 FIRST_FD + s->n);
		s->argv[s->argc++] = (char *)(uintptr_t) "-m";
		s->argv[s->argc++] = s->maps[s->n];
		r = hand_over(s, bpf_map__fd(map));
	}
	return r;
}

/*
 * Hands over the pipes. This comes before the maps, which in the child may get the numbers that the
 * pipes have here.
 */
static int hand_over_pipes(struct start *s, int in, int out)
{
	int r = posix_spawn_file_actions_adddup2(&s->actions, in, STDIN_FILENO);

	if (!r)
		r = posix_spawn_file_actions_adddup2(&s->actions, out, STDOUT_FILENO);
	if (!r)
		r = posix_spawn_file_actions_adddup2(&s->actions, out, STDERR_FILENO);
	return -r;
}

static int spawn(struct gs_hooked *h, struct start *s)
{
	posix_spawnattr_t attr;
	sigset_t none;
	int r;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	r = posix_spawn(&h->pid, s->argv[0], &s->actions, &attr, s->argv, environ);
	posix_spawnattr_destroy(&attr);
	return -r;
}

static int start_with(struct gs_hooked *h, const struct gs_policy *p, struct start *s)
{
	char program[PATH_MAX], glue[PATH_MAX], object[64], log[512];
	CLEANUP_FD int linked = -1, in = -1, out = -1;
	int a[2], b[2], r;

	if (!find("policy-load", program) || !find("glue.bpf.o", glue))
		return -ENOENT;
	s->argv[s->argc++] = program;
	if (pipe2(a, O_CLOEXEC))
		return -errno;
	in = a[0];
	h->in = a[1];
	if (pipe2(b, O_CLOEXEC))
		return -errno;
	out = b[1];
	h->out = b[0];
	r = hand_over_pipes(s, in, out);
	if (!r)
		r = gs_policy_link(&p->obj, &linked, log, sizeof(log));
	if (!r)
		r = hand_over_maps(s, p);
	snprintf(object, sizeof(object), "/proc/self/fd/%d", FIRST_FD + s->n);
	s->argv[s->argc++] = object;
	s->argv[s->argc++] = glue;
	if (!r)
		r = hand_over(s, linked);
	return r ? r : spawn(h, s);
}

static int start(struct gs_hooked *h, const struct gs_policy *p)
{
	CLEANUP_FREE struct start *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	posix_spawn_file_actions_init(&s->actions);
	r = start_with(h, p, s);
	posix_spawn_file_actions_destroy(&s->actions);
	for (int i = 0; i < s->n; i++)
		close(s->fds[i]);
	return r;
}

/* ---- its output ------------------------------------------------------------------------------ */

/*
 * Reads the program's output into @said. 0: the output contains @word; -EAGAIN: not yet; -ECHILD:
 * the program has ended.
 */
static int read_some(struct gs_hooked *h, const char *word, int wait_ms)
{
	struct pollfd out = { .fd = h->out, .events = POLLIN };
	size_t at = strlen(h->said);
	ssize_t n;

	if (poll(&out, 1, wait_ms) <= 0)
		return -EAGAIN;
	if (at == sizeof(h->said) - 1) { /* the buffer is full: keep the end of the output */
		at /= 2;
		memmove(h->said, h->said + sizeof(h->said) - 1 - at, at);
	}
	n = read(h->out, h->said + at, sizeof(h->said) - 1 - at);
	if (n <= 0)
		return -ECHILD;
	h->said[at + (size_t)n] = '\0';
	return strstr(h->said, word) ? 0 : -EAGAIN;
}

static int wait_until_loaded(struct gs_hooked *h)
{
	uint64_t end = gs_now_ns() + LOAD_LIMIT_NS;
	int r = -EAGAIN;

	while (r == -EAGAIN && gs_now_ns() < end)
		r = read_some(h, " is loaded\n", 100);
	return r == -EAGAIN ? -ETIME : r;
}

/* Returns the last line of the program's output. */
static const char *last_words(struct gs_hooked *h)
{
	size_t n = strlen(h->said);
	char *line;

	while (n && h->said[n - 1] == '\n')
		h->said[--n] = '\0';
	line = strrchr(h->said, '\n');
	line = line ? line + 1 : h->said;
	return *line ? line : "it has said nothing";
}

/* ---- its life -------------------------------------------------------------------------------- */

int gs_hooked_new(const struct gs_policy *p, struct gs_hooked **ret,
		  struct gs_policy_exit *ret_exit, struct gs_error *err)
{
	struct gs_hooked *h = calloc(1, sizeof(*h));
	int r;

	if (!h)
		return gs_fail(err, -ENOMEM, "out of memory");
	h->in = h->out = -1;
	snprintf(h->name, sizeof(h->name), "%s", p->info.name);
	r = start(h, p);
	if (!r)
		r = wait_until_loaded(h);
	if (r == -ECHILD || r == -ETIME)
		r = gs_exit_fill(ret_exit, err, GS_POLICY_EXIT_VERIFIER, -EPROTO, h->name,
				 strdup(h->said), "policy %s cannot be loaded into the hooks: %s",
				 h->name, r == -ETIME ? "it takes too long" : last_words(h));
	else if (r)
		r = gs_fail(err, r, "policy %s: policy-load cannot be started: %s", h->name,
			    strerror(-r));
	if (r)
		gs_hooked_free(h);
	else
		*ret = h;
	return r;
}

void gs_hooked_attach(struct gs_hooked *h)
{
	h->said[0] = '\0';
	h->attached_ns = gs_now_ns();
	if (write(h->in, "\n", 1) != 1)
		/* gs_hooked_state() reports the failure */
		gs_log(LOG_DEBUG, "policy-load: %s", strerror(errno));
}

int gs_hooked_state(struct gs_hooked *h, struct gs_error *err)
{
	int r = h->runs ? 0 : read_some(h, " runs\n", 0);

	h->runs |= !r;
	if (!h->runs && r == -EAGAIN && gs_now_ns() < h->attached_ns + ATTACH_LIMIT_NS)
		return 0;
	if (!h->runs)
		return gs_fail(err, r == -EAGAIN ? -ETIME : r,
			       "policy %s cannot run in the driver's hooks: %s", h->name,
			       r == -EAGAIN ? "it takes too long" : last_words(h));
	if (waitpid(h->pid, NULL, WNOHANG) != h->pid)
		return 1;
	h->pid = 0;
	return gs_fail(err, -ECHILD,
		       "policy %s: policy-load, which keeps it in the driver's hooks, has ended",
		       h->name);
}

/* Waits for the program in a thread: it ends only when the kernel has freed the policy. */
static void *reap(void *arg)
{
	pid_t pid = (pid_t)(intptr_t)arg;
	uint64_t end = gs_now_ns() + END_LIMIT_NS;

	while (!waitpid(pid, NULL, WNOHANG)) {
		if (gs_now_ns() > end)
			kill(pid, SIGKILL);
		gs_sleep_ns(20 * NS_PER_MS);
	}
	return NULL;
}

void gs_hooked_free(struct gs_hooked *h)
{
	pthread_t thread;

	if (!h)
		return;
	if (h->pid)
		kill(h->pid, SIGTERM);
	if (h->pid && !pthread_create(&thread, NULL, reap, (void *)(intptr_t)h->pid))
		pthread_detach(thread);
	if (h->in >= 0)
		close(h->in);
	if (h->out >= 0)
		close(h->out);
	free(h);
}
