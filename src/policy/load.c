// SPDX-License-Identifier: MIT
/*
 * load.c - sets options in a linked policy object, gives it the table's maps, and loads it
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "table/hush.h"
#include "launch/launch.h"
#include "policy/host.h"

#define LOG_SIZE (1u << 20)
#define DUMP_LINES 12
/*
 * Limit for the size of all of a policy's own maps together; bytes that the kernel adds to each
 * entry of a hash map.
 */
#define MAX_MAP_BYTES (64ull << 20)
#define HASH_ENTRY_BYTES 64
#define MAX_MAP_COUNTED (1ull << 56)

static int write_rodata(struct bpf_object *obj, const char *name, const void *value, size_t size)
{
	const struct btf *btf = bpf_object__btf(obj);
	const struct btf_var_secinfo *vi;
	const struct btf_type *sec;
	struct bpf_map *map, *rodata = NULL;
	unsigned char *mem;
	size_t len = 0;
	int id;

	bpf_object__for_each_map(map, obj) {
		const char *n = bpf_map__name(map), *dot = strchr(n, '.');

		if (dot && strcmp(dot, ".rodata") == 0)
			rodata = map;
	}
	id = btf__find_by_name_kind(btf, ".rodata", BTF_KIND_DATASEC);
	mem = rodata ? (void *)(uintptr_t)bpf_map__initial_value(rodata, &len) : NULL;
	if (id < 0 || !mem)
		return -ENOENT;
	sec = btf__type_by_id(btf, (unsigned int)id);
	vi = btf_var_secinfos(sec);
	for (unsigned int i = 0; i < btf_vlen(sec); i++) {
		const struct btf_type *var = btf__type_by_id(btf, vi[i].type);

		if (strcmp(btf__name_by_offset(btf, var->name_off), name))
			continue;
		if (vi[i].size != size || vi[i].offset + size > len)
			return -ERANGE;
		memcpy(mem + vi[i].offset, value, size);
		return 0;
	}
	return -ENOENT;
}

static int set_constants(struct gs_loaded *l, const struct gs_load_opts *opts, struct gs_error *err)
{
	const struct gs_policy_info *info = opts->info;
	uint32_t may_deny = info->flags & GPUSCHED_F_DENY;

	for (size_t i = 0; i < info->noptions; i++) {
		const struct gs_policy_option *o = &info->options[i];
		int r;

		if (o->value == o->def)
			continue;
		/* BPF is little-endian here: the low bytes hold the value */
		r = write_rodata(l->obj, o->name, &o->value, o->size);
		if (r < 0)
			return gs_fail(err, r, "option %s: not found in the object", o->name);
	}
	while (!l->generation) {
		if (getrandom(&l->generation, sizeof(l->generation), 0) < 0)
			return gs_fail(err, -errno, "no random number for the policy's mark");
		l->generation &= ~GS_GENERATION_CLAIM;
	}
	if (!opts->run_only) {
		uint32_t milli = (uint32_t)(gs_env()->dilate * 1000 + 0.5);
		int r = write_rodata(l->obj, "gs_dilate_milli", &milli, sizeof(milli));

		if (r < 0)
			return r;
	}
	if (opts->hooked) {
		const uint32_t yes = 1;
		int r = write_rodata(l->obj, "gs_in_hooks", &yes, sizeof(yes));

		if (r < 0)
			return r;
	}
	if (may_deny) {
		int r = write_rodata(l->obj, "gs_may_deny", &may_deny, sizeof(may_deny));

		if (r < 0)
			return r;
	}
	return write_rodata(l->obj, "gs_generation", &l->generation, sizeof(l->generation));
}

/* Returns an upper bound for the map's size, capped so that sums of sizes do not overflow. */
static uint64_t map_bytes(const struct bpf_map *map)
{
	bool hash = bpf_map__type(map) == BPF_MAP_TYPE_HASH;
	uint64_t entry = (uint64_t)bpf_map__value_size(map) + 7;

	if (hash)
		entry += (uint64_t)bpf_map__key_size(map) + 7 + HASH_ENTRY_BYTES;
	if (entry > MAX_MAP_COUNTED >> 32)
		return MAX_MAP_COUNTED;
	return bpf_map__max_entries(map) * entry;
}

