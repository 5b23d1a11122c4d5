// SPDX-License-Identifier: MIT
/*
 * clients.c - reads clients from JSON: a model, its arrivals, and a priority for each
 *
 * A key that is not understood is an error, so that nobody measures another load than the file's.
 */
#include "bench/clients.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/file.h"
#include "basic/grow.h"
#include "basic/sheet.h"

#define MAX_BYTES (1u << 20)

/* Chains of kernels, one per layer, as in our own loads after DISB. */
static const struct {
	const char *name;
	double kernel_us;
	unsigned int kernels;
} models[] = { { "vgg19", 40, 19 }, { "resnet152", 12, 152 } };

static const struct {
	const char *type, *arrivals;
} kinds[] = {
	{ "uniform", "periodic" },
	{ "poisson", "poisson" },
	{ "closed", "closed" },
	{ "trace", NULL },
};

struct reading {
	const char *path;
	size_t task; /* counted from 1; 0: none */
	FILE *hashed;
	size_t room;
	double priority[BENCH_CLIENTS_MAX];
	struct bench_program program[BENCH_CLIENTS_MAX];
	bool sized[BENCH_CLIENTS_MAX]; /* not all of its requests have the size 1 */
	struct bench_clients *to;
	struct gs_error *err;
};

#define FAIL(rd, ...) fail_task((rd), __VA_ARGS__)

__attribute__((format(printf, 2, 3))) static int fail_task(const struct reading *rd,
							   const char *format, ...)
{
	char text[160], task[32] = "";
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < ' ')
			*c = '?';
	if (rd->task)
		snprintf(task, sizeof(task), "task %zu: ", rd->task);
	return gs_fail(rd->err, -EINVAL, "%.300s: %s%s", rd->path, task, text);
}

int bench_clients_put_trace(const struct gs_arrivals *t, char *ret, size_t size,
			    struct gs_error *err)
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

/* ---- one task -------------------------------------------------------------------------------- */

/* Fails for a key of the object that is not in @known, which ends with NULL. */
static int check_keys(const struct reading *rd, const json_t *o, const char *const *known)
{
	const char *key;
	json_t *v;

	if (!json_is_object(o))
		return FAIL(rd, "not an object with %s", known[0]);
	json_object_foreach((json_t *)o, key, v) {
		size_t i = 0;

		while (known[i] && strcmp(known[i], key))
			i++;
		if (!known[i])
			return FAIL(rd, "bench cannot express '%.60s'", key);
	}
	return 0;
}

static int read_number(const struct reading *rd, const json_t *o, const char *key, double min,
		       double max, double *ret)
{
	const json_t *v = json_object_get(o, key);

	if (!json_is_number(v) || json_number_value(v) < min || json_number_value(v) > max)
		return FAIL(rd, "%s must be a number from %g to %g", key, min, max);
	*ret = json_number_value(v);
	return 0;
}

/* Compares names of models: "ResNet-152" is "resnet152". */
static bool is_model(const char *name, const char *model)
{
	for (; *name; name++) {
		if (*name == '-' || *name == '_')
			continue;
		if (strncasecmp(name, model, 1))
			return false;
		model++;
	}
	return !*model;
}

static int read_model(const struct reading *rd, const json_t *client, struct bench_program *ret)
{
	const char *name = json_string_value(json_object_get(client, "model"));
	double kernels = 0;
	int r;

	for (size_t i = 0; name && i < GS_COUNT(models); i++) {
		if (!is_model(name, models[i].name))
			continue;
		if (json_object_get(client, "kernels") || json_object_get(client, "kernel_us"))
			return FAIL(rd, "%.60s has its kernels already", name);
		ret->kernel_us = models[i].kernel_us;
		ret->kernels = models[i].kernels;
		return 0;
	}
	if (name && !json_object_get(client, "kernels"))
		return FAIL(rd,
			    "bench knows vgg19 and resnet152: say kernels and kernel_us of %.60s",
			    name);
	r = read_number(rd, client, "kernels", 1, 10000, &kernels);
	ret->kernels = (unsigned int)kernels;
	return r ? r : read_number(rd, client, "kernel_us", 0.1, 1e6, &ret->kernel_us);
}

/* Keeps the trace's arrivals among all, and its bytes for the hash. */
static int keep_trace(struct reading *rd, const struct gs_arrivals *t, const unsigned char *text,
		      size_t len)
{
	struct gs_arrivals *all = &rd->to->all;

	if (all->n + t->n > GS_ARRIVALS_MAX)
		return FAIL(rd, "more than %u arrivals in all", GS_ARRIVALS_MAX);
	if (GS_GROW(all->at, rd->room, all->n + t->n))
		return gs_fail(rd->err, -ENOMEM, "out of memory");
	memcpy(all->at + all->n, t->at, t->n * sizeof(*t->at));
	all->n += t->n;
	fwrite(text, 1, len, rd->hashed);
	for (size_t i = 0; i < t->n; i++)
		rd->sized[rd->task - 1] |= t->at[i].size != 1;
	return 0;
}

