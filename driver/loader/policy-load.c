// SPDX-License-Identifier: MIT
/*
 * policy-load [-n] [-o OPTION=NUMBER]... [-p DIR] [-m MAP=FD]... OBJECT... - loads a policy for
 * gpusched.ko, keeps it until SIGINT or SIGTERM, and runs its tick
 *
 * One object is a policy that was written for struct gpu_sched_ops. Several objects are linked
 * first: a policy of gpusched's own kind, then glue_default, glue_stock and driver/loader's glue.
 *
 * This is a program of its own, since struct_ops of modules need libbpf 1.4, and Debian 12 has 1.1.
 * Needs root. Prints "policy NAME runs" once the policy runs.
 *  -n  another program runs the tick.
 *  -p  pins the policy's maps in DIR, and the programs for the tick, gpusched_run and
 *      gs_module_wish.
 *  -m  runs beside the daemon, which starts this program, passes its maps as descriptors, and runs
 *      the tick. policy-load then prints "policy NAME is loaded", and waits for a line on standard
 *      input before the policy runs. It ends with the daemon, or when the daemon closes that input.
 *
 * Exit status: 0 if a signal ended it. 1 if the policy was not loaded, with the messages of libbpf
 * and the verifier. 2 if the policy failed or its tick took too long, with the reason.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "loader.h"
#include "task.h"

/* True if the daemon has ended, or has closed the standard input of this program. */
static bool is_orphan(const struct loader *l)
{
	struct pollfd in = { .fd = STDIN_FILENO };

	return l->parent && (getppid() != l->parent || (poll(&in, 1, 0) > 0 && in.revents));
}

/* Attaches a policy. Beside the daemon, first waits until the previous policy has ended. */
static struct bpf_link *attach_one(struct loader *l, struct bpf_map *map)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map);

	for (int i = 0; !link && errno == EBUSY && l->parent && i < 1000 && !is_orphan(l); i++) {
		usleep(20000);
		link = bpf_map__attach_struct_ops(map);
	}
	return link;
}

static int attach(struct loader *l)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, l->object) {
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || l->nlinks == LINKS_MAX)
			continue;
		l->links[l->nlinks] = attach_one(l, map);
		if (!l->links[l->nlinks]) {
			int why = errno;

			if (l->state && tick_failed(l)) /* tick_failed() has printed why */
				return -1;
			errno = why;
			fprintf(stderr, "policy-load: %s: %s\n", bpf_map__name(map),
				errno == EBUSY       ? "another policy runs"
				: errno == EPERM     ? "not permitted (CAP_SYS_ADMIN)"
				: errno == ECANCELED ? "its init() refused"
						     : strerror(errno));
			return -1;
		}
		printf("policy %s runs\n", l->desc.magic ? l->desc.name : bpf_map__name(map));
		l->nlinks++;
	}
	if (!l->nlinks)
		fprintf(stderr, "policy-load: the object has no struct_ops map\n");
	return l->nlinks ? 0 : -1;
}

static void detach(struct loader *l)
{
	for (int i = 0; i < l->nlinks; i++)
		bpf_link__destroy(l->links[i]);
	l->nlinks = 0;
}

/* Links the objects into one, in memory. Returns its descriptor. */
static int join(char **paths, int n)
{
	int fd = memfd_create("policy", MFD_CLOEXEC), r = -1;
	struct bpf_linker *linker;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	linker = fd < 0 ? NULL : bpf_linker__new(path, NULL);
	for (int i = 0; linker && i < n; i++) {
		r = bpf_linker__add_file(linker, paths[i], NULL);
		if (r)
			break;
	}
	if (!r)
		r = bpf_linker__finalize(linker);
	bpf_linker__free(linker);
	return r ? -1 : fd;
}

