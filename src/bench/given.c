// SPDX-License-Identifier: MIT
/*
 * given.c - makes a load from a user's trace of arrivals: one service beside one BE
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
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

/* A load with all that it points to. It stays until the program ends. */
struct given_load {
	struct bench_given given;
	struct bench_program lc;
	char name[NAME_MAX + 1], text[160], arrivals[64];
};

bool bench_given_is_file(const char *name)
{
	return gs_arrivals_is_file(name);
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

/* Writes the trace for gsload and the model. The file is open until the program ends. */
static int put_trace(const struct gs_arrivals *t, char *ret, size_t size, struct gs_error *err)
{
	CLEANUP_FD int fd = memfd_create("trace", MFD_CLOEXEC), copy = dup(fd);
	CLEANUP_FILE FILE *f = fd < 0 || copy < 0 ? NULL : fdopen(copy, "w");

	if (!f)
		return gs_fail(err, -errno, "no memory for a trace");
	copy = -1;
	fprintf(f, "time,%s\n", t->tokens ? "tokens" : "size");
	for (size_t i = 0; i < t->n; i++)
		fprintf(f, "%.9f,%u\n", (double)t->at[i].ns / NS_PER_S, t->at[i].size);
	if (fflush(f) || ferror(f))
		return gs_fail(err, -ENOMEM, "no memory for a trace");
	snprintf(ret, size, "/proc/%d/fd/%d", getpid(), TAKE_FD(fd));
	return 0;
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
	if (bench_load(g->name))
		return gs_fail(err, -EINVAL, "two loads are called %.100s", g->name);
	g->given.path = strdup(path);
	g->given.file = realpath(path, NULL);
	return g->given.path && g->given.file
		       ? 0
		       : gs_fail(err, -errno, "%.300s: %s", path, strerror(errno));
}

/* A kernel of 100 us for each size; a graph of 1.2 ms for each token, as in our own loads. */
static int make_service(struct given_load *g, struct gs_error *err)
{
	struct bench_given *from = &g->given;

	g->lc = *bench_load(from->trace.tokens ? "llm-30" : "a-1be")->lc;
	g->lc.tokens = from->trace.tokens;
	g->lc.period_us = 0;
	g->lc.arrivals = g->arrivals;
	memcpy(from->sha256, from->trace.sha256, sizeof(from->sha256));
	from->arrivals = from->trace.n;
	from->last_ns = from->trace.at[from->trace.n - 1].ns;
	snprintf(g->text, sizeof(g->text), "%zu arrivals of a file, %s, beside 1 BE",
		 from->arrivals,
		 from->trace.tokens ? "each token a CUDA graph of 1.2 ms" : "kernels of 100 us");
	return put_trace(&from->trace, g->arrivals, sizeof(g->arrivals), err);
}

int bench_given_add(const char *path, struct gs_error *err)
{
	CLEANUP(given_free) struct given_load *g = calloc(1, sizeof(*g));
	size_t n = bench_nloads();
	int r;

	if (!g)
		return gs_fail(err, -ENOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		if (bench_loads[i].given && !strcmp(bench_loads[i].given->path, path))
			return 0;
	if (n == BENCH_LOADS_MAX)
		return gs_fail(err, -E2BIG, "too many files of loads");
	r = name_load(g, path, err);
	if (!r)
		r = gs_arrivals_read(path, true, &g->given.trace, err);
	if (!r)
		r = make_service(g, err);
	if (r)
		return r;
	bench_loads[n] = (struct bench_load){ .name = g->name,
					      .text = g->text,
					      .asked = true,
					      .lc = &g->lc,
					      .be = bench_load("a-1be")->be,
					      .nlc = 1,
					      .nbe = 1,
					      .given = &g->given };
	g = NULL;
	return 0;
}

json_t *bench_given_json(const struct bench_load *load)
{
	const struct bench_given *g = load->given;

	return g ? json_pack("{s:s, s:s, s:I, s:f}", "file", g->file, "sha256", g->sha256,
			     "arrivals", (json_int_t)g->arrivals, "length_s",
			     (double)g->last_ns / NS_PER_S)
		 : json_null();
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
	while (n < g->trace.n && (double)g->trace.at[n].ns < seconds * NS_PER_S)
		n++;
	return n;
}
