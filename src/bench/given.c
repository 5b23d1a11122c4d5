// SPDX-License-Identifier: MIT
/*
 * given.c - makes a load from a user's file: a trace of arrivals (CSV), or clients (JSON)
 *
 * Programs read the trace from a memory file of ours, so that all cells run what was read once.
 */
#include "bench/given.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "bench/clients.h"

/* A load with all that it points to. It stays until the program ends. */
struct given_load {
	struct bench_given given;
	struct bench_clients clients; /* of a trace: its service alone */
	char name[NAME_MAX + 1], text[160];
};

static bool is_json(const char *name)
{
	size_t n = strlen(name);

	return n > 5 && !strcasecmp(name + n - 5, ".json");
}

bool bench_given_is_file(const char *name)
{
	return gs_arrivals_is_file(name) || is_json(name);
}

static void given_free(struct given_load **g)
{
	if (!*g)
		return;
	gs_arrivals_free(&(*g)->given.trace);
	free((*g)->given.path);
	free((*g)->given.file);
	free(*g);
}

/* The file's name becomes that of pictures, and a word in gnuplot's script. */
static int name_load(struct given_load *g, const char *path, struct gs_error *err)
{
	const char *base = strrchr(path, '/');

	base = base ? base + 1 : path;
	for (const char *c = base; *c; c++)
		if (strchr("'\"\\", *c) || (unsigned char)*c < ' ')
			return gs_fail(err, -EINVAL, "--load takes no file name with quotes");
	snprintf(g->name, sizeof(g->name), "%s", base);
	if (bench_table_load(g->name))
		return gs_fail(err, -EINVAL, "two loads are called %.100s", g->name);
	g->given.path = strdup(path);
	g->given.file = realpath(path, NULL);
	return g->given.path && g->given.file
		       ? 0
		       : gs_fail(err, -errno, "%.300s: %s", path, strerror(errno));
}

/* Takes over what the results say of a file. */
static void know_file(struct given_load *g, const char *sha256)
{
	struct bench_given *from = &g->given;

	memcpy(from->sha256, sha256, sizeof(from->sha256));
	for (size_t i = 0; i < from->trace.n; i++)
		if (from->trace.at[i].ns > from->last_ns)
			from->last_ns = from->trace.at[i].ns;
}

/* A kernel of 100 us for each size; a graph of 1.2 ms for each token, as in our own loads. */
static int make_service(struct given_load *g, struct bench_load *l, struct gs_error *err)
{
	struct gs_arrivals *t = &g->given.trace;
	struct bench_program *lc = &g->clients.lc[0];
	int r = gs_arrivals_read(g->given.path, true, t, err);

	if (r)
		return r;
	*lc = *bench_table_load(t->tokens ? "llm-30" : "a-1be")->lc;
	lc->tokens = t->tokens;
	lc->period_us = 0;
	lc->arrivals = g->clients.arrivals[0];
	know_file(g, t->sha256);
	l->be = bench_table_load("a-1be")->be;
	l->nlc = l->nbe = 1;
	snprintf(g->text, sizeof(g->text), "%zu arrivals of a file, %s, beside 1 BE", t->n,
		 t->tokens ? "each token a CUDA graph of 1.2 ms" : "kernels of 100 us");
	return bench_clients_put_trace(t, g->clients.arrivals[0], sizeof(g->clients.arrivals[0]),
				       err);
}

static int make_clients(struct given_load *g, struct bench_load *l, struct gs_error *err)
{
	int r = bench_clients_read(g->given.path, &g->clients, err);

	g->given.trace = g->clients.all;
	if (r)
		return r;
	know_file(g, g->clients.sha256);
	l->each = true;
	l->be = g->clients.be;
	l->nlc = g->clients.nlc;
	l->nbe = g->clients.nbe;
	snprintf(g->text, sizeof(g->text), "clients of a file: %u LC, %u BE", l->nlc, l->nbe);
	return 0;
}

int bench_given_add(const char *path, struct gs_error *err)
{
	CLEANUP(given_free) struct given_load *g = calloc(1, sizeof(*g));
	size_t n = bench_table_nloads();
	struct bench_load l = { .asked = true };
	int r;

	if (!g)
		return gs_fail(err, -ENOMEM, "out of memory");
	l.name = g->name;
	l.text = g->text;
	l.lc = g->clients.lc;
	l.given = &g->given;
	for (size_t i = 0; i < n; i++)
		if (bench_loads[i].given && !strcmp(bench_loads[i].given->path, path))
			return 0;
	if (n == BENCH_LOADS_MAX)
		return gs_fail(err, -E2BIG, "too many files of loads");
	r = name_load(g, path, err);
	if (!r)
		r = is_json(path) ? make_clients(g, &l, err) : make_service(g, &l, err);
	if (r)
		return r;
	bench_loads[n] = l;
	g = NULL;
	return 0;
}

json_t *bench_given_json(const struct bench_load *load)
{
	const struct bench_given *g = load->given;

	if (!g)
		return json_null();
	return json_pack("{s:s, s:s, s:o, s:o}", "file", g->file, "sha256", g->sha256, "arrivals",
			 g->trace.n ? json_integer((json_int_t)g->trace.n) : json_null(),
			 "length_s",
			 g->trace.n ? json_real((double)g->last_ns / NS_PER_S) : json_null());
}

bool bench_given_same(const struct bench_load *load, const json_t *line)
{
	const json_t *is = json_object_get(json_object_get(line, "source"), "sha256");

	return !load->given ||
	       (json_is_string(is) && !strcmp(json_string_value(is), load->given->sha256));
}

size_t bench_given_within(const struct bench_load *load, double seconds, double *ret_s)
{
	const struct bench_given *g = load->given;
	size_t n = 0;

	*ret_s = floor((double)g->last_ns / NS_PER_S) + 1;
	for (size_t i = 0; i < g->trace.n; i++)
		n += (double)g->trace.at[i].ns < seconds * NS_PER_S;
	return n;
}
