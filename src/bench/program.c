// SPDX-License-Identifier: MIT
/* program.c - starts a program of a cell, and makes figures of its output */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "basic/beside.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "bench/path.h"

#define MAX_ARGS 48
#define TEXTS 16

/* Arguments, and memory for their texts. */
struct args {
	const char *argv[MAX_ARGS];
	size_t n;
	char text[TEXTS][32], mps[360], sm[48], visible[80], pool[64];
	size_t ntexts;
};

static void add(struct args *a, const char *word)
{
	if (word && a->n + 1 < MAX_ARGS)
		a->argv[a->n++] = word;
}

/* Adds an option, unless @value is 0: then the program uses its default. */
static void add_number(struct args *a, const char *name, double value)
{
	if (!(value > 0) || a->ntexts == TEXTS)
		return;
	snprintf(a->text[a->ntexts], sizeof(a->text[0]), "%.6f", value);
	if (value == floor(value))
		snprintf(a->text[a->ntexts], sizeof(a->text[0]), "%.0f", value);
	add(a, name);
	add(a, a->text[a->ntexts++]);
}

void bench_program_pool_name(unsigned int gpu, char *ret, size_t size)
{
	ret[0] = '\0';
	if (gpu)
		snprintf(ret, size, "gpu%u", gpu);
}

/* Adds `--pool` or `--share`, with a name if there are several pools. */
static void add_pool(struct args *a, const char *how, unsigned int gpu)
{
	char name[32];

	bench_program_pool_name(gpu, name, sizeof(name));
	snprintf(a->pool, sizeof(a->pool), "%s%s%s", how, name[0] ? "=" : "", name);
	add(a, a->pool);
}

static void add_run(struct args *a, const struct bench_path *p, const struct bench_scheme *s,
		    bool is_lc, unsigned int gpu)
{
	const char *how = is_lc ? s->run_lc : s->run_be;

	if (p->uuid[gpu][0]) {
		add(a, "env");
		snprintf(a->visible, sizeof(a->visible), "CUDA_VISIBLE_DEVICES=%s", p->uuid[gpu]);
		add(a, a->visible);
	}
	if (s->mps != BENCH_NO_MPS) {
		add(a, "env");
		snprintf(a->mps, sizeof(a->mps), "CUDA_MPS_PIPE_DIRECTORY=%s/mps%u", p->dir, gpu);
		add(a, a->mps);
		if (s->mps == BENCH_MPS_PRIORITY && !is_lc)
			add(a, "CUDA_MPS_CLIENT_PRIORITY=1");
		if (s->be_sm_percent && !is_lc) {
			snprintf(a->sm, sizeof(a->sm), "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE=%u",
				 s->be_sm_percent);
			add(a, a->sm);
		}
	}
	if (!s->told && !how)
		return;
	add(a, p->gpusched);
	add(a, "run");
	if (how)
		add_pool(a, how, gpu);
	if (s->told) {
		add(a, "--class");
		add(a, is_lc ? "lc" : "be");
	}
	add(a, "--");
}

static void add_gsload(struct args *a, const struct bench_path *p, const struct bench_program *w,
		       unsigned int seed)
{
	bool requests = w->work == BENCH_REQUESTS;

	add(a, p->gsload);
	add(a, requests ? "lc" : "be");
	if (w->work == BENCH_MEMORY)
		add(a, "--memory");
	if (w->work == BENCH_COPY)
		add(a, "--copy");
	add(a, "--lines");
	add(a, "--ready");
	add(a, "--seconds");
	add(a, "0");
	add_number(a, "--iterations-per-us", p->iterations);
	add_number(a, "--multiprocessors", p->multiprocessors);
	add_number(a, "--kernel-us", w->kernel_us);
	add_number(a, "--block-us", w->block_us);
	if (!requests)
		return;
	add(a, "--arrivals");
	add(a, w->arrivals);
	add_number(a, "--period-us", w->period_us);
	add_number(a, "--kernels", w->kernels);
	add_number(a, "--gap-us", w->gap_us);
	add_number(a, "--cv", w->cv);
	add_number(a, "--tokens", w->tokens);
	if (w->tokens)
		add(a, "--graph");
	add_number(a, "--burst", w->burst);
	add_number(a, "--seed", seed);
}

int bench_program_start(const struct bench_path *p, const struct bench_scheme *scheme,
			const struct bench_program *what, bool is_lc, unsigned int gpu,
			unsigned int seed, struct program *ret, struct gs_error *err)
{
	struct args a = { .n = 0 };
	int r;

	*ret = (struct program){
		.child = BENCH_CHILD_NONE,
		.is_lc = is_lc,
		.gpu = gpu,
		.what = what,
	};
	ret->out = memfd_create("program", MFD_CLOEXEC);
	if (ret->out < 0)
		return gs_fail(err, -errno, "no memory for a program's output");
	add_run(&a, p, scheme, is_lc, gpu);
	if (what->work == BENCH_TORCH) {
		add(&a, "python3");
		add(&a, p->torch);
		add(&a, what->torch);
		add(&a, what->loop ? "--loop" : NULL);
		add_number(&a, "--seed", seed);
	} else {
		add_gsload(&a, p, what, seed);
	}
	r = bench_spawn_to(a.argv, ret->out, p->log_fd, &ret->child, err);
	if (r)
		bench_program_free(ret);
	return r;
}