/* Finds faults for which the kernel would return only an error number. */
static int vet_map(const struct bpf_map *map, char *why, size_t size)
{
	const char *name = bpf_map__name(map);
	enum bpf_map_type type = bpf_map__type(map);

	if (bpf_map__pin_path(map))
		snprintf(why, size, "a pinned map '%s'", name);
	else if (type != BPF_MAP_TYPE_HASH && type != BPF_MAP_TYPE_ARRAY)
		snprintf(why, size, "map '%s' of type %s: HASH and ARRAY are offered", name,
			 libbpf_bpf_map_type_str(type));
	else if (!bpf_map__max_entries(map))
		snprintf(why, size, "map '%s' of no entries", name);
	else if (type == BPF_MAP_TYPE_ARRAY && bpf_map__key_size(map) != sizeof(uint32_t))
		snprintf(why, size, "map '%s': the key of an ARRAY is gs_u32", name);
	else
		return 0;
	return -EINVAL;
}

/* Replaces maps by the table's maps of the same name, and checks the policy's own maps. */
static int prepare_maps(struct gs_loaded *l, const struct gs_load_opts *opts, char *why,
			size_t size)
{
	uint64_t bytes = 0;
	struct bpf_map *map;

	bpf_object__for_each_map(map, l->obj) {
		const char *name = bpf_map__name(map);
		int fd, r;

		if (strncmp(name, "gs_", 3) == 0) {
			bpf_map__set_pin_path(map, NULL);
			fd = opts->o ? gs_table_map_fd(opts->o, name) : -1;
			r = fd >= 0 ? bpf_map__reuse_fd(map, fd) : 0;
			/* in the sim, walks must have the same order in each run: no random seed */
			if (opts->run_only && bpf_map__type(map) == BPF_MAP_TYPE_HASH)
				bpf_map__set_map_flags(map,
						       bpf_map__map_flags(map) | BPF_F_ZERO_SEED);
			if (r < 0) {
				snprintf(why, size, "map %s of the table does not fit: %s", name,
					 strerror(-r));
				return r;
			}
			continue;
		}
		if (bpf_map__is_internal(map))
			continue;
		r = vet_map(map, why, size);
		if (r < 0)
			return r;
		bytes += map_bytes(map);
	}
	if (bytes <= MAX_MAP_BYTES)
		return 0;
	snprintf(why, size, "maps of %llu MiB in all: at most %llu MiB",
		 (unsigned long long)(bytes >> 20), MAX_MAP_BYTES >> 20);
	return -EINVAL;
}

/* Returns the end of the log, where the verifier says what it refuses. */
static char *tail(const char *log)
{
	const char *p = log + strlen(log);
	int lines = 0;

	while (p > log) {
		if (p[-1] == '\n' && ++lines > DUMP_LINES)
			break;
		p--;
	}
	return *p ? strdup(p) : NULL;
}

/* True for lines that do not say what is wrong: states, source lines, instructions. */
static bool is_trace(const char *line)
{
	return *line == ';' || (*line >= '0' && *line <= '9') ||
	       strncmp(line, "cur state", 9) == 0 || strncmp(line, "old state", 9) == 0 ||
	       strncmp(line, "mark_precise", 12) == 0;
}

/*
 * Finds the log's last message: the last line before the verifier's statistics that is no trace.
 */
static void last_words(const char *log, char *ret, size_t size)
{
	const char *end = strstr(log, "processed "), *p;

	*ret = '\0';
	for (p = end; p && p > log;) {
		end = p - 1;
		for (p = end; p > log && p[-1] != '\n'; p--)
			;
		if (is_trace(p) || p == end)
			continue;
		snprintf(ret, size, "%.*s", (int)(end - p), p);
		return;
	}
}

