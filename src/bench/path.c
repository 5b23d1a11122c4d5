// SPDX-License-Identifier: MIT
/*
 * path.c - measures cells with real programs: gsload or PyTorch, gpuschedd, an MPS server
 *
 * Cells that differ only in the policy use the same programs and the same daemon, one after the
 * other. Other cells share nothing. Each program writes its work, with the time, into its own
 * memory file; work within a cell's window counts.
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "basic/beside.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/file.h"
#include "basic/log.h"
#include "basic/json_sheet.h"
#include "bench/path.h"
#include "gpusched/gpusched.h"
#include "local/ask.h"
#include "local/local.h"
#include "bench/look.h"
#include "mps/join.h"
#include "rm/rm.h"

#define READY_MS 90000 /* enough for PyTorch on a cold disk */
#define DAEMON_MS 60000
#define MPS_MS 15000

static bool stopped(const struct bench_run *run)
{
	return run->stop && *run->stop;
}

static int wait_for(const struct bench_run *run, double ns)
{
	uint64_t end = gs_now_ns() + (uint64_t)ns, now;

	while (!stopped(run) && (now = gs_now_ns()) < end)
		gs_sleep_ns(end - now < 50 * NS_PER_MS ? end - now : 50 * NS_PER_MS);
	return stopped(run) ? -EINTR : 0;
}

static void close_handle(struct gpusched **g)
{
	if (*g)
		gpusched_close(*g);
}
#define CLEANUP_HANDLE CLEANUP(close_handle)

static int connect_to(uint32_t flags, struct gpusched **ret, struct gs_error *err)
{
	int r = gs_local_open(flags, ret);

	return r ? gs_fail(err, r, "gpuschedd: %s", *ret ? gpusched_error(*ret) : strerror(-r)) : 0;
}

/* Sends one verb; takes @args. */
static int ask(uint32_t flags, const char *verb, json_t *args, json_t **ret, struct gs_error *err)
{
	CLEANUP_JSON json_t *owned = args;
	CLEANUP_HANDLE struct gpusched *g = NULL;
	int r = connect_to(flags, &g, err);

	if (!r && gs_ask(g, verb, owned, ret))
		r = gs_fail(err, -EIO, "gpuschedd: %s: %s", verb, gpusched_error(g));
	return r;
}

/* ---- daemon ---------------------------------------------------------------------------------- */

static void last_words(const struct bench_path *p, char *ret, size_t size)
{
	char name[320], line[512];
	CLEANUP_FILE FILE *f = NULL;

	snprintf(name, sizeof(name), "%s/log", p->dir);
	f = fopen(name, "re");
	snprintf(ret, size, "it said nothing");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0])
			snprintf(ret, size, "%.150s", line);
	}
}

static int failed(const struct bench_path *p, const char *what, int code, struct gs_error *err)
{
	char words[160];

	last_words(p, words, sizeof(words));
	return gs_fail(err, code, "%s: %s", what, words);
}

static int write_config(const struct bench_run *run, const struct bench_cell *cell,
			struct gs_error *err)
{
	const struct bench_path *p = run->path;
	const struct bench_scheme *s = cell ? cell->scheme : NULL;
	CLEANUP_FILE FILE *f = NULL;
	char name[320];

	snprintf(name, sizeof(name), "%s/conf", p->dir);
	f = fopen(name, "we");
	if (!f)
		return gs_fail(err, -errno, "%s: %s", name, strerror(errno));
	if (s && s->policy)
		fprintf(f, "[Policy]\nPolicy=%s\n", s->policy);
	fprintf(f, "[Daemon]\nUnknownDriver=%s\n", run->any_driver ? "yes" : "no");
	/* as without gpusched: several programs may have slices below a switch's cost */
	if (s && s->slices)
		fprintf(f, "SwitchCost=1us\n");
	setenv("GPUSCHED_CONFIG", name, 1);
	return fflush(f) ? gs_fail(err, -EIO, "%s cannot be written", name) : 0;
}

