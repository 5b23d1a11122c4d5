// SPDX-License-Identifier: MIT
#include "policy/polmaps.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "policy/polelf.h"
#include "table/bpffs.h"

/* ---- pins ------------------------------------------------------------------------------------ */

static bool is_own(const struct bpf_map *map)
{
	return !bpf_map__is_internal(map) && strncmp(bpf_map__name(map), "gs_", 3);
}

int gs_polmaps_pin(struct bpf_object *obj)
{
	char dir[GS_PINS_PATH], path[GS_PINS_PATH + 64];
	struct bpf_map *map;
	int r = 0;

	gs_bpffs_policy_pins(dir);
	gs_bpffs_remove(dir);
	if (mkdir(dir, 0700))
		return -errno;
	bpf_object__for_each_map(map, obj) {
		if (!is_own(map) || r)
			continue;
		snprintf(path, sizeof(path), "%s/%.60s", dir, bpf_map__name(map));
		r = bpf_obj_pin(bpf_map__fd(map), path) ? -errno : 0;
	}
	return r;
}

void gs_polmap_close(struct gs_polmap *m)
{
	if (m->fd >= 0)
		close(m->fd);
	btf__free(m->btf);
	m->fd = -1;
	m->btf = NULL;
}

static int open_pin(const char *name, struct gs_polmap *m)
{
	struct bpf_map_info info = { 0 };
	uint32_t len = sizeof(info);
	char dir[GS_PINS_PATH];

	gs_bpffs_policy_pins(dir);
	*m = (struct gs_polmap){ .fd = -1 };
	snprintf(m->name, sizeof(m->name), "%.60s", name);
	snprintf(m->path, sizeof(m->path), "%s/%s", dir, m->name);
	m->fd = bpf_obj_get(m->path);
	if (m->fd < 0 || bpf_obj_get_info_by_fd(m->fd, &info, &len))
		return -errno;
	m->kind = info.type == BPF_MAP_TYPE_ARRAY ? "array" : "hash";
	m->key_size = info.key_size;
	m->value_size = info.value_size;
	m->max_entries = info.max_entries;
	m->key_type = info.btf_key_type_id;
	m->value_type = info.btf_value_type_id;
	m->btf = info.btf_id ? btf__load_from_kernel_by_id(info.btf_id) : NULL;
	return m->btf ? 0 : -ENODATA;
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_name(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static void names_free(struct dirent **all, int n)
{
	for (int i = 0; i < n; i++)
		free(all[i]);
	free(all);
}

static int list_pins(struct dirent ***ret, struct gs_error *err)
{
	char dir[GS_PINS_PATH];
	int n;

	gs_bpffs_policy_pins(dir);
	n = scandir(dir, ret, is_name, by_name);
	if (n >= 0)
		return n;
	if (errno == ENOENT && geteuid() == 0)
		return gs_fail(err, -ENOENT, "no policy runs");
	if (errno == ENOENT || errno == EACCES || errno == EPERM)
		return gs_fail(err, -EPERM, "only root may look into a policy's maps");
	return gs_fail(err, -errno, "%s: %s", dir, strerror(errno));
}

int gs_polmap_open(const char *name, struct gs_polmap *ret, struct gs_error *err)
{
	struct dirent **all = NULL;
	char names[400] = "";
	int n = list_pins(&all, err), r;
	bool there = false;

	if (n < 0)
		return n;
	for (int i = 0; i < n; i++) {
		size_t at = strlen(names);

		there |= !strcmp(all[i]->d_name, name);
		snprintf(names + at, sizeof(names) - at, "%s%s", at ? ", " : "", all[i]->d_name);
	}
	names_free(all, n);
	if (!there)
		return gs_fail(err, -ENOENT, "the running policy has no map '%.60s': %s", name,
			       n ? names : "it has none");
	r = open_pin(name, ret);
	if (r < 0)
		gs_polmap_close(ret);
	return r < 0 ? gs_fail(err, r, "map %.60s: %s", name, strerror(-r)) : 0;
}

int gs_polmaps_each(void (*fn)(const struct gs_polmap *m, void *user), void *user,
		    struct gs_error *err)
{
	struct dirent **all = NULL;
	int n = list_pins(&all, err);

	for (int i = 0; i < n; i++) {
		struct gs_polmap m;

		if (!open_pin(all[i]->d_name, &m))
			fn(&m, user);
		gs_polmap_close(&m);
	}
	if (n >= 0)
		names_free(all, n);
	return n < 0 ? n : 0;
}

/* ---- types ----------------------------------------------------------------------------------- */

static const struct btf_type *type_of(const struct btf *btf, unsigned int id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_typedef(t) || btf_is_mod(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

static bool is_number(const struct btf_type *t)
{
	return t && (btf_is_int(t) || btf_is_any_enum(t)) && t->size <= sizeof(uint64_t);
}

static bool is_signed(const struct btf_type *t)
{
	return btf_is_int(t) ? btf_int_encoding(t) & BTF_INT_SIGNED : btf_kflag(t);
}

/* The low bytes hold the number, since BPF is little-endian here. */
static int64_t number_at(const struct btf_type *t, const void *data)
{
	uint64_t v = 0;
	unsigned int unused = 64 - 8 * t->size;

	memcpy(&v, data, t->size);
	return is_signed(t) ? (int64_t)(v << unused) >> unused : (int64_t)v;
}

/* Returns NULL if @v has no enumerator. */
static const char *enumerator(const struct btf *btf, const struct btf_type *t, int64_t v)
{
	for (unsigned int i = 0; btf_is_enum(t) && i < btf_vlen(t); i++)
		if (btf_enum(t)[i].val == v)
			return btf__name_by_offset(btf, btf_enum(t)[i].name_off);
	return NULL;
}

static json_t *number_json(const struct btf *btf, const struct btf_type *t, const void *data)
{
	int64_t v = number_at(t, data);
	const char *name = enumerator(btf, t, v);

	return name ? json_string(name) : json_integer(v);
}

static json_t *json_of(const struct btf *btf, unsigned int id, const void *data)
{
	const struct btf_type *t = type_of(btf, id);
	const char *bytes = data;
	json_t *o;

	if (is_number(t))
		return number_json(btf, t, data);
	if (t && btf_is_array(t)) {
		const struct btf_array *a = btf_array(t);
		int64_t step = btf__resolve_size(btf, a->type);

		o = json_array();
		for (uint32_t i = 0; i < a->nelems && step > 0; i++)
			json_array_append_new(o, json_of(btf, a->type, bytes + i * step));
		return o;
	}
	if (!t || !btf_is_composite(t))
		return json_null();
	o = json_object();
	for (unsigned int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *m = &btf_members(t)[i];

		if (!btf_member_bitfield_size(t, i))
			json_object_set_new(
				o, btf__name_by_offset(btf, m->name_off),
				json_of(btf, m->type, bytes + btf_member_bit_offset(t, i) / 8));
	}
	return o;
}

json_t *gs_polmap_json(const struct gs_polmap *m, bool key, const void *data)
{
	return json_of(m->btf, key ? m->key_type : m->value_type, data);
}

static void put_text(const struct btf *btf, unsigned int id, const void *data, bool within, FILE *f)
{
	const struct btf_type *t = type_of(btf, id);
	const char *bytes = data;

	const char *name = is_number(t) ? enumerator(btf, t, number_at(t, data)) : NULL;

	if (name) {
		fputs(name, f);
	} else if (is_number(t)) {
		fprintf(f, is_signed(t) ? "%" PRId64 : "%" PRIu64, number_at(t, data));
	} else if (t && btf_is_array(t)) {
		const struct btf_array *a = btf_array(t);
		int64_t step = btf__resolve_size(btf, a->type);

		for (uint32_t i = 0; i < a->nelems && step > 0; i++) {
			fputc(i ? ' ' : '[', f);
			put_text(btf, a->type, bytes + i * step, true, f);
		}
		fputc(']', f);
	} else if (t && btf_is_composite(t)) {
		fputs(within ? "{" : "", f);
		for (unsigned int i = 0; i < btf_vlen(t); i++) {
			const struct btf_member *m = &btf_members(t)[i];

			if (btf_member_bitfield_size(t, i))
				continue;
			fprintf(f, "%s%s=", i ? "," : "", btf__name_by_offset(btf, m->name_off));
			put_text(btf, m->type, bytes + btf_member_bit_offset(t, i) / 8, true, f);
		}
		fputs(within ? "}" : "", f);
	} else {
		fputc('-', f);
	}
}

char *gs_polmap_text(const struct gs_polmap *m, bool key, const void *data)
{
	CLEANUP_FREE char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	put_text(m->btf, key ? m->key_type : m->value_type, data, false, f);
	return fclose(f) ? NULL : TAKE_PTR(text);
}

/* ---- a policy's report on a TSG -------------------------------------------------------------- */

static const struct btf_member *says_of(const struct gs_polmap *m)
{
	const struct btf_type *t = type_of(m->btf, m->value_type);

	for (unsigned int i = 0; t && btf_is_composite(t) && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(m->btf, btf_members(t)[i].name_off), "says"))
			return &btf_members(t)[i];
	return NULL;
}

int gs_polmap_open_says(const char *name, struct gs_polmap *ret)
{
	char map[64];
	int r;

	snprintf(map, sizeof(map), "%.50s_tsgs", name);
	r = open_pin(map, ret);
	if (!r && (ret->key_size != sizeof(uint64_t) || !says_of(ret)))
		r = -ENOENT;
	if (r)
		gs_polmap_close(ret);
	return r;
}

json_t *gs_polmap_says(const struct gs_polmap *m, uint64_t id)
{
	const struct btf_member *says = says_of(m);
	const struct btf_type *t = says ? type_of(m->btf, says->type) : NULL;
	CLEANUP_FREE char *value = malloc(m->value_size);
	json_t *o;

	if (!value || !t || !btf_is_composite(t) || bpf_map_lookup_elem(m->fd, &id, value))
		return json_null();
	o = json_object();
	for (unsigned int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *f = &btf_members(t)[i];
		const struct btf_type *type = type_of(m->btf, f->type);
		const char *at = value + says->offset / 8 + btf_member_bit_offset(t, i) / 8;

		if (is_number(type) && !btf_member_bitfield_size(t, i))
			json_object_set_new(o, btf__name_by_offset(m->btf, f->name_off),
					    number_at(type, at) ? number_json(m->btf, type, at)
								: json_null());
	}
	return o;
}

/* ---- text into memory ------------------------------------------------------------------------ */

static bool put_name(const struct btf *btf, const struct btf_type *t, const char *text, void *to)
{
	for (unsigned int i = 0; btf_is_enum(t) && i < btf_vlen(t); i++) {
		if (strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), text))
			continue;
		memcpy(to, &btf_enum(t)[i].val, t->size);
		return true;
	}
	return false;
}

static int put_number(const struct btf *btf, const struct btf_type *t, const char *text, void *to,
		      struct gs_error *err)
{
	bool minus = *text == '-';
	unsigned int bits = 8 * t->size;
	uint64_t u, most = bits == 64 ? UINT64_MAX : (1ull << bits) - 1;
	char *end;

	if (put_name(btf, t, text, to))
		return 0;
	if (is_signed(t))
		most = (most >> 1) + minus;
	errno = 0;
	u = strtoull(text + minus, &end, 0);
	if (!text[minus] || strchr("+- ", text[minus]) || *end)
		return gs_fail(err, -EINVAL, "'%.40s' is not a number", text);
	if (errno || u > most || (minus && !is_signed(t)))
		return gs_fail(err, -EINVAL, "%.40s is out of range: %s%u bits", text,
			       is_signed(t) ? "signed, " : "", bits);
	u = minus ? -u : u;
	memcpy(to, &u, t->size);
	return 0;
}

static int put_field(const struct gs_polmap *m, const struct btf_type *t, char *assignment,
		     char *base, struct gs_error *err)
{
	char *value = strchr(assignment, '=');

	if (!value)
		return gs_fail(err, -EINVAL, "'%.40s' is not FIELD=NUMBER", assignment);
	*value++ = '\0';
	for (unsigned int i = 0; i < btf_vlen(t); i++) {
		const struct btf_member *f = &btf_members(t)[i];
		const struct btf_type *type = type_of(m->btf, f->type);

		if (strcmp(btf__name_by_offset(m->btf, f->name_off), assignment))
			continue;
		if (!is_number(type) || btf_member_bitfield_size(t, i))
			return gs_fail(err, -EINVAL, "field %.40s is not a number", assignment);
		return put_number(m->btf, type, value, base + btf_member_bit_offset(t, i) / 8, err);
	}
	return gs_fail(err, -EINVAL, "there is no field '%.40s'", assignment);
}

int gs_polmap_parse(const struct gs_polmap *m, bool key, const char *text, void *inout,
		    struct gs_error *err)
{
	const struct btf_type *t = type_of(m->btf, key ? m->key_type : m->value_type);
	CLEANUP_FREE char *copy = strdup(text);
	char *save = NULL;
	int r = 0;

	if (!copy)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (is_number(t))
		return put_number(m->btf, t, text, inout, err);
	if (!t || !btf_is_composite(t))
		return gs_fail(err, -EINVAL, "map %s: only numbers and structures can be written",
			       m->name);
	for (char *w = strtok_r(copy, ",", &save); w && !r; w = strtok_r(NULL, ",", &save))
		r = put_field(m, t, w, inout, err);
	return r;
}

bool gs_polmap_is_unused(const char *object, const char *map)
{
	CLEANUP(gs_polelf_close) struct gs_polelf e = { 0 };
	CLEANUP(gs_polobj_close) struct gs_polobj obj = { 0 };
	size_t n = strlen(object);

	/* a source would be built, perhaps into other code than what runs */
	return n > 2 && !strcmp(object + n - 2, ".o") && !gs_polobj_open(object, &obj, NULL) &&
	       !gs_polelf_open(&obj, &e) && gs_polelf_uses_not(&e, map);
}