static int find_programs(struct gs_loaded *l, const struct gs_load_opts *opts)
{
	struct bpf_program *p;

	l->dispatch_fd = -1;
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch");
	if (p && !opts->run_only)
		l->dispatch_fd = bpf_program__fd(p);
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch_work");
	l->work_fd = p && bpf_program__autoload(p) ? bpf_program__fd(p) : -1;
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch_gate");
	l->gate_fd = p && bpf_program__autoload(p) ? bpf_program__fd(p) : -1;
	p = bpf_object__find_program_by_name(l->obj, "gpusched_run");
	l->run_fd = p ? bpf_program__fd(p) : -1;
	l->tsgs_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_tsgs");
	l->facts_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_facts");
	l->runlists_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_runlists");
	l->gpus_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_costs");
	l->jobs_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_jobs");
	l->log_fd = bpf_object__find_map_fd_by_name(l->obj, "gs_plog");
	l->state = mmap(NULL, sizeof(*l->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_object__find_map_fd_by_name(l->obj, "gs_pstate"), 0);
	if (l->state == MAP_FAILED) {
		l->state = NULL;
		return -errno;
	}
	return l->run_fd < 0 || (l->dispatch_fd < 0 && !opts->run_only) ? -ENOENT : 0;
}

/*
 * Returns false if the policy only needs launches counted: launches then do not pay for a call that
 * does nothing.
 */
static bool hears_of_launches(const struct gs_policy_info *info)
{
	return (info->flags & GPUSCHED_F_WORK) && strstr(info->callbacks, "work_submit");
}

/* All steps before the load itself. */
static int prepare(struct gs_loaded *l, const struct gs_load_opts *opts, struct gs_policy_exit *x,
		   struct gs_error *err)
{
	const char *name = opts->info->name;
	struct gs_error inner = { 0 };
	struct bpf_program *p;
	char why[128] = "";
	int r;

	r = set_constants(l, opts, &inner);
	if (r < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, r, name, NULL, "%s",
				    inner.text[0] ? inner.text : "its constants cannot be set");
	r = prepare_maps(l, opts, why, sizeof(why));
	if (r < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, r, name, NULL,
				    "policy %s is refused: it has %s", name, why);
	if (!opts->hooked) {
		bpf_map__set_max_entries(bpf_object__find_map_by_name(l->obj, "gs_hook_tsgs"), 1);
		bpf_map__set_max_entries(bpf_object__find_map_by_name(l->obj, "gs_hook_names"), 1);
	}
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch");
	if (p && opts->run_only)
		bpf_program__set_autoload(p, false);
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch_work");
	if (p && (opts->run_only || !hears_of_launches(opts->info)))
		bpf_program__set_autoload(p, false);
	else if (p && gs_launch_attach_type()) /* must equal the type of the launch probe */
		bpf_program__set_expected_attach_type(p, gs_launch_attach_type());
	p = bpf_object__find_program_by_name(l->obj, "gpusched_dispatch_gate");
	if (p && (opts->run_only || !opts->gate))
		bpf_program__set_autoload(p, false);
	return 0;
}

static void unload(struct gs_loaded *l)
{
	if (l->state)
		munmap(l->state, sizeof(*l->state));
	l->state = NULL;
	if (l->obj)
		bpf_object__close(l->obj);
	l->obj = NULL;
}

/*
 * Opens and loads the linked object. *ret_load: the result of the load itself; 0 if an earlier step
 * failed.
 */
static int attempt(int fd, const struct gs_load_opts *opts, char *log, struct gs_loaded *ret,
		   int *ret_load, struct gs_policy_exit *x, struct gs_error *err)
{
	LIBBPF_OPTS(bpf_object_open_opts, open_opts, .object_name = "gpusched",
		    .kernel_log_buf = log, .kernel_log_size = log ? LOG_SIZE : 0,
		    .kernel_log_level = log ? 1 : 0);
	struct gs_loaded l = { .dispatch_fd = -1, .run_fd = -1, .work_fd = -1, .gate_fd = -1 };
	const char *name = opts->info->name;
	char path[64];
	int r;

	*ret_load = 0;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	gs_hush_begin(NULL, 0);
	l.obj = bpf_object__open_file(path, &open_opts);
	gs_hush_end();
	if (!l.obj)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, -errno, name, NULL,
				    "policy %s: libbpf cannot open it", name);
	r = prepare(&l, opts, x, err);
	if (r == 0) {
		gs_hush_begin(NULL, 0);
		r = *ret_load = bpf_object__load(l.obj);
		gs_hush_end();
		if (r == 0)
			r = find_programs(&l, opts);
	}
	if (r < 0) {
		unload(&l);
		return r;
	}
	*ret = l;
	return 0;
}