static bool daemon_ready(pid_t pid)
{
	CLEANUP_JSON json_t *pong = NULL;

	return !ask(GS_LOCAL_DAEMON_ONLY, "ping", NULL, &pong, NULL) &&
	       json_integer_value(json_object_get(pong, "pid")) == pid;
}

static int start_daemon(const struct bench_run *run, const struct bench_cell *cell,
			struct bench_child *ret, struct gs_error *err)
{
	const struct bench_path *p = run->path;
	const char *const argv[] = { p->gpuschedd, "--foreground",
				     run->dry_run ? "--dry-run" : NULL, NULL };
	uint64_t end = gs_now_ns() + DAEMON_MS * NS_PER_MS;
	int r = write_config(run, cell, err);

	if (!r)
		r = bench_spawn_to(argv, p->log_fd, p->log_fd, ret, err);
	while (!r && !daemon_ready(ret->pid)) {
		if (bench_spawned_wait(ret, 50) != -ETIMEDOUT)
			r = failed(p, "gpuschedd", -EBUSY, err);
		else if (gs_now_ns() > end)
			r = failed(p, "gpuschedd does not answer", -ETIMEDOUT, err);
	}
	return r;
}

int bench_path_daemon(const struct bench_run *run, struct bench_child *ret, struct gs_error *err)
{
	return start_daemon(run, NULL, ret, err);
}

/* Makes the daemon read its configuration again, and waits until @cell's policy runs. */
static int tell_daemon(const struct bench_run *run, const struct bench_child *daemon,
		       const struct bench_cell *cell, struct gs_error *err)
{
	const struct bench_path *p = run->path;
	uint64_t end = gs_now_ns() + DAEMON_MS * NS_PER_MS;
	int r = write_config(run, cell, err);

	if (!r)
		kill(daemon->pid, SIGHUP);
	while (!r && !stopped(run)) {
		CLEANUP_JSON json_t *stats = NULL;

		r = ask(GS_LOCAL_READ_ONLY, "stats", NULL, &stats, err);
		if (r)
			return r;
		if (bench_program_policy_runs(cell->scheme, stats))
			return 0;
		if (gs_now_ns() > end)
			return failed(p, "the policy does not start", -ETIMEDOUT, err);
		gs_sleep_ns(20 * NS_PER_MS);
	}
	return r ? r : -EINTR;
}

/* Removes gpusched's taps and table, which outlive the daemon. */
static int forget_all(const struct bench_path *p, struct gs_error *err)
{
	const char *const argv[] = { p->gpusched, "observe", "off", NULL };
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;
	int r = bench_spawn_to(argv, p->log_fd, p->log_fd, &c, err);

	return r || !bench_spawned_wait(&c, DAEMON_MS)
		       ? r
		       : failed(p, "gpusched observe off", -EIO, err);
}

int bench_path_forget(const struct bench_run *run, struct gs_error *err)
{
	return forget_all(run->path, err);
}

/* ---- MPS: a server of ours ------------------------------------------------------------------- */

#define MPS_ENV "export CUDA_MPS_PIPE_DIRECTORY=%s/mps%u CUDA_MPS_LOG_DIRECTORY=%s/mps-log%u; "

/* Runs @script, and reads the first 4 KiB of its output. */
static int mps_shell(const struct bench_path *p, unsigned int gpu, const char *script, char *ret,
		     size_t size)
{
	char text[1200];
	const char *const argv[] = { "sh", "-c", text, NULL };
	CLEANUP_FD int out = memfd_create("mps", MFD_CLOEXEC);
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;
	ssize_t n;
	int r;

	snprintf(text, sizeof(text), MPS_ENV "%s", p->dir, gpu, p->dir, gpu, script);
	r = out < 0 ? -errno : bench_spawn_to(argv, out, p->log_fd, &c, NULL);
	if (!r)
		r = bench_spawned_wait(&c, MPS_MS);
	n = pread(out, ret, size - 1, 0);
	ret[n > 0 ? n : 0] = '\0';
	return r;
}

static int start_mps(const struct bench_path *p, unsigned int gpu, struct bench_child *ret,
		     struct gs_error *err)
{
	char text[1200], dir[320];
	const char *const argv[] = { "sh", "-c", text, NULL };
	uint64_t end = gs_now_ns() + MPS_MS * NS_PER_MS;
	int r;

