// SPDX-License-Identifier: MIT
/*
 * callback.c - measure how many ns one callback of BPF struct_ops takes on this CPU
 *
 *   callback OBJECT
 *
 * A stand-in for the callbacks of gpusched.ko, which the test machines do not allow to be loaded. A
 * connected socket switches back and forth between two congestion controls of the same kind, and
 * the kernel calls init at each change. The cost of the callback is the time of a change minus that
 * of a change without init. Prints a line for that change, and one for each kind: its name,
 * and ns per callback in the fastest round. Needs root.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#define CALLS 1000
#define ROUNDS 1000
#define KINDS 3

static const char *const kinds[KINDS] = { "none", "empty", "counts" };

static int connected(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0), fd = socket(AF_INET, SOCK_STREAM, 0);

	if (bind(listener, (void *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (void *)&at, &len) || connect(fd, (void *)&at, len))
		return -1;
	return fd;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC_RAW, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Returns how many ns a change takes, or 0 when the kernel refuses it (errno says why). */
static double change(int fd, const char *kind)
{
	char name[2][16];
	uint64_t from;

	for (int i = 0; i < 2; i++)
		snprintf(name[i], sizeof(name[i]), "cb_%s_%c", kind, 'a' + i);
	from = now();
	for (int i = 0; i < CALLS; i++)
		if (setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name[i & 1],
			       (socklen_t)strlen(name[i & 1])))
			return 0;
	return (double)(now() - from) / CALLS;
}

static int attach(struct bpf_object *object, struct bpf_link **ret)
{
	struct bpf_map *map;
	int n = 0;

	bpf_object__for_each_map(map, object) {
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS)
			continue;
		ret[n] = bpf_map__attach_struct_ops(map);
		if (!ret[n++]) {
			fprintf(stderr, "callback: %s: %s\n", bpf_map__name(map), strerror(errno));
			return -1;
		}
	}
	return 0;
}

static int measure(int fd)
{
	double best[KINDS] = { 1e9, 1e9, 1e9 };

	for (int round = 0; round < ROUNDS; round++)
		for (int i = 0; i < KINDS; i++) {
			double ns = change(fd, kinds[i]);

			if (!ns) {
				fprintf(stderr, "callback: %s: %s\n", kinds[i], strerror(errno));
				return -1;
			}
			best[i] = ns < best[i] ? ns : best[i];
		}
	printf("change %.1f\n", best[0]);
	for (int i = 1; i < KINDS; i++)
		printf("%s %.1f\n", kinds[i], best[i] - best[0]);
	return 0;
}

int main(int argc, char **argv)
{
	struct bpf_link *links[KINDS * 2] = { NULL };
	struct bpf_object *object = argc > 1 ? bpf_object__open_file(argv[1], NULL) : NULL;
	int fd = connected(), r;

	if (!object || bpf_object__load(object) || fd < 0) {
		fprintf(stderr, "callback: %s\n", strerror(errno));
		return 1;
	}
	r = attach(object, links) || measure(fd);
	for (int i = 0; i < KINDS * 2; i++) /* these links outlive the program if not destroyed */
		bpf_link__destroy(links[i]);
	return r;
}
