// SPDX-License-Identifier: MIT
/*
 * demo_path.c - the demo in real time: gsload, gpuschedd and `gpusched run` as anybody starts them
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/sheet.h"
#include "cli/cli.h"
#include "cli/demo.h"
#include "cli/demo_reason.h"
#include "cli/spawn.h"

#define WARMUP_S 0.25
#define MAX_ARGS 40

struct path {
	struct demo *d;
	char gsload[512], gpusched[512], gpuschedd[512];
	char iterations[32], seconds[32], warmup[32];
	char dir[300]; /* log and configuration of the daemon */
	int log_fd;
};

static void remove_dir(struct path *p)
{
	static const char *const files[] = { "log", "conf" };
	char name[320];

	for (size_t i = 0; p->dir[0] && i < GS_COUNT(files); i++) {
		snprintf(name, sizeof(name), "%s/%s", p->dir, files[i]);
		unlink(name);
	}
	if (p->dir[0])
		rmdir(p->dir);
	if (p->log_fd >= 0)
		close(p->log_fd);
}

/* Last line that programs left in the log. */
static void last_words(const struct path *p, char *ret, size_t size)
{
	char name[320];
	CLEANUP_FILE FILE *f = NULL;
	char line[512];

	snprintf(name, sizeof(name), "%s/log", p->dir);
	f = fopen(name, "re");
	snprintf(ret, size, "it said nothing");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0])
			snprintf(ret, size, "%.280s", line);
	}
}

static int failed(struct path *p, const char *what, int status, struct gs_error *err)
{
	char words[300];

	last_words(p, words, sizeof(words));
	return gs_fail(err, status == GS_EXIT_IMPOSSIBLE ? -ENOTSUP : -EIO,
		       "demo: %s failed (status %d): %s", what, status, words);
}

/* The one JSON object that a load prints at its end. */
static int read_result(struct path *p, struct cli_child *c, const char *what, json_t **ret,
		       struct gs_error *err)
{
	unsigned int limit =
		(unsigned int)((p->d->seconds + WARMUP_S) * p->d->dilate * 2000) + 60000;
	char line[4096];
	json_t *o;
	int r;

	for (;;) {
		r = cli_child_line(c, limit, line, sizeof(line));
		if (r == -ETIMEDOUT)
			return gs_fail(err, r, "demo: %s did not end in %u s", what, limit / 1000);
		if (r)
			return failed(p, what, cli_child_wait(c, 5000), err);
		o = json_loads(line, 0, NULL);
		if (o && json_object_get(o, "mode"))
			break;
		json_decref(o);
	}
	cli_child_wait(c, 5000);
	*ret = o;
	return 0;
}

static double number_of(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	return json_is_number(v) ? json_number_value(v) : NAN;
}

/* gsload, through `gpusched run --class` where a class is given. */
static int start_load(struct path *p, const char *mode, const char *class_name,
		      const char *const *more, struct cli_child *ret, struct gs_error *err)
{
	const char *argv[MAX_ARGS];
	size_t n = 0;

	if (class_name) {
		argv[n++] = p->gpusched;
		argv[n++] = "run";
		argv[n++] = "--class";
		argv[n++] = class_name;
		argv[n++] = "--";
	}
	argv[n++] = p->gsload;
	argv[n++] = mode;
	if (p->iterations[0]) {
		argv[n++] = "--iterations-per-us";
		argv[n++] = p->iterations;
		argv[n++] = "--warmup";
		argv[n++] = p->warmup;
	}
	while (*more && n + 1 < MAX_ARGS)
		argv[n++] = *more++;
	argv[n] = NULL;
	return cli_spawn(argv, p->log_fd, ret, err);
}

static int calibrate(struct path *p, struct gs_error *err)
{
	static const char *const none[] = { NULL };
	CLEANUP_CHILD struct cli_child c = CLI_CHILD_NONE;
	CLEANUP_JSON json_t *o = NULL;
	const char *name;
	int r;

	demo_tell(p->d, "how fast the idle GPU is");
	r = start_load(p, "cal", NULL, none, &c, err);
	if (!r)
		r = read_result(p, &c, "gsload cal", &o, err);
	if (r)
		return r;
	snprintf(p->iterations, sizeof(p->iterations), "%.6f", number_of(o, "iterations_per_us"));
	name = json_string_value(json_object_get(o, "gpu"));
	snprintf(p->d->where, sizeof(p->d->where), "%s", name ? name : "unknown GPU");
	return 0;
}

static int run_lc(struct path *p, enum demo_case k, const char *class_name, struct gs_error *err)
{
	const char *const more[] = { "--arrivals", "closed", "--seconds", p->seconds, NULL };
	CLEANUP_CHILD struct cli_child c = CLI_CHILD_NONE;
	CLEANUP_JSON json_t *o = NULL;
	int r;

	r = start_load(p, "lc", class_name, more, &c, err);
	if (!r)
		r = read_result(p, &c, "gsload lc", &o, err);
	if (r)
		return r;
	p->d->p50[k] = number_of(o, "p50_us");
	p->d->p99[k] = number_of(o, "p99_us");
	p->d->requests[k] = number_of(o, "n");
	return 0;
}

