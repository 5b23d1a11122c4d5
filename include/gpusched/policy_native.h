/* SPDX-License-Identifier: MIT */
/*
 * policy_native.h - lets a policy be built as ordinary C, for the native host
 *
 * policy.bpf.h includes this file with -DGPUSCHED_NATIVE. Each policy is one shared object. Maps
 * are tables of fixed size, and the host finds options, which are variables, by name. After
 * dlopen() the host fills tables with pointers to its helpers. Nothing here is thread-safe: the
 * native host makes one call at a time.
 */
#ifndef GPUSCHED_POLICY_NATIVE_H
#define GPUSCHED_POLICY_NATIVE_H

#include <stddef.h>
#include <string.h>

#define GPUSCHED_EXPORT __attribute__((visibility("default")))
#define GPUSCHED_GLOBAL __attribute__((noinline, visibility("default")))
#define GPUSCHED_INLINE __attribute__((unused)) static inline
#define GPUSCHED_UNUSED __attribute__((unused))
#define GPUSCHED_DESC GPUSCHED_EXPORT
#define GPUSCHED_OPTDESC \
	__attribute__((section("gpusched_opts"), used, aligned(8), visibility("default")))
#define GPUSCHED_LICENSE_TEXT _Static_assert(1, "licence: see the source's SPDX line")

/* volatile: the host writes options, and the compiler does not see that */
#define GPUSCHED_OPTION_VAR(type, name, def) \
	extern GPUSCHED_EXPORT volatile type name; \
	volatile type name = (def)