static int refused_by_kernel(int code, const char *name, const char *log, struct gs_policy_exit *x,
			     struct gs_error *err)
{
	char words[160];

	if (code == -EPERM && !*log)
		return gs_fail(err, -EPERM, "loading a policy needs root (CAP_BPF, CAP_PERFMON)");
	last_words(log, words, sizeof(words));
	return gs_exit_fill(x, err, GS_POLICY_EXIT_VERIFIER, code, name, tail(log),
			    "policy %s does not pass the kernel's verifier: %s", name,
			    words[0] ? words : strerror(-code));
}

/* Links, sets options, loads. On failure *x has the reason (VERIFIER or REFUSED). */
static int load(const struct gs_polobj *obj, const struct gs_load_opts *opts, struct gs_loaded *ret,
		struct gs_policy_exit *x, struct gs_error *err)
{
	const char *name = opts->info->name;
	CLEANUP_FREE char *log = NULL;
	CLEANUP_FD int fd = -1;
	char messages[1024];
	int r, code, again;

	r = gs_policy_link(obj, &fd, messages, sizeof(messages));
	if (r < 0)
		return gs_exit_fill(x, err, GS_POLICY_EXIT_REFUSED, r, name, strdup(messages),
				    "policy %s cannot be linked: %s", name, strerror(-r));
	r = attempt(fd, opts, NULL, ret, &code, x, err);
	if (r == 0)
		return 0;
	if (!code)
		return gs_fail(err, r, "policy %s: the linked object is incomplete", name);
	/*
	 * Load once more, with a log. The first load has none, since a log that exceeds its buffer
	 * makes the load fail.
	 */
	log = calloc(1, LOG_SIZE);
	if (!log)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = attempt(fd, opts, log, ret, &again, NULL, NULL);
	if (r == 0)
		return 0;
	return refused_by_kernel(code, name, log, x, err);
}

/* Updates the offset of the wall clock, which people can set. Each run of the policy does this. */
static void tell_wall(struct gs_pstate *st)
{
	struct timespec t;
	uint64_t wall;

	clock_gettime(CLOCK_REALTIME, &t);
	wall = (uint64_t)t.tv_sec * NS_PER_S + (uint64_t)t.tv_nsec;
	__atomic_store_n(&st->wall_offset_ns, wall - gs_now_ns(), __ATOMIC_RELAXED);
}

int gs_loaded_ask(const struct gs_loaded *l, struct gpusched_run *r)
{
	LIBBPF_OPTS(bpf_test_run_opts, opts, .ctx_in = r, .ctx_size_in = sizeof(*r));

	tell_wall(l->state);
	if (bpf_prog_test_run_opts(l->run_fd, &opts) < 0)
		return -errno;
	return (int)opts.retval < 0 ? -EIO : 0;
}

bool gs_loaded_failed(const struct gs_loaded *l, int *ret_code, char *ret_why, size_t size)
{
	const struct gs_pstate *st = l->state;

	if (!__atomic_load_n(&st->failed, __ATOMIC_ACQUIRE))
		return false;
	*ret_code = st->fail_code;
	snprintf(ret_why, size, "%.*s (code %d)", GPUSCHED_TEXT_LEN, st->fail_text.s,
		 st->fail_code);
	return true;
}

int gs_polobj_load(struct gs_policy *p, const struct gs_load_opts *opts, struct gs_policy_exit *x,
		   struct gs_error *err)
{
	return load(&p->obj, opts, &p->loaded, x, err);
}

void gs_polobj_unload(struct gs_policy *p)
{
	gs_polobj_close(&p->obj);
	unload(&p->loaded);
	gs_policy_info_free(&p->info);
}