	snprintf(dir, sizeof(dir), "%s/mps%u", p->dir, gpu);
	mkdir(dir, 0700);
	snprintf(dir, sizeof(dir), "%s/mps-log%u", p->dir, gpu);
	mkdir(dir, 0700);
	snprintf(text, sizeof(text), MPS_ENV "%s%s exec nvidia-cuda-mps-control -f", p->dir, gpu,
		 p->dir, gpu, p->uuid[gpu][0] ? "CUDA_VISIBLE_DEVICES=" : "", p->uuid[gpu]);
	r = bench_spawn_to(argv, p->log_fd, p->log_fd, ret, err);
	snprintf(dir, sizeof(dir), "%s/mps%u/control", p->dir, gpu);
	while (!r && access(dir, F_OK)) {
		if (bench_spawned_wait(ret, 50) != -ETIMEDOUT)
			r = failed(p, "nvidia-cuda-mps-control", -EIO, err);
		else if (gs_now_ns() > end)
			r = failed(p, "nvidia-cuda-mps-control does not come up", -ETIMEDOUT, err);
	}
	return r;
}

static void stop_mps(const struct bench_path *p, unsigned int gpu, struct bench_child *c)
{
	char text[64];

	if (c->pid <= 0)
		return;
	mps_shell(p, gpu, "echo quit | timeout 10 nvidia-cuda-mps-control", text, sizeof(text));
	bench_spawned_wait(c, MPS_MS);
	bench_spawned_free_(c);
}

/* Ends the pool of a scheme's programs, which would disturb the next cell. */
static void end_pool(const char *how, unsigned int gpu)
{
	bool share = how && !strcmp(how, "--share");
	struct gs_mps_place place;
	struct gs_error err = { 0 };
	char name[32];
	int r;

	if (!how)
		return;
	bench_program_pool_name(gpu, name, sizeof(name));
	r = gs_mps_place(name, share, &place, &err);
	if (!r)
		r = gs_mps_join_end(&place, MPS_MS);
	if (r)
		gs_log(LOG_WARNING, "bench: the %s's MPS server is still there: %s", how + 2,
		       err.text[0] ? err.text : strerror(-r));
}