/* The program's output so far; NULL: none. */
static char *output(const struct program *p, size_t *ret_n)
{
	struct stat st;
	char *text;

	if (fstat(p->out, &st) || st.st_size <= 0)
		return NULL;
	text = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, p->out, 0);
	*ret_n = (size_t)st.st_size;
	return text == MAP_FAILED ? NULL : text;
}

int bench_program_ready(struct program *p, unsigned int timeout_ms)
{
	static const char ready[] = "\"ready\"";
	uint64_t end = gs_now_ns() + timeout_ms * NS_PER_MS;

	for (;;) {
		size_t n = 0;
		char *text = output(p, &n);
		bool found = text && memmem(text, n, ready, strlen(ready));

		if (text)
			munmap(text, n);
		if (found)
			return 0;
		if (bench_spawned_wait(&p->child, 20) != -ETIMEDOUT)
			return -ENODATA;
		if (gs_now_ns() > end)
			return -ETIMEDOUT;
	}
}

/* Restarts the arrivals with each cell, so that the schemes of a block do not differ by chance. */
void bench_program_anew(const struct program *p)
{
	if (p->what->work == BENCH_REQUESTS || p->what->work == BENCH_TORCH)
		kill(p->child.pid, SIGUSR1);
}

/*
 * One line of output: {"t":SECONDS,"KEY":VALUE}. KEY is "us" for the time of a request or step,
 * "tok" for that of a token, "n" for the number of kernels since the last line.
 */
struct line {
	double ns, value, late;
	char key[8];
};

/* Returns false for another kind of line. In the format, a space stands for any space or none. */
static bool parse_line(const char *at, size_t n, struct line *ret)
{
	char line[128];

	if (n >= sizeof(line))
		return false;
	memcpy(line, at, n);
	line[n] = '\0';
	*ret = (struct line){ .late = NAN };
	if (sscanf(line, "{ \"t\": %lf, \"%7[a-z]\": %lf, \"late\": %lf", &ret->ns, ret->key,
		   &ret->value, &ret->late) < 3)
		return false;
	ret->ns *= 1e9;
	return true;
}

typedef int (*line_fn)(const struct line *line, void *user);

static int each_line(const struct program *p, line_fn fn, void *user)
{
	size_t n = 0;
	char *text = output(p, &n), *end;
	struct line line;
	int r = 0;

	for (char *at = text; !r && text && at < text + n; at = end + 1) {
		end = memchr(at, '\n', (size_t)(text + n - at));
		if (!end)
			break;
		if (parse_line(at, (size_t)(end - at), &line))
			r = fn(&line, user);
	}
	if (text)
		munmap(text, n);
	return r;
}

struct window {
	double from_ns, to_ns;
	struct bench_cell *cell;
	double before_ns, n; /* time of the last line; work within the window so far */
	double *late_us;
	size_t nlate;
};