static int load(struct loader *l, char **paths, int n)
{
	int fd = n > 1 ? join(paths, n) : -1;
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (n > 1 && (fd < 0 || loader_read(l, paths[0])))
		return -1;
	l->object = bpf_object__open_file(n > 1 ? path : paths[0], NULL);
	if (!l->object || (n > 1 && loader_prepare(l)) || bpf_object__load(l->object)) {
		fprintf(stderr, "policy-load: %s: %s\n", paths[0], strerror(errno));
		return -1;
	}
	return n > 1 && !l->nshared ? tick_open(l) : 0;
}

static void pin_path(const struct loader *l, const char *name, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/%s", l->pins, name);
}

static int pin(struct loader *l)
{
	char path[PATH_MAX];
	int r;

	if (!l->pins)
		return 0;
	r = bpf_object__pin_maps(l->object, l->pins);
	l->pinned = !r;
	for (int i = 0; !r && l->state && i < 2; i++) {
		pin_path(l, tick_programs[i], path);
		r = bpf_program__pin(bpf_object__find_program_by_name(l->object, tick_programs[i]),
				     path);
	}
	if (r)
		fprintf(stderr, "policy-load: -p %s: %s\n", l->pins, strerror(errno));
	return r;
}

static void unpin(struct loader *l)
{
	char path[PATH_MAX];

	for (int i = 0; i < 2; i++) {
		pin_path(l, tick_programs[i], path);
		unlink(path);
	}
	bpf_object__unpin_maps(l->object, l->pins);
	rmdir(l->pins);
}

/*
 * Waits until the policy ends. Returns 0 if a signal or the daemon ended it, 2 if the policy
 * failed.
 */
static int keep(struct loader *l, const sigset_t *ends)
{
	struct timespec now_and_then = { .tv_nsec = 100000000 };

	for (;;) {
		if (sigtimedwait(ends, NULL, &now_and_then) > 0 || is_orphan(l))
			return 0;
		if (l->state && tick_failed(l))
			return 2;
	}
}

/* Beside the daemon: waits until the daemon says that the policy shall run. */
static int wait_for_daemon(const struct loader *l)
{
	char line[8];

	if (!l->parent)
		return 0;
	printf("policy %s is loaded\n", l->desc.name);
	return fgets(line, sizeof(line), stdin) ? 0 : -1;
}

static int take_map(struct loader *l, char *text)
{
	char *eq = strchr(text, '='), *end = NULL;
	struct shared *s = &l->shared[l->nshared];

	if (!eq || l->nshared == SHARED_MAX)
		return -1;
	*eq = '\0';
	s->name = text;
	s->fd = (int)strtol(eq + 1, &end, 10);
	if (end == eq + 1 || *end)
		return -1;
	l->nshared++;
	l->no_tick = true;
	l->parent = getppid();
	return 0;
}

static int usage(void)
{
	fprintf(stderr, "usage: policy-load [-n] [-o OPTION=NUMBER]... [-p DIR] [-m MAP=FD]... "
			"OBJECT...\n");
	return 1;
}

int main(int argc, char **argv)
{
	struct loader l = { 0 };
	int r = 1, opt;
	sigset_t ends;

	while ((opt = getopt(argc, argv, "m:no:p:")) != -1) {
		if (opt == 'n')
			l.no_tick = true;
		else if (opt == 'o' && l.noptions < OPTIONS_MAX)
			l.options[l.noptions++] = optarg;
		else if (opt == 'p')
			l.pins = optarg;
		else if (opt == 'm' && !take_map(&l, optarg))
			continue;
		else
			return usage();
	}
	if (optind == argc)
		return usage();
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	if (!load(&l, argv + optind, argc - optind) && !wait_for_daemon(&l) && !attach(&l) &&
	    !pin(&l) && (!l.state || l.no_tick || !tick_start(&l)))
		r = keep(&l, &ends);
	detach(&l);
	if (l.state)
		tick_stop(&l);
	if (l.pinned)
		unpin(&l);
	if (r != 2) /* after a failure a round may still run, which uses the object */
		bpf_object__close(l.object);
	return r;
}