/* Counts our programs in the MPS servers' own lists of clients. */
static int mps_clients(const struct bench_path *p, unsigned int gpu, const struct program *all,
		       size_t n)
{
	char text[4096], *at = text, *word;
	int clients = 0;

	if (mps_shell(p, gpu,
		      "for s in $(echo get_server_list | timeout 5 nvidia-cuda-mps-control); do "
		      "echo get_client_list $s | timeout 5 nvidia-cuda-mps-control; done",
		      text, sizeof(text)))
		return 0;
	while ((word = strsep(&at, " \n")))
		for (size_t i = 0; i < n; i++)
			clients += *word && atoi(word) == all[i].child.pid;
	return clients;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* One of the GPUs side by side, with its programs. Each of these GPUs measures another block. */
struct side {
	unsigned int gpu;
	/* Cells of one load, measured one after the other with the same programs. */
	struct bench_cell *cells;
	struct program all[MAX_PROGRAMS];
	size_t n;
	struct bench_child mps;
	int mps_clients;
};

struct cell_run {
	struct bench_run *run;
	struct bench_path *p;
	const struct bench_scheme *how; /* programs are started as this scheme says */
	struct bench_child daemon;
	struct side sides[BENCH_GPUS];
	unsigned int nsides;
	size_t ncells, measured; /* number of cells of each side; of those, how many are measured */
	struct {
		uint64_t from_ns, to_ns;
	} window[BENCH_SCHEMES_MAX];
};

static void run_end(struct cell_run *c)
{
	for (struct side *s = c->sides; s < c->sides + c->nsides; s++)
		for (size_t i = 0; i < s->n; i++)
			if (s->all[i].child.pid > 0)
				kill(s->all[i].child.pid, SIGTERM);
	for (struct side *s = c->sides; s < c->sides + c->nsides; s++) {
		for (size_t i = 0; i < s->n; i++)
			bench_program_free(&s->all[i]);
		s->n = 0;
		/* comes before the end of the daemon, which knows where the pool is */
		end_pool(c->how->run_be, s->gpu);
		stop_mps(c->p, s->gpu, &s->mps);
	}
	bench_spawned_free_(&c->daemon);
}

static int start_side(struct cell_run *c, struct side *s, struct gs_error *err)
{
	const struct bench_load *l = s->cells[0].load;
	unsigned int nlc = c->how->be_alone ? 0 : l->nlc;
	unsigned int nbe = c->how->alone ? 0 : l->nbe;
	int r = 0;

	for (unsigned int i = 0; !r && i < nlc + nbe; i++) {
		bool is_lc = i < nlc;

		r = bench_program_start(
			c->p, c->how, bench_program_of(l, is_lc, is_lc ? i : i - nlc), is_lc,
			s->gpu, i + 1 + 100 * s->cells[0].block, &s->all[s->n], err);
		s->n += !r;
	}
	return r;
}

static int start_all(struct cell_run *c, struct gs_error *err)
{
	struct side *end = c->sides + c->nsides;
	int r = 0;

	for (struct side *s = c->sides; !r && s < end && c->how->mps != BENCH_NO_MPS; s++)
		r = start_mps(c->p, s->gpu, &s->mps, err);
	if (!r)
		r = c->how->bare ? forget_all(c->p, err)
				 : start_daemon(c->run, &c->sides[0].cells[0], &c->daemon, err);
	for (struct side *s = c->sides; !r && s < end; s++)
		r = start_side(c, s, err);
	for (struct side *s = c->sides; !r && s < end; s++)
		for (size_t i = 0; !r && i < s->n; i++)
			r = bench_program_ready(&s->all[i], READY_MS);
	return r == -ENODATA || r == -ETIMEDOUT ? failed(c->p, "a program did not begin", r, err)
						: r;
}

static int set_slices(const struct side *s, struct gs_error *err)
{
	for (size_t i = 0; i < s->n; i++) {
		CLEANUP_JSON json_t *answer = NULL;
		char target[32];
		int r;

		if (s->all[i].is_lc)
			continue;
		snprintf(target, sizeof(target), "pid:%d", s->all[i].child.pid);
		r = ask(0, "set",
			json_pack("{s:s, s:i}", "target", target, "timeslice_us",
				  (int)bench_table_slice_us(s->cells[0].load)),
			&answer, err);
		if (r)
			return r;
	}
	return 0;
}

static int look(struct bench_look *ret, struct gs_error *err)
{
	CLEANUP_HANDLE struct gpusched *g = NULL;
	int r = connect_to(GS_LOCAL_READ_ONLY, &g, err);

	if (!r && bench_look(g, ret))
		r = gs_fail(err, -EIO, "gpuschedd: %s", gpusched_error(g));
	return r;
}

/* The GPU with that UUID; without a UUID, the first one. */
static const json_t *gpu_of(const json_t *gpus, const char *uuid)
{
	const json_t *gpu;
	size_t i;

	json_array_foreach(gpus, i, gpu) {
		const char *is = json_string_value(json_object_get(gpu, "gpu_uuid"));

		if (!uuid[0] || (is && !strcmp(is, uuid)))
			return gpu;
	}
	return NULL;
}

/* Takes a cell's figures for its window, from the GPU's log and the table. */
static void take_looks(struct cell_run *c, const struct side *s, struct bench_cell *cell,
		       const struct bench_look *before, const struct bench_look *after)
{
	CLEANUP_JSON json_t *gpus = bench_look_gpus(before, after);
	const json_t *gpu = gpu_of(gpus, c->p->uuid[s->gpu]);

	if (gs_json_at(gpu, "lost_pct"))
		cell->lost_pct = gs_json_number(gpu, "lost_pct");
	if (gs_json_at(gpu, "switches_per_s"))
		cell->switches_per_s = gs_json_number(gpu, "switches_per_s");
	if (c->how->bare) {
		cell->in_force = json_pack("{s:n, s:b}", "policy", "daemon", 0);
		cell->proved = true;
	} else {
		bench_program_in_force(cell, s->all, s->n, after, gpu);
	}
	if (c->how->mps != BENCH_NO_MPS) {
		json_object_set_new(cell->in_force, "mps_clients", json_integer(s->mps_clients));
		cell->proved &= s->mps_clients == (int)s->n;
	}
}

/* Puts the scheme of all sides' @k-th cells in force, and waits for the warm-up. */
static int put_in_force(struct cell_run *c, size_t k, struct gs_error *err)
{
	struct side *end = c->sides + c->nsides;
	int r = k ? tell_daemon(c->run, &c->daemon, &c->sides[0].cells[k], err) : 0;

	for (struct side *s = c->sides; !r && s < end && c->how->slices; s++)
		r = set_slices(s, err);
	if (!r)
		r = wait_for(c->run, bench_table_warmup_s(c->run, c->sides[0].cells[k].scheme) *
					     c->run->dilate * 1e9);
	for (struct side *s = c->sides; !r && s < end && c->how->mps != BENCH_NO_MPS; s++)
		s->mps_clients = mps_clients(c->p, s->gpu, s->all, s->n);
	return r;
}

static bool one_ended(struct cell_run *c)
{
	for (struct side *s = c->sides; s < c->sides + c->nsides; s++)
		for (size_t i = 0; i < s->n; i++)
			if (bench_spawned_wait(&s->all[i].child, 0) != -ETIMEDOUT)
				return true;
	return false;
}

static int measure(struct cell_run *c, size_t k, struct gs_error *err)
{
	CLEANUP(bench_look_free) struct bench_look before = { 0 }, after = { 0 };
	int r = put_in_force(c, k, err);

	if (!r && !c->how->bare)
		r = look(&before, err);
	if (r)
		return r;
	c->window[k].from_ns = gs_now_ns();
	for (struct side *s = c->sides; s < c->sides + c->nsides; s++)
		for (size_t i = 0; i < s->n; i++)
			bench_program_anew(&s->all[i]);
	r = wait_for(c->run, c->run->seconds * c->run->dilate * 1e9);
	c->window[k].to_ns = gs_now_ns();
	if (!r && !c->how->bare)
		r = look(&after, err);
	if (r)
		return r;
	if (one_ended(c))
		return gs_fail(err, -ECHILD, "a program ended while it was measured");
	if (c->run->before_end)
		c->run->before_end(c->run->user, &c->sides[0].cells[k]);
	for (unsigned int i = 0; i < c->nsides; i++)
		take_looks(c, &c->sides[i], &c->sides[i].cells[k], &before, &after);
	c->measured++;
	return 0;
}

/* Takes the programs' own figures for one cell's window. */
static int take_figures(struct cell_run *c, const struct side *s, size_t k)
{
	uint64_t from = c->window[k].from_ns, to = c->window[k].to_ns;
	struct bench_cell *cell = &s->cells[k];
	int r = 0;

	for (size_t i = 0; !r && i < s->n; i++) {
		const struct program *p = &s->all[i];

		if (p->is_lc)
			r = bench_program_latencies(p, from, to, cell);
		else
			cell->be_rate = (isfinite(cell->be_rate) ? cell->be_rate : 0) +
					bench_program_rate(p, from, to) * c->run->dilate;
	}
	if (!r && !cell->n && !c->how->be_alone)
		snprintf(cell->failed, sizeof(cell->failed), "no request ended in the window");
	return r;
}

static int measure_all(struct cell_run *c)
{
	struct gs_error why = { 0 };
	int r = start_all(c, &why), q = 0;

	for (size_t k = 0; !r && k < c->ncells; k++)
		r = measure(c, k, &why);
	for (struct side *s = c->sides; s < c->sides + c->nsides; s++) {
		for (size_t i = 0; i < s->n; i++)
			bench_spawned_stop(&s->all[i].child);
		for (size_t k = 0; !q && k < c->measured; k++)
			q = take_figures(c, s, k);
		for (size_t k = c->measured; k < c->ncells; k++)
			snprintf(s->cells[k].failed, sizeof(s->cells[k].failed), "%.190s",
				 why.text[0] ? why.text : strerror(-r));
	}
	return q;
}

bool bench_path_same_programs(const struct bench_scheme *a, const struct bench_scheme *b)
{
	const struct bench_scheme *both[] = { a, b };

	for (size_t i = 0; i < GS_COUNT(both); i++)
		if (both[i]->alone || both[i]->be_alone || both[i]->slices || both[i]->bare ||
		    both[i]->run_be || both[i]->mps != BENCH_NO_MPS ||
		    (both[i]->policy && !both[i]->told))
			return false;
	return true;
}

int bench_on_path(struct bench_run *run, struct bench_cell *cells, size_t n, unsigned int ngpus,
		  struct gs_error *err)
{
	CLEANUP(run_end)
	struct cell_run c = {
		.run = run,
		.p = run->path,
		.how = cells[0].scheme,
		.daemon = BENCH_CHILD_NONE,
		.nsides = ngpus,
		.ncells = n,
	};
	int r;

	for (unsigned int i = 0; i < ngpus; i++) {
		c.sides[i].gpu = i;
		c.sides[i].cells = cells + i * n;
		c.sides[i].mps = (struct bench_child)BENCH_CHILD_NONE;
	}
	for (size_t k = 0; k < ngpus * n; k++) {
		cells[k].be_rate = cells[k].lost_pct = NAN;
		cells[k].switches_per_s = cells[k].late_p99_us = NAN;
		if (cells[k].scheme->told)
			c.how = cells[k].scheme;
	}
	r = measure_all(&c);
	return stopped(run) ? gs_fail(err, -EINTR, "interrupted") : r;
}

/* ---- begin and end --------------------------------------------------------------------------- */

/* Measures the load generator's speed on the idle GPU, and gets the GPU's name. */
static int calibrate(struct bench_run *run, struct gs_error *err)
{
	struct bench_path *p = run->path;
	const char *const argv[] = { p->gsload, "cal", NULL };
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;
	CLEANUP_JSON json_t *o = NULL;
	char line[4096];
	int r = bench_spawn(argv, p->log_fd, &c, err);

	if (r)
		return r;
	if (bench_spawned_line(&c, READY_MS, line, sizeof(line)))
		return failed(p, "gsload cal", -EIO, err);
	o = json_loads(line, 0, NULL);
	p->iterations = gs_json_number(o, "iterations_per_us");
	p->multiprocessors = gs_json_number(o, "multiprocessors");
	snprintf(run->gpu, sizeof(run->gpu), "%s",
		 json_is_string(json_object_get(o, "gpu"))
			 ? json_string_value(json_object_get(o, "gpu"))
			 : "unknown GPU");
	return p->iterations > 0 ? 0 : failed(p, "gsload cal", -EIO, err);
}

/* Refuses if other programs use the GPU: they would disturb the measurement, and count in it. */
static int refuse_others(const struct bench_look *l, struct gs_error *err)
{
	const json_t *t = json_array_get(l->tsgs, 0);
	const char *comm = json_string_value(json_object_get(t, "comm"));

	if (!t)
		return 0;
	return gs_fail(err, -EBUSY,
		       "%zu TSGs of other programs are on the GPUs, the first of process "
		       "%.0f (%s): end them first",
		       json_array_size(l->tsgs), gs_json_number(t, "pid"), comm ? comm : "-");
}

/* Chooses the GPUs that run side by side, by UUID. */
static int choose_gpus(struct bench_run *run, const json_t *gpus, struct gs_error *err)
{
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(gpus) && n < run->gpus; i++) {
		const json_t *uuid = gs_json_at(json_array_get(gpus, i), "gpu_uuid");

		if (uuid)
			snprintf(run->path->uuid[n++], sizeof(run->path->uuid[0]), "%s",
				 json_string_value(uuid));
	}
	return n == run->gpus ? 0
			      : gs_fail(err, -ENOTSUP, "%zu GPUs are here, not %u", n, run->gpus);
}

