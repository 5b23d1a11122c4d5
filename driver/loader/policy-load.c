// SPDX-License-Identifier: MIT
/*
 * policy-load OBJECT - loads a policy for gpusched.ko, and keeps it until SIGINT or SIGTERM
 *
 * A program of its own, since struct_ops of modules need libbpf 1.4, and Debian 12 has 1.1. Every
 * struct_ops map of the object is attached. Needs root. Prints "policy NAME runs" when it does.
 * Exit status: 0 ended by a signal; 1 not loaded, with the words of libbpf and the verifier.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include <bpf/libbpf.h>

#define LINKS_MAX 8

static int attach(struct bpf_object *object, struct bpf_link *links[LINKS_MAX])
{
	struct bpf_map *map;
	int n = 0;

	bpf_object__for_each_map(map, object) {
		if (bpf_map__type(map) != BPF_MAP_TYPE_STRUCT_OPS || n == LINKS_MAX)
			continue;
		links[n] = bpf_map__attach_struct_ops(map);
		if (!links[n]) {
			fprintf(stderr, "policy-load: %s: %s\n", bpf_map__name(map),
				errno == EBUSY       ? "another policy runs"
				: errno == EPERM     ? "not permitted (CAP_SYS_ADMIN)"
				: errno == ECANCELED ? "its init() refused"
						     : strerror(errno));
			return -1;
		}
		printf("policy %s runs\n", bpf_map__name(map));
		n++;
	}
	if (!n)
		fprintf(stderr, "policy-load: the object has no struct_ops map\n");
	return n;
}

int main(int argc, char **argv)
{
	struct bpf_link *links[LINKS_MAX] = { 0 };
	struct bpf_object *object;
	sigset_t ends;
	int n, got;

	if (argc != 2) {
		fprintf(stderr, "usage: policy-load OBJECT\n");
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	sigemptyset(&ends);
	sigaddset(&ends, SIGINT);
	sigaddset(&ends, SIGTERM);
	sigprocmask(SIG_BLOCK, &ends, NULL);
	object = bpf_object__open_file(argv[1], NULL);
	if (!object || bpf_object__load(object)) {
		fprintf(stderr, "policy-load: %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	n = attach(object, links);
	if (n > 0)
		sigwait(&ends, &got);
	for (int i = 0; i < LINKS_MAX; i++)
		bpf_link__destroy(links[i]);
	bpf_object__close(object);
	return n > 0 ? 0 : 1;
}