/* Reads the CSV of a task, from the folder of the JSON. */
static int read_trace(struct reading *rd, const json_t *load, struct bench_program *ret)
{
	CLEANUP(gs_arrivals_free) struct gs_arrivals t = { 0 };
	CLEANUP_FREE unsigned char *text = NULL;
	const char *file = json_string_value(json_object_get(load, "file"));
	const char *slash = strrchr(rd->path, '/');
	char path[PATH_MAX], *to = rd->to->arrivals[rd->task - 1];
	size_t len;
	int r;

	if (!file || !*file)
		return FAIL(rd, "a trace needs its file");
	if (snprintf(path, sizeof(path), "%.*s%s",
		     slash && *file != '/' ? (int)(slash + 1 - rd->path) : 0, rd->path,
		     file) >= (int)sizeof(path))
		return FAIL(rd, "the trace's path is too long");
	r = gs_read_file(path, GS_ARRIVALS_BYTES, &text, &len, rd->err);
	if (!r)
		r = gs_arrivals_parse(path, text, len, false, &t, rd->err);
	if (!r && t.tokens)
		return FAIL(rd, "bench cannot express tokens of a model");
	if (!r)
		r = keep_trace(rd, &t, text, len);
	if (!r)
		r = bench_clients_put_trace(&t, to, sizeof(rd->to->arrivals[0]), rd->err);
	ret->arrivals = to;
	return r;
}

static int read_load(struct reading *rd, const json_t *load, struct bench_program *ret)
{
	static const char *const known[3][3] = { { "type", "frequency" },
						 { "type" },
						 { "type", "file" } };
	const char *type = json_string_value(json_object_get(load, "type"));
	double frequency = 0;
	size_t k = 0;
	int r;

	while (type && k < GS_COUNT(kinds) && strcasecmp(type, kinds[k].type))
		k++;
	if (!type || k == GS_COUNT(kinds))
		return FAIL(rd, "type of load is uniform, poisson, closed or trace, not '%.40s'",
			    type ? type : "");
	if (check_keys(rd, load, known[k < 2 ? 0 : k - 1]))
		return -EINVAL;
	ret->burst = 1;
	if (!kinds[k].arrivals)
		return read_trace(rd, load, ret);
	ret->arrivals = kinds[k].arrivals;
	ret->period_us = 1; /* of a closed loop: no pause */
	if (k >= 2)
		return 0;
	r = read_number(rd, load, "frequency", 0.001, 1e6, &frequency);
	ret->period_us = r ? 0 : 1e6 / frequency;
	return r;
}

static int read_task(struct reading *rd, const json_t *task)
{
	static const char *const parts[] = { "client", "load", NULL };
	static const char *const known[] = { "name",    "model",     "priority",
					     "kernels", "kernel_us", NULL };
	const json_t *client = json_object_get(task, "client");
	struct bench_program *p = &rd->program[rd->task - 1];
	int r = check_keys(rd, task, parts);

	if (!r)
		r = check_keys(rd, client, known);
	if (!r)
		r = read_number(rd, client, "priority", -1e6, 1e6, &rd->priority[rd->task - 1]);
	if (!r)
		r = read_model(rd, client, p);
	return r ? r : read_load(rd, json_object_get(task, "load"), p);
}

/* ---- all tasks ------------------------------------------------------------------------------- */

/* Those of the highest priority become LC, the others BE. */
static int share_out(struct reading *rd, size_t n)
{
	struct bench_clients *to = rd->to;
	double highest = rd->priority[0];

	for (size_t i = 1; i < n; i++)
		highest = rd->priority[i] > highest ? rd->priority[i] : highest;
	for (size_t i = 0; i < n; i++) {
		rd->task = i + 1;
		if (rd->priority[i] < highest && rd->sized[i])
			return FAIL(rd, "bench cannot express BE requests of other sizes than 1");
		if (rd->priority[i] < highest)
			to->be[to->nbe++] = rd->program[i];
		else
			to->lc[to->nlc++] = rd->program[i];
	}
	rd->task = 0;
	return to->nbe ? 0
		       : FAIL(rd, "all tasks have one priority, and bench measures LC beside BE");
}

static int read_tasks(struct reading *rd, const char *text, size_t len)
{
	static const char *const known[] = { "tasks", NULL };
	json_error_t why;
	CLEANUP_JSON json_t *o = json_loadb(text, len, JSON_REJECT_DUPLICATES, &why);
	const json_t *tasks = json_object_get(o, "tasks");
	size_t n = json_array_size(tasks);

	if (!o)
		return FAIL(rd, "line %d: %.100s", why.line, why.text);
	if (check_keys(rd, o, known))
		return -EINVAL;
	if (!n || n > BENCH_CLIENTS_MAX)
		return FAIL(rd, "tasks must be a list of 1 to %u", BENCH_CLIENTS_MAX);
	fwrite(text, 1, len, rd->hashed);
	for (size_t i = 0; i < n; i++) {
		rd->task = i + 1;
		if (read_task(rd, json_array_get(tasks, i)))
			return -EINVAL;
	}
	return share_out(rd, n);
}

int bench_clients_read(const char *path, struct bench_clients *to, struct gs_error *err)
{
	CLEANUP_FREE struct reading *rd = calloc(1, sizeof(*rd));
	CLEANUP_FREE unsigned char *text = NULL;
	CLEANUP_FREE char *all = NULL;
	size_t len, all_len;
	int r;

	if (!rd)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gs_read_file(path, MAX_BYTES, &text, &len, err);
	if (r)
		return r;
	*rd = (struct reading){ .path = path, .to = to, .err = err };
	rd->hashed = open_memstream(&all, &all_len);
	if (!rd->hashed)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = read_tasks(rd, (const char *)text, len);
	if (fclose(rd->hashed) && !r)
		r = gs_fail(err, -ENOMEM, "out of memory");
	if (!r)
		gs_sha256(all, all_len, to->sha256);
	return r;
}