/* Names the machine of these results: the GPUs, or the host. */
static void name_machine(struct bench_run *run, const json_t *gpus)
{
	const json_t *uuid = gs_json_at(json_array_get(gpus, 0), "gpu_uuid");
	size_t at = 0;

	if (run->mode != BENCH_REAL || !uuid) {
		if (gethostname(run->machine, sizeof(run->machine) - 1))
			snprintf(run->machine, sizeof(run->machine), "unknown");
		return;
	}
	if (run->gpus < 2)
		snprintf(run->machine, sizeof(run->machine), "%s", json_string_value(uuid));
	for (unsigned int i = 0; run->gpus > 1 && i < run->gpus; i++)
		at += (size_t)snprintf(run->machine + at, sizeof(run->machine) - at, "%s%s",
				       i ? "," : "", run->path->uuid[i]);
}

/*
 * Counts GPUs in /proc. Returns 0 in a simulated instance, since /proc describes the real driver.
 */
static unsigned int count_gpus(void)
{
	CLEANUP(globfree) glob_t g = { 0 };

	if (gs_env()->sim || glob("/proc/driver/nvidia/gpus/*", 0, NULL, &g))
		return 0;
	return (unsigned int)g.gl_pathc;
}

static int know_machine(struct bench_run *run, struct gs_error *err)
{
	CLEANUP(bench_look_free) struct bench_look l = { 0 };
	CLEANUP_CHILD struct bench_child daemon = BENCH_CHILD_NONE;
	const json_t *gpus;
	int r = start_daemon(run, NULL, &daemon, err);

	if (r)
		return r;
	gs_sleep_ns(NS_PER_S); /* enough for the daemon to find programs that started before it */
	r = look(&l, err);
	if (!r && !run->beside_others)
		r = refuse_others(&l, err);
	if (r)
		return r;
	gpus = json_object_get(l.stats, "gpu_time");
	if (run->gpus > 1)
		r = choose_gpus(run, gpus, err);
	name_machine(run, gpus);
	gs_rm_driver(NULL, run->driver, sizeof(run->driver), NULL);
	run->host_gpus =
		run->mode == BENCH_REAL ? count_gpus() : (unsigned int)json_array_size(gpus);
	return r;
}