static int run_be_alone(struct path *p, struct gs_error *err)
{
	char half[32];
	const char *const more[] = { "--seconds", half, NULL };
	CLEANUP_CHILD struct cli_child c = CLI_CHILD_NONE;
	CLEANUP_JSON json_t *o = NULL;
	int r;

	/* Its rate is steady. */
	snprintf(half, sizeof(half), "%g", p->d->seconds / 2);
	r = start_load(p, "be", NULL, more, &c, err);
	if (!r)
		r = read_result(p, &c, "gsload be", &o, err);
	if (!r)
		p->d->be[DEMO_ALONE] = number_of(o, "rate_per_s");
	return r;
}

/* Both side by side: the BE runs from before the LC's first request until after its last. */
static int run_both(struct path *p, enum demo_case k, bool classes, struct gs_error *err)
{
	static const char *const more[] = { "--seconds", "0", "--ready", NULL };
	CLEANUP_CHILD struct cli_child be = CLI_CHILD_NONE;
	CLEANUP_JSON json_t *o = NULL;
	char line[256];
	int r;

	r = start_load(p, "be", classes ? "be" : NULL, more, &be, err);
	if (r)
		return r;
	r = cli_child_line(&be, 60000, line, sizeof(line));
	if (r || !strstr(line, "ready"))
		return failed(p, "gsload be", cli_child_wait(&be, 5000), err);
	r = run_lc(p, k, classes ? "lc" : NULL, err);
	if (r)
		return r;
	if (classes)
		demo_reason(p->d);
	cli_child_stop(&be);
	r = read_result(p, &be, "gsload be", &o, err);
	if (!r)
		p->d->be[k] = number_of(o, "rate_per_s");
	return r;
}

static int write_config(struct path *p, char *ret, size_t size, struct gs_error *err)
{
	CLEANUP_FILE FILE *f = NULL;

	snprintf(ret, size, "%s/conf", p->dir);
	f = fopen(ret, "we");
	if (!f || fputs("[Policy]\nPolicy=" DEMO_POLICY "\n", f) == EOF || fflush(f))
		return gs_fail(err, -errno, "demo: %s: %s", ret, strerror(errno));
	return 0;
}

static int start_daemon(struct path *p, struct cli_child *c, struct gs_error *err)
{
	const char *argv[8] = { p->gpuschedd, "--foreground" };
	uint64_t end = gs_now_ns() + 20 * NS_PER_S;
	char config[320];
	int r;

	r = write_config(p, config, sizeof(config), err);
	if (r)
		return r;
	setenv("GPUSCHED_CONFIG", config, 1);
	if (p->d->dry_run)
		argv[2] = "--dry-run";
	r = cli_spawn(argv, p->log_fd, c, err);
	if (r)
		return r;
	while (!demo_daemon_ready(c->pid)) {
		r = cli_child_wait(c, 100);
		if (r != -ETIMEDOUT)
			return failed(p, "gpuschedd", r, err);
		if (gs_now_ns() > end)
			return gs_fail(err, -ETIMEDOUT,
				       "demo: gpuschedd does not answer: is another one running?");
	}
	return 0;
}

static int measure(struct path *p, struct gs_error *err)
{
	CLEANUP_CHILD struct cli_child daemon = CLI_CHILD_NONE;
	int r;

	r = calibrate(p, err);
	if (r)
		return r;
	demo_tell(p->d, "LC alone");
	r = run_lc(p, DEMO_ALONE, NULL, err);
	if (r)
		return r;
	demo_tell(p->d, "BE alone");
	r = run_be_alone(p, err);
	if (r)
		return r;
	demo_tell(p->d, "both, as the driver does by default");
	r = run_both(p, DEMO_DEFAULT, false, err);
	if (r)
		return r;
	demo_tell(p->d, "both, with gpuschedd and its policy " DEMO_POLICY);
	r = start_daemon(p, &daemon, err);
	if (r)
		return r;
	return run_both(p, DEMO_GPUSCHED, true, err);
}

int demo_path(struct demo *d, struct gs_error *err)
{
	struct path p __attribute__((cleanup(remove_dir))) = { .d = d, .log_fd = -1 };
	char log[320];

	d->mode = "path";
	cli_program("gsload", p.gsload, sizeof(p.gsload));
	cli_program("gpusched", p.gpusched, sizeof(p.gpusched));
	cli_program("gpuschedd", p.gpuschedd, sizeof(p.gpuschedd));
	snprintf(p.seconds, sizeof(p.seconds), "%g", d->seconds);
	snprintf(p.warmup, sizeof(p.warmup), "%g", WARMUP_S);
	/* The simulated world takes its run directory away, however it ends. */
	snprintf(p.dir, sizeof(p.dir), "%s/gpusched-demo.XXXXXX",
		 gs_env()->sim ? gs_env()->run_dir : "/tmp");
	if (!mkdtemp(p.dir)) {
		p.dir[0] = '\0';
		return gs_fail(err, -errno, "demo: no directory for its files: %s",
			       strerror(errno));
	}
	snprintf(log, sizeof(log), "%s/log", p.dir);
	p.log_fd = open(log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
	if (p.log_fd < 0)
		return gs_fail(err, -errno, "demo: %s: %s", log, strerror(errno));
	return measure(&p, err);
}
