// SPDX-License-Identifier: MIT
/* Shows and changes the running policy's maps. Opens them by their pins, without the daemon. */
#include <bpf/bpf.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "cli/cli.h"
#include "local/local.h"
#include "gpusched/gpusched.h"
#include "cli/verbs_act.h"
#include "policy/polmaps.h"

static const struct gs_column columns[] = {
	{ "map", "MAP" },
	{ "kind", "KIND" },
	{ "max_entries", "ENTRIES", GS_COL_RIGHT },
	{ "key_bytes", "KEY", GS_COL_RIGHT },
	{ "value_bytes", "VALUE", GS_COL_RIGHT },
	{ "path", "PIN", .spare = 1 },
};

static void add_row(const struct gs_polmap *m, void *rows)
{
	json_array_append_new(rows, json_pack("{s:s,s:s,s:i,s:i,s:i,s:s}", "map", m->name, "kind",
					      m->kind, "max_entries", (int)m->max_entries,
					      "key_bytes", (int)m->key_size, "value_bytes",
					      (int)m->value_size, "path", m->path));
}

static int list_maps(struct cli *c)
{
	CLEANUP_JSON json_t *rows = json_array();
	struct gs_error err = { 0 };
	int r = gs_polmaps_each(add_row, rows, &err);

	if (r)
		return cli_fail_err(r, &err, "policy map");
	if (!json_array_size(rows) && !c->json)
		puts("the running policy has no maps");
	return cli_screen_rows(c, columns, GS_COUNT(columns), rows);
}

static int print_entry(const struct cli *c, const struct gs_polmap *m, const void *key,
		       const void *value)
{
	CLEANUP_FREE char *k = NULL, *v = NULL;
	CLEANUP_JSON json_t *row = NULL;

	if (c->json) {
		row = json_pack("{s:s,s:o,s:o}", "map", m->name, "key",
				gs_polmap_json(m, true, key), "value",
				gs_polmap_json(m, false, value));
		gs_json_line(stdout, row);
		return GS_EXIT_OK;
	}
	k = gs_polmap_text(m, true, key);
	v = gs_polmap_text(m, false, value);
	if (!k || !v)
		return cli_fail(-ENOMEM, "out of memory");
	printf("%s: %s\n", k, v);
	return GS_EXIT_OK;
}

/* Prints all entries. Entries that are added or removed meanwhile may be missing. */
static int print_all(const struct cli *c, const struct gs_polmap *m)
{
	CLEANUP_FREE char *key = calloc(1, m->key_size), *next = calloc(1, m->key_size);
	CLEANUP_FREE char *value = calloc(1, m->value_size);
	int code = GS_EXIT_OK;
	bool first = true;

	if (!key || !next || !value)
		return cli_fail(-ENOMEM, "out of memory");
	for (uint32_t n = 0; n < m->max_entries && code == GS_EXIT_OK; n++) {
		if (bpf_map_get_next_key(m->fd, first ? NULL : key, next))
			break;
		first = false;
		memcpy(key, next, m->key_size);
		if (!bpf_map_lookup_elem(m->fd, key, value))
			code = print_entry(c, m, key, value);
	}
	return code;
}

/* A file's time of change, in ns since 1970. */
static uint64_t changed_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * NS_PER_S + (uint64_t)st->st_mtim.tv_nsec;
}

/* Warns if no callback can see what was written. A file that is newer than the map says nothing. */
static void warn_unused(const struct gs_polmap *m)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	CLEANUP_JSON json_t *get = NULL;
	const char *path;
	struct stat object, pin;

	if (cli_client_open(GS_LOCAL_READ_ONLY, &g) || cli_client_try(g, "policy_get", NULL, &get))
		return;
	path = json_string_value(gs_json_at(get, "running.path"));
	if (path && !stat(path, &object) && !stat(m->path, &pin) &&
	    changed_ns(&object) < changed_ns(&pin) && gs_polmap_is_unused(path, m->name))
		fprintf(stderr,
			"gpusched: policy map: warning: policy %s does not use %s after its start: "
			"the value has no effect\n",
			json_string_value(gs_json_at(get, "running.name")), m->name);
}

static int one_entry(struct cli *c, const struct gs_polmap *m, const char *key_text,
		     const char *value_text)
{
	CLEANUP_FREE char *key = calloc(1, m->key_size), *value = calloc(1, m->value_size);
	struct gs_error err = { 0 };
	bool there;
	int r;

	if (!key || !value)
		return cli_fail(-ENOMEM, "out of memory");
	r = gs_polmap_parse(m, true, key_text, key, &err);
	if (r)
		return cli_fail_err(r, &err, "policy map");
	there = !bpf_map_lookup_elem(m->fd, key, value);
	if (!there && !value_text)
		return cli_fail(-ENOENT, "policy map: %s has no entry %s", m->name, key_text);
	if (value_text)
		r = gs_polmap_parse(m, false, value_text, value, &err);
	if (!r && value_text && bpf_map_update_elem(m->fd, key, value, BPF_ANY))
		r = gs_fail(&err, -errno, "%s: %s", m->name,
			    errno == E2BIG ? "it is full, or has no such index" : strerror(errno));
	if (r)
		return cli_fail_err(r, &err, "policy map");
	if (value_text)
		warn_unused(m);
	return print_entry(c, m, key, value);
}

int cli_policy_map(struct cli *c)
{
	CLEANUP(gs_polmap_close) struct gs_polmap m = { .fd = -1 };
	struct gs_error err = { 0 };
	int r;

	if (!c->argc)
		return list_maps(c);
	r = gs_polmap_open(c->argv[0], &m, &err);
	if (r)
		return cli_fail_err(r, &err, "policy map");
	if (c->argc == 1)
		return print_all(c, &m);
	return one_entry(c, &m, c->argv[1], c->argc > 2 ? c->argv[2] : NULL);
}
