// SPDX-License-Identifier: MIT
/* types.c - policies as the kernel's struct_ops has them: taken, exchanged under their link, refused */
#include "program.h"

#include <errno.h>
#include <string.h>

#include <bpf/libbpf.h>

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
	pass(runs("second"), "and runs");
	pass(bpf_link__update_map(link, map("nameless")) < 0 && runs("second"),
	     "one that is refused does not");
	bpf_link__destroy(link);
	pass(runs(""), "its link gone, none runs");
	bpf_object__close(object);
}
