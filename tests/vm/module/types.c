// SPDX-License-Identifier: MIT
/* types.c - check policies as struct_ops: accepted, replaced under their link, refused */
#include "program.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define T 0x5c000080u

static struct bpf_object *object;
static int node;

static struct bpf_map *map(const char *name)
{
	return bpf_object__find_map_by_name(object, name);
}

static int refusal(const char *name)
{
	struct bpf_link *link = bpf_map__attach_struct_ops(map(name));

	if (!link)
		return -errno;
	bpf_link__destroy(link);
	return 0;
}

static bool runs(const char *name)
{
	struct gpusched_module_about about;

	return !node_about(node, &about) && !strcmp(about.policy, name);
}

/* late_data of types.bpf.c: whether the callback has begun, and whether it is to end. */
struct late {
	int entered, leave;
};
static struct program p;

static void *tell(void *nothing)
{
	node_tell(node, &p, T, 1);
	return nothing;
}

/* A policy's callback still runs when another policy replaces it. */
static void replaced(void)
{
	int data = bpf_map__fd(map(".bss")), zero = 0;
	struct gpusched_module_about about;
	struct bpf_link *link;
	struct late late = { 0 };
	pthread_t thread;

	p = program_new();
	tsg_new(&p, T, 1);
	node_keep(node);
	link = bpf_map__attach_struct_ops(map("late"));
	if (!link || pthread_create(&thread, NULL, tell, NULL))
		die("late");
	for (int i = 0; i < PATIENCE_S * 100 && !late.entered; i++) {
		usleep(10000);
		bpf_map_lookup_elem(data, &zero, &late);
	}
	is(late.entered, 1, "a callback of a policy runs");
	is(bpf_link__update_map(link, map("second")), 0, "another policy takes its place");
	late.leave = 1;
	bpf_map_update_elem(data, &zero, &late, 0);
	pthread_join(thread, NULL);
	sleep(1);
	node_about(node, &about);
	pass(runs("second") && !about.exit_kind,
	     "a callback that took too long is not held against the other policy");
	bpf_link__destroy(link);
}

void suite_types(void)
{
	struct bpf_link *link;

	node = node_open();
	object = bpf_object__open_file("types.bpf.o", NULL);
	if (!object || bpf_object__load(object))
		die("types.bpf.o");
	is(refusal("nameless"), -EINVAL, "a policy without a name: EINVAL");
	is(refusal("patient"), -ERANGE, "a timeout of more than 5 s: ERANGE");
	link = bpf_map__attach_struct_ops(map("first"));
	pass(link && runs("first"), "the first policy runs");
	is(refusal("second"), -EBUSY, "a second one beside it: EBUSY");
	is(bpf_link__update_map(link, map("second")), 0, "it takes the first one's place");
	pass(runs("second"), "the second policy runs");
	pass(bpf_link__update_map(link, map("nameless")) < 0 && runs("second"),
	     "one that is refused does not");
	bpf_link__destroy(link);
	pass(runs(""), "its link gone, none runs");
	replaced();
	bpf_object__close(object);
}