int bench_path_begin(struct bench_run *run, struct gs_error *err)
{
	struct bench_path *p = calloc(1, sizeof(*p));
	char log[320];
	int r;

	if (!p)
		return gs_fail(err, -ENOMEM, "out of memory");
	run->path = p;
	p->log_fd = -1;
	gs_beside("gsload", p->gsload, sizeof(p->gsload));
	gs_beside("gpusched", p->gpusched, sizeof(p->gpusched));
	gs_beside("gpuschedd", p->gpuschedd, sizeof(p->gpuschedd));
	bench_program_torch_script(p->torch, sizeof(p->torch));
	snprintf(p->dir, sizeof(p->dir), "%s/gpusched-bench.XXXXXX",
		 gs_env()->sim ? gs_env()->run_dir : "/tmp");
	if (!mkdtemp(p->dir)) {
		p->dir[0] = '\0';
		return gs_fail(err, -errno, "no directory for its files: %s", strerror(errno));
	}
	if (run->note_dir)
		snprintf(run->note_dir, sizeof(p->dir), "%s", p->dir);
	snprintf(log, sizeof(log), "%s/log", p->dir);
	p->log_fd = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	if (p->log_fd < 0)
		return gs_fail(err, -errno, "%s: %s", log, strerror(errno));
	r = know_machine(run, err);
	return r ? r : calibrate(run, err);
}

void bench_path_end(struct bench_run *run)
{
	struct bench_path *p = run->path;

	if (!p)
		return;
	if (p->dir[0]) {
		const char *const argv[] = { "rm", "-rf", p->dir, NULL };
		CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;

		if (!bench_spawn_to(argv, p->log_fd, p->log_fd, &c, NULL))
			bench_spawned_wait(&c, 5000);
	}
	if (p->log_fd >= 0)
		close(p->log_fd);
	free(p);
	run->path = NULL;
}