/* Helpers that policies call. The host fills this table. */
struct gpusched_native_ops {
	gs_u64 (*now)(void *user);
	gs_u32 (*random)(void *user);
	int (*log)(void *user, const char *text, gs_u64 value);
	int (*fail)(void *user, gs_s32 code, const char *text);
	int (*count)(void *user, const struct gpusched_filter *filter);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_ops gpusched_native_ops;

/*
 * The host fills this table and those below as well. Each is separate, since it was added later:
 * the host skips a table that an older policy lacks.
 */
struct gpusched_native_kick {
	int (*kick)(void *user);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_kick gpusched_native_kick;
struct gpusched_native_kick gpusched_native_kick;
struct gpusched_native_ops gpusched_native_ops;

struct gpusched_native_facts {
	int (*facts)(void *user, gs_u64 id, struct gpusched_facts *ret);
	int (*runlist)(void *user, gs_u32 runlist, struct gpusched_runlist_facts *ret);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_facts gpusched_native_facts;
struct gpusched_native_facts gpusched_native_facts;

struct gpusched_native_job {
	gs_u64 (*job)(void *user, gs_u64 id);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_job gpusched_native_job;
struct gpusched_native_job gpusched_native_job;

struct gpusched_native_gpu {
	int (*gpu)(void *user, gs_u32 gpu, struct gpusched_gpu *ret);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_gpu gpusched_native_gpu;
struct gpusched_native_gpu gpusched_native_gpu;

struct gpusched_native_limit {
	int (*limit)(void *user, gs_u64 id, struct gpusched_limit *ret);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_limit gpusched_native_limit;
struct gpusched_native_limit gpusched_native_limit;

struct gpusched_native_promise {
	int (*promise)(void *user, gs_u64 id, struct gpusched_promise *ret);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_promise gpusched_native_promise;
struct gpusched_native_promise gpusched_native_promise;

struct gpusched_native_other {
	int (*find)(void *user, gs_u64 id, struct gpusched_task *ret);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_other gpusched_native_other;
struct gpusched_native_other gpusched_native_other;

struct gpusched_native_wall {
	gs_u64 (*wall)(void *user);
	void *user;
};
extern GPUSCHED_EXPORT struct gpusched_native_wall gpusched_native_wall;
struct gpusched_native_wall gpusched_native_wall;

#define gpusched_host_wall() gpusched_native_wall.wall(gpusched_native_wall.user)
#define gpusched_host_now() gpusched_native_ops.now(gpusched_native_ops.user)
#define gpusched_host_random() gpusched_native_ops.random(gpusched_native_ops.user)
#define gpusched_host_log(text, value) \
	gpusched_native_ops.log(gpusched_native_ops.user, (text)->s, (value))
#define gpusched_host_fail(code, text) \
	gpusched_native_ops.fail(gpusched_native_ops.user, (code), (text)->s)
#define gpusched_host_count(filter) gpusched_native_ops.count(gpusched_native_ops.user, (filter))
#define gpusched_host_kick() gpusched_native_kick.kick(gpusched_native_kick.user)
#define gpusched_host_facts(id, ret) \
	gpusched_native_facts.facts(gpusched_native_facts.user, (id), (ret))
#define gpusched_host_gpu(key, ret) gpusched_native_gpu.gpu(gpusched_native_gpu.user, (key), (ret))
#define gpusched_host_runlist(key, ret) \
	gpusched_native_facts.runlist(gpusched_native_facts.user, (key), (ret))
#define gpusched_host_job(id) gpusched_native_job.job(gpusched_native_job.user, (id))
#define gpusched_host_find(id, ret) \
	gpusched_native_other.find(gpusched_native_other.user, (id), (ret))
#define gpusched_host_limit(id, ret) \
	gpusched_native_limit.limit(gpusched_native_limit.user, (id), (ret))
#define gpusched_host_promise(id, ret) \
	gpusched_native_promise.promise(gpusched_native_promise.user, (id), (ret))

/* The linker collects the policy's options between these two symbols. */
extern const struct gpusched_option_desc __start_gpusched_opts[]
	__attribute__((weak, visibility("hidden")));
extern const struct gpusched_option_desc __stop_gpusched_opts[]
	__attribute__((weak, visibility("hidden")));

GPUSCHED_EXPORT const struct gpusched_option_desc *gpusched_native_options(gs_u32 *ret_n);
GPUSCHED_EXPORT const struct gpusched_option_desc *gpusched_native_options(gs_u32 *ret_n)
{
	*ret_n = (gs_u32)(__stop_gpusched_opts - __start_gpusched_opts);
	return __start_gpusched_opts;
}

/* ---- maps --------------------------------------------------------------------------------- */

#define GPUSCHED_NATIVE_ARRAY 1
#define GPUSCHED_NATIVE_HASH 0

/*
 * An array, or a hash table with open addressing. used[]: 0 free, 1 taken, 2 deleted. As in the
 * kernel, a value keeps its address until it is deleted.
 */
struct gpusched_native_map {
	gs_u32 entries, slots, key_size, value_size, is_array, n;
	unsigned char *keys, *values, *used;
};

#define GPUSCHED_MAP(name, kind, key_type, value_type, count) \
	static unsigned char name##_keys[2 * (count) * sizeof(key_type)] \
		__attribute__((aligned(8))); \
	static unsigned char name##_values[2 * (count) * sizeof(value_type)] \
		__attribute__((aligned(8))); \
	static unsigned char name##_used[2 * (count)]; \
	static struct gpusched_native_map name = { (count), \
						   2 * (count), \
						   sizeof(key_type), \
						   sizeof(value_type), \
						   GPUSCHED_NATIVE_##kind, \
						   0, \
						   name##_keys, \
						   name##_values, \
						   name##_used }

GPUSCHED_INLINE gs_u32 gpusched_native_find(const struct gpusched_native_map *m, const void *key,
					    gs_u32 *free_slot)
{
	const unsigned char *bytes = (const unsigned char *)key;
	gs_u32 i, n, at, hash = 2166136261u;

	for (i = 0; i < m->key_size; i++)
		hash = (hash ^ bytes[i]) * 16777619u;
	*free_slot = m->slots;
	for (n = 0, at = hash % m->slots; n < m->slots; n++, at = (at + 1) % m->slots) {
		if (m->used[at] != 1 && *free_slot == m->slots)
			*free_slot = at;
		if (!m->used[at])
			break;
		if (m->used[at] == 1 &&
		    memcmp(m->keys + (size_t)at * m->key_size, key, m->key_size) == 0)
			return at;
	}
	return m->slots;
}

GPUSCHED_INLINE void *gpusched_native_lookup(struct gpusched_native_map *m, const void *key)
{
	gs_u32 at, unused;

	if (m->is_array) {
		memcpy(&at, key, sizeof(at));
		return at < m->entries ? m->values + (size_t)at * m->value_size : NULL;
	}
	at = gpusched_native_find(m, key, &unused);
	return at < m->slots ? m->values + (size_t)at * m->value_size : NULL;
}

GPUSCHED_INLINE int gpusched_native_update(struct gpusched_native_map *m, const void *key,
					   const void *value)
{
	void *v = gpusched_native_lookup(m, key);
	gs_u32 at;

	if (!v) {
		if (m->is_array || m->n >= m->entries)
			return -7; /* E2BIG, as in the kernel */
		gpusched_native_find(m, key, &at);
		memcpy(m->keys + (size_t)at * m->key_size, key, m->key_size);
		m->used[at] = 1;
		m->n++;
		v = m->values + (size_t)at * m->value_size;
	}
	memcpy(v, value, m->value_size);
	return 0;
}

GPUSCHED_INLINE int gpusched_native_delete(struct gpusched_native_map *m, const void *key)
{
	gs_u32 at, unused;

	if (m->is_array)
		return -22; /* EINVAL */
	at = gpusched_native_find(m, key, &unused);
	if (at >= m->slots)
		return -2; /* ENOENT */
	m->used[at] = 2;
	m->n--;
	return 0;
}

#define gpusched_lookup(map, key) gpusched_native_lookup(&(map), (key))
#define gpusched_update(map, key, value) gpusched_native_update(&(map), (key), (value))
#define gpusched_delete(map, key) gpusched_native_delete(&(map), (key))
GPUSCHED_INLINE void *gpusched_native_find_or_add(struct gpusched_native_map *m, const void *key,
						  const void *fresh)
{
	void *v = gpusched_native_lookup(m, key);

	if (v || gpusched_native_update(m, key, fresh) < 0)
		return v;
	return gpusched_native_lookup(m, key);
}
#define gpusched_lookup_or_add(map, key, fresh) gpusched_native_find_or_add(&(map), (key), (fresh))
#define gpusched_add(ptr, n) ((void)__atomic_fetch_add((ptr), (n), __ATOMIC_RELAXED))

#endif /* GPUSCHED_POLICY_NATIVE_H */
