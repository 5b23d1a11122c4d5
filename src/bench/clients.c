// SPDX-License-Identifier: MIT
/*
 * clients.c - reads clients from JSON, as DISB writes its workloads: a model and its arrivals
 *
 * A client that asks without end (continuous) is BE, the others are LC. A key that is not
 * understood is an error, so that nobody measures another load than the file's.
 */
#include "bench/clients.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/file.h"
#include "basic/grow.h"
#include "basic/json_sheet.h"

#define MAX_BYTES (16u << 20)

/*
 * Chains of kernels instead of the models, a kernel a layer, as in our own loads after DISB.
 * DistilBERT has six layers of eight kernels.
 */
static const struct {
	const char *name;
	double kernel_us;
	unsigned int kernels;
} models[] = { { "vgg19", 40, 19 },        { "resnet152", 12, 152 },  { "resnet50", 12, 50 },
	       { "densenet201", 12, 201 }, { "inceptionv3", 12, 48 }, { "mobilenetv1", 12, 28 },
	       { "distilbert", 12, 48 } };

static const struct {
	const char *type, *arrivals;
	bool is_be;
} kinds[] = {
	{ "periodic", "periodic", false },
	{ "poisson", "poisson", false },
	{ "continuous", "closed", true },
	{ "trace", NULL, false },
};

struct reading {
	const char *path;
	size_t task;     /* counted from 1; 0: none */
	size_t room;     /* for arrivals */
	double priority; /* of the LC that have one; NAN: none has */
	struct bench_program program[BENCH_CLIENTS_MAX];
	bool is_be[BENCH_CLIENTS_MAX];
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

/* Compares names of models: "resnet152-imagenet" is "resnet152". */
static bool is_model(const char *name, const char *model)
{
	size_t len = strlen(model);

	return !strncmp(name, model, len) && (!name[len] || !strcmp(name + len, "-imagenet"));
}

static int read_model(const struct reading *rd, const json_t *client, struct bench_program *ret)
{
	const char *name = json_string_value(json_object_get(client, "model_name"));
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
		return FAIL(rd, "bench does not know %.60s: say its kernels and kernel_us", name);
	r = read_number(rd, client, "kernels", 1, 10000, &kernels);
	ret->kernels = (unsigned int)kernels;
	return r ? r : read_number(rd, client, "kernel_us", 0.1, 1e6, &ret->kernel_us);
}

/* Reads a trace: times in ms. */
static int read_trace(struct reading *rd, const json_t *load, struct bench_program *ret)
{
	const json_t *times = json_object_get(load, "trace"), *v;
	struct gs_arrivals *all = &rd->to->all, mine;
	char *to = rd->to->arrivals[rd->task - 1];
	size_t n = json_array_size(times), i;
	double last = 0;

	if (!n || all->n + n > GS_ARRIVALS_MAX)
		return FAIL(rd, "trace must be a list of times in ms, at most %u in all",
			    GS_ARRIVALS_MAX);
	if (GS_GROW(all->at, rd->room, all->n + n))
		return gs_fail(rd->err, -ENOMEM, "out of memory");
	json_array_foreach((json_t *)times, i, v) {
		double ms = json_number_value(v);

		if (!json_is_number(v) || ms < last || ms > GS_ARRIVALS_SPAN_S * 1e3)
			return FAIL(rd, "time %zu of its trace is none in ms, or is not in order",
				    i + 1);
		last = ms;
		all->at[all->n + i] =
			(struct gs_arrival){ .ns = (uint64_t)(ms * NS_PER_MS), .size = 1 };
	}
	mine = (struct gs_arrivals){ .at = all->at + all->n, .n = n };
	all->n += n;
	ret->arrivals = to;
	return bench_clients_put_trace(&mine, to, sizeof(rd->to->arrivals[0]), rd->err);
}

/* There is one class of services: all that have a priority must have the same. */
static int check_priority(struct reading *rd, const json_t *o)
{
	const json_t *v = json_object_get(o, "priority");

	if (!v || rd->is_be[rd->task - 1])
		return 0;
	if (!json_is_number(v))
		return FAIL(rd, "priority must be a number");
	if (isnan(rd->priority))
		rd->priority = json_number_value(v);
	return json_number_value(v) == rd->priority
		       ? 0
		       : FAIL(rd, "bench cannot express services of several priorities");
}

static int read_load(struct reading *rd, const json_t *load, struct bench_program *ret)
{
	static const char *const known[][4] = { { "type", "frequency", "priority" },
						{ "type", "frequency", "priority" },
						{ "type", "priority" },
						{ "type", "trace", "priority" } };
	const char *type = json_string_value(json_object_get(load, "type"));
	double frequency = 0;
	size_t k = 0;
	int r;

	while (type && k < GS_COUNT(kinds) && strcmp(type, kinds[k].type))
		k++;
	if (!type || k == GS_COUNT(kinds))
		return FAIL(rd,
			    "type of load is periodic, poisson, continuous or trace, not '%.40s'",
			    type ? type : "");
	rd->is_be[rd->task - 1] = kinds[k].is_be;
	if (check_keys(rd, load, known[k]) || check_priority(rd, load))
		return -EINVAL;
	ret->burst = 1;
	if (!kinds[k].arrivals)
		return read_trace(rd, load, ret);
	ret->arrivals = kinds[k].arrivals;
	ret->period_us = 1; /* of a closed loop: no pause */
	if (kinds[k].is_be)
		return 0;
	r = read_number(rd, load, "frequency", 0.001, 1e6, &frequency);
	ret->period_us = r ? 0 : 1e6 / frequency;
	return r;
}

static int read_task(struct reading *rd, const json_t *task)
{
	static const char *const parts[] = { "client", "load", "id", NULL };
	/* DISB's addresses of servers mean nothing here, since no server is asked */
	static const char *const known[] = {
		"name",    "model_name", "batch_size", "tfs_grpc_addr", "triton_grpc_addr",
		"kernels", "kernel_us",  NULL
	};
	const json_t *client = json_object_get(task, "client"), *batch;
	struct bench_program *p = &rd->program[rd->task - 1];
	int r = check_keys(rd, task, parts);

	if (!r)
		r = check_keys(rd, client, known);
	batch = json_object_get(client, "batch_size");
	if (!r && batch && json_integer_value(batch) != 1)
		r = FAIL(rd, "bench cannot express batches: batch_size must be 1");
	if (!r)
		r = read_model(rd, client, p);
	return r ? r : read_load(rd, json_object_get(task, "load"), p);
}

/* ---- all tasks ------------------------------------------------------------------------------- */

static int share_out(struct reading *rd, size_t n)
{
	struct bench_clients *to = rd->to;

	for (size_t i = 0; i < n; i++)
		if (rd->is_be[i])
			to->be[to->nbe++] = rd->program[i];
		else
			to->lc[to->nlc++] = rd->program[i];
	rd->task = 0;
	return to->nbe && to->nlc ? 0
				  : FAIL(rd, "bench measures services beside continuous clients: "
					     "there must be both");
}

static int read_tasks(struct reading *rd, const char *text, size_t len)
{
	static const char *const known[] = { "tasks", "time", NULL };
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
	size_t len;
	int r;

	if (!rd)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gs_read_file(path, MAX_BYTES, &text, &len, err);
	if (r)
		return r;
	*rd = (struct reading){ .path = path, .to = to, .err = err, .priority = NAN };
	r = read_tasks(rd, (const char *)text, len);
	if (!r)
		gs_sha256(text, len, to->sha256);
	return r;
}