/* Adds a value to a list. The list's allocated size is a power of two. */
static int append(double **list, size_t *inout_n, double value)
{
	if ((*inout_n & (*inout_n - 1)) == 0) {
		double *grown = reallocarray(*list, *inout_n ? 2 * *inout_n : 1, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		*list = grown;
	}
	(*list)[(*inout_n)++] = value;
	return 0;
}

static int add_latency(const struct line *l, void *user)
{
	struct window *w = user;
	struct bench_cell *c = w->cell;
	int r;

	if (l->ns < w->from_ns || l->ns >= w->to_ns)
		return 0;
	if (!strcmp(l->key, "tok"))
		return append(&c->token_us, &c->ntokens, l->value);
	r = append(&c->latency_us, &c->n, l->value);
	return r || !isfinite(l->late) ? r : append(&w->late_us, &w->nlate, l->late);
}

/* Counts the part of a line's work that lies in the window. */
static int add_work(const struct line *l, void *user)
{
	struct window *w = user;
	double from = fmax(w->before_ns, w->from_ns), to = fmin(l->ns, w->to_ns);

	if (!strcmp(l->key, "tok"))
		return 0;
	if (w->before_ns && to > from)
		w->n += (!strcmp(l->key, "n") ? l->value : 1) * (to - from) /
			(l->ns - w->before_ns);
	w->before_ns = l->ns;
	return 0;
}

int bench_program_latencies(const struct program *p, uint64_t from_ns, uint64_t to_ns,
			    struct bench_cell *cell)
{
	struct window w = { .from_ns = (double)from_ns, .to_ns = (double)to_ns, .cell = cell };
	int r = each_line(p, add_latency, &w);

	gs_sample_sort(w.late_us, w.nlate);
	if (w.nlate)
		cell->late_p99_us = fmax(w.late_us[gs_quantile_at(w.nlate, 0.99)],
					 isfinite(cell->late_p99_us) ? cell->late_p99_us : 0);
	free(w.late_us);
	return r;
}

double bench_program_rate(const struct program *p, uint64_t from_ns, uint64_t to_ns)
{
	struct window w = { .from_ns = (double)from_ns, .to_ns = (double)to_ns };
	unsigned int kernels = bench_table_kernels(p->what);

	each_line(p, add_work, &w);
	return to_ns > from_ns ? w.n * kernels * 1e9 / (w.to_ns - w.from_ns) : 0;
}

void bench_program_free(struct program *p)
{
	bench_spawned_free_(&p->child);
	if (p->out >= 0)
		close(p->out);
	p->out = -1;
}

void bench_program_torch_script(char *ret, size_t size)
{
	char folder[PATH_MAX - 32];

	gs_beside_folder(folder, sizeof(folder));
	snprintf(ret, size, "%s/../bench/torch_load.py", folder);
	if (access(ret, R_OK))
		gs_beside_installed(GPUSCHED_DATADIR "/bench/torch_load.py", ret, size);
}

/* ---- what was in force ----------------------------------------------------------------------- */

static const struct program *owner_of(const struct program *all, size_t n, const json_t *tsg)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].child.pid == (pid_t)gs_json_number(tsg, "pid"))
			return &all[i];
	return NULL;
}

static bool is_text(const json_t *o, const char *key, const char *text)
{
	const char *s = json_string_value(json_object_get(o, key));

	return text ? s && !strcmp(s, text) : !s;
}

bool bench_program_policy_runs(const struct bench_scheme *scheme, const json_t *stats)
{
	return is_text(stats, "policy", scheme->runs ? scheme->runs : scheme->policy);
}

/* True if the program's settings and class are those of the scheme. */
static bool as_said(const struct bench_cell *cell, const struct program *p, const json_t *tsg)
{
	const struct bench_scheme *s = cell->scheme;

	if (s->told && !is_text(tsg, "class", p->is_lc ? "lc" : "be"))
		return false;
	if (s->slices && !p->is_lc)
		return gs_json_number(tsg, "is.timeslice_us") == bench_table_slice_us(cell->load);
	return s->policy || !json_is_true(json_object_get(tsg, "changed"));
}

/* True for an MPS server of ours on @gpu. Its clients are the cell's programs. */
static bool is_server(const struct bench_cell *cell, const json_t *tsg, const json_t *gpu)
{
	return cell->scheme->run_be && json_is_true(json_object_get(tsg, "mps")) &&
	       gs_json_number(tsg, "gpu") == gs_json_number(gpu, "gpu");
}

void bench_program_in_force(struct bench_cell *cell, const struct program *all, size_t n,
			    const struct bench_look *after, const json_t *gpu)
{
	json_t *be = json_array(), *turns = json_array(), *why = json_array(), *tsg;
	bool as_is = bench_program_policy_runs(cell->scheme, after->stats), mps = false;
	double server = 0;
	size_t i;

	json_array_foreach(after->tsgs, i, tsg) {
		const struct program *p = owner_of(all, n, tsg);
		bool is = is_server(cell, tsg, gpu);

		mps |= p ? json_is_true(json_object_get(tsg, "mps")) : is;
		if ((!p && !is) || !is_text(tsg, "kind", "compute"))
			continue;
		as_is &= !p || as_said(cell, p, tsg);
		if (!p)
			server = gs_json_number(tsg, "pid");
		if (gs_json_at(tsg, "reason"))
			json_array_append(why, json_object_get(tsg, "reason"));
		if ((!p || !p->is_lc) && gs_json_at(tsg, "is.timeslice_us"))
			json_array_append(be, gs_json_at(tsg, "is.timeslice_us"));
	}
	json_array_foreach(json_object_get(gpu, "tsgs"), i, tsg) {
		const struct program *p = owner_of(all, n, tsg);

		if (p ? !p->is_lc : server && gs_json_number(tsg, "pid") == server)
			json_array_append(turns, json_object_get(tsg, "mean_turn_us"));
	}
	cell->in_force = json_pack("{s:O, s:o, s:o, s:b, s:o}", "policy",
				   json_object_get(after->stats, "policy"), "be_timeslice_us", be,
				   "be_turn_us", turns, "mps", mps, "reasons", why);
	/* a program that should run in a pool must be a client of its server */
	cell->proved = as_is && (!cell->scheme->run_be || mps);
}
