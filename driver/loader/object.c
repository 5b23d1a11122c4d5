// SPDX-License-Identifier: MIT
/* object.c - reads what a policy's object declares, and sets its constants */
#include <errno.h>
#include <fcntl.h>
#include <libelf.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/btf.h>

#include "loader.h"
#include "task.h"

static Elf_Data *section(Elf *elf, const char *name)
{
	Elf_Scn *scn = NULL;
	GElf_Shdr head;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((scn = elf_nextscn(elf, scn)))
		if (gelf_getshdr(scn, &head) &&
		    !strcmp(elf_strptr(elf, names, head.sh_name) ?: "", name))
			return elf_getdata(scn, NULL);
	return NULL;
}

int loader_read(struct loader *l, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), r = -1;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ, NULL);
	if (elf) {
		Elf_Data *data = section(elf, "gpusched");

		if (data && data->d_buf && data->d_size == sizeof(l->desc)) {
			memcpy(&l->desc, data->d_buf, sizeof(l->desc));
			r = l->desc.magic == GPUSCHED_DESC_MAGIC &&
					    l->desc.abi == GPUSCHED_ABI_VERSION
				    ? 0
				    : -1;
		}
		elf_end(elf);
	}
	if (fd >= 0)
		close(fd);
	if (r)
		fprintf(stderr, "policy-load: %s is not a gpusched policy of ABI %u\n", path,
			GPUSCHED_ABI_VERSION);
	return r;
}

/*
 * Sets a constant of the object. -ENOENT: no such constant; -ERANGE: @value does not fit into it.
 */
static int put_constant(struct loader *l, const char *section_name, const char *name,
			uint64_t value)
{
	const struct btf *btf = bpf_object__btf(l->object);
	int id = btf__find_by_name_kind(btf, section_name, BTF_KIND_DATASEC);
	const struct btf_type *all = id < 0 ? NULL : btf__type_by_id(btf, (unsigned int)id);
	const struct btf_var_secinfo *var = all ? btf_var_secinfos(all) : NULL;
	struct bpf_map *map;
	char *memory = NULL;
	size_t size = 0;

	bpf_object__for_each_map(map, l->object)
		if (!strcmp(strchr(bpf_map__name(map), '.') ?: "", section_name))
			memory = bpf_map__initial_value(map, &size);
	for (int i = 0; memory && all && i < btf_vlen(all); i++, var++) {
		const struct btf_type *t = btf__type_by_id(btf, var->type);

		if (strcmp(btf__name_by_offset(btf, t->name_off), name))
			continue;
		if (var->size > sizeof(value) || var->offset + var->size > size ||
		    (var->size < sizeof(value) && value >> (var->size * 8)))
			return -ERANGE;
		memcpy(memory + var->offset, &value, var->size); /* little-endian, as BPF is */
		return 0;
	}
	return -ENOENT;
}

static int set_options(struct loader *l)
{
	for (int i = 0; i < l->noptions; i++) {
		char name[64] = "", *end = NULL;
		const char *eq = strchr(l->options[i], '=');
		uint64_t value = eq ? strtoull(eq + 1, &end, 0) : 0;

		if (eq)
			snprintf(name, sizeof(name), "%.*s", (int)(eq - l->options[i]),
				 l->options[i]);
		if (!eq || end == eq + 1 || *end || put_constant(l, ".rodata", name, value)) {
			fprintf(stderr,
				"policy-load: -o %s: no such option, or no number that fits\n",
				l->options[i]);
			errno = EINVAL;
			return -1;
		}
	}
	return 0;
}

/* Finds the daemon's map that replaces @name. Sections are compared only from the dot on. */
static const struct shared *shared_of(const struct loader *l, const char *name)
{
	const char *section_name = strchr(name, '.');

	for (int i = 0; i < l->nshared; i++)
		if (!strcmp(l->shared[i].name, section_name ?: name))
			return &l->shared[i];
	return NULL;
}

/* Replaces the object's maps by those of the daemon. */
static int share(struct loader *l)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, l->object) {
		const struct shared *s = shared_of(l, bpf_map__name(map));

		if (s && bpf_map__reuse_fd(map, s->fd)) {
			fprintf(stderr, "policy-load: map %s does not fit\n", s->name);
			return -1;
		}
	}
	return put_constant(l, ".rodata.module", "gs_beside", 1) ? -1 : 0;
}

int loader_prepare(struct loader *l)
{
	struct bpf_program *program;
	struct gpu_sched_ops *ops;
	struct bpf_map *map;
	size_t size;

	bpf_object__for_each_program(program, l->object)
		if (!strncmp(bpf_program__name(program), "gpusched_dispatch", 17) ||
		    (l->nshared && bpf_program__type(program) == BPF_PROG_TYPE_SYSCALL))
			/* the daemon runs its own copy of these programs */
			bpf_program__set_autoload(program, false);
	map = bpf_object__find_map_by_name(l->object, "gs_module");
	ops = map ? bpf_map__initial_value(map, &size) : NULL;
	if (!ops || size != sizeof(*ops)) {
		errno = ENOENT;
		return -1;
	}
	snprintf(ops->name, sizeof(ops->name), "%.15s", l->desc.name);
	ops->timeout_ms = l->desc.timeout_ms < 5000 ? l->desc.timeout_ms : 5000;
	if (l->nshared)
		return share(l);
	if (l->desc.flags & GPUSCHED_F_DENY && put_constant(l, ".rodata", "gs_may_deny", 1))
		return -1;
	return set_options(l);
}
