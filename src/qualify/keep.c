// SPDX-License-Identifier: MIT
/* keep.c - writes the results, as JSON and as parameters of the GPU model (src/sim) */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "qualify/qualify.h"
#include "sim/params.h"

static const struct {
	const char *name, *text;
} checks[QUALIFY_CHECKS_MAX] = {
#define X(sym, name, text) { name, text },
	QUALIFY_CHECKS(X)
#undef X
}, costs[QUALIFY_COSTS_MAX] = {
#define X(sym, name, text) { name, text },
	QUALIFY_COSTS(X)
#undef X
};

/* ---- JSON -------------------------------------------------------------------------------------- */

static json_t *text(const char *words)
{
	return words[0] ? gs_json_text(words) : json_null();
}

json_t *qualify_keep_json(const struct qualify_result *r)
{
	json_t *rows = json_array(), *prices = json_array();
	struct utsname host = { 0 };

	uname(&host);
	for (int i = 0; i < QUALIFY_CHECKS_MAX; i++) {
		const struct qualify_check *k = &r->checks[i];

		json_array_append_new(rows,
				      json_pack("{s:s, s:s, s:o, s:o}", "name", checks[i].name,
						"text", checks[i].text, "works",
						k->known ? json_boolean(k->works) : json_null(),
						"detail", text(k->why)));
	}
	for (int i = 0; i < QUALIFY_COSTS_MAX; i++) {
		const struct qualify_cost *c = &r->costs[i];

		json_array_append_new(prices,
				      json_pack("{s:s, s:s, s:o, s:o}", "name", costs[i].name,
						"text", costs[i].text, "us",
						isfinite(c->us) ? json_real(c->us) : json_null(),
						"reason", text(c->why)));
	}
	return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:b, s:o, s:o, s:o, s:I, "
			 "s:I, s:O?, s:O}",
			 "gpusched", GPUSCHED_VERSION, "kernel", text(host.release), "machine",
			 text(host.machine), "gpu", text(r->gpu), "gpu_uuid", text(r->uuid),
			 "gpu_pci", text(r->pci), "driver", text(r->driver), "seconds", r->seconds,
			 "dilate", r->dilate, "complete", r->complete, "left_behind", text(r->left),
			 "checks", rows, "costs", prices, "log_records", (json_int_t)r->records,
			 "log_lost", (json_int_t)r->lost, "calls", r->calls, "latency",
			 r->latencies);
}

/* ---- parameters of the model --------------------------------------------------------------------- */

/* Writes a comment that @key is unknown, on one line even if @why has several. */
static void put_unknown(FILE *f, const char *key, const char *why)
{
	fprintf(f, "# %s: unknown: ", key);
	for (const char *p = why[0] ? why : "not measured"; *p; p++)
		fputc(*p == '\n' || *p == '\r' ? ' ' : *p, f);
	fputc('\n', f);
}

static void put(FILE *f, const char *key, double us, const char *why)
{
	if (isfinite(us) && us >= 0)
		fprintf(f, "%s = %.3f\n", key, us);
	else
		put_unknown(f, key, why);
}

static void put_cost(FILE *f, const char *key, const struct qualify_result *r,
		     enum qualify_cost_id id)
{
	put(f, key, r->costs[id].us, r->costs[id].why);
}

/*
 * Writes the times to load and to save an idle TSG. Only their sum is measured; we split it in the
 * ratio of the default parameters.
 */
static void put_idle(FILE *f, const struct qualify_result *r, const struct sim_params *usual)
{
	const struct qualify_cost *c = &r->costs[QUALIFY_IDLE_TURN];
	double start = (double)usual->start_ns, save = (double)usual->save_idle_ns;
	double gap = r->costs[QUALIFY_GAP].us, sum;

	/* the measured turn includes the gap after the request's kernel; the model adds it again */
	sum = c->us - (isfinite(gap) ? gap : (double)usual->kernel_gap_ns / 1e3);
	fprintf(f, "# of these two the sum is measured\n");
	put(f, "save_idle_us", sum * save / (start + save), c->why);
	put(f, "start_us", sum * start / (start + save), c->why);
}

/*
 * Writes the host's part of a request, computed from the latencies of a service alone. In the
 * model, a program notices the end of its request after a fixed time plus an exponential tail.
 */
static void put_host(FILE *f, const struct qualify_result *r, const struct sim_params *usual)
{
	double p50 = r->costs[QUALIFY_ALONE_P50].us, p99 = r->costs[QUALIFY_ALONE_P99].us;
	double launch = (double)usual->launch_ns, notice = (double)usual->notice_ns;
	double tail = (p99 - p50) / log(50), fixed = p50 - 100 - log(2) * tail;
	double part = launch / (launch + notice);

	if (isfinite(r->costs[QUALIFY_GAP].us))
		fixed -= r->costs[QUALIFY_GAP].us;
	fprintf(f, "\n[host]\n# from a request alone; the sum of the first two is measured\n");
	if (!(fixed > 0) || !(tail >= 0)) {
		put_unknown(f, "launch_us", r->costs[QUALIFY_ALONE_P50].why);
		return;
	}
	fprintf(f, "launch_us = %.3f\nnotice_us = %.3f\nnotice_tail_us = %.3f\n", fixed * part,
		fixed * (1 - part), tail);
}

static void put_calls(FILE *f, const struct qualify_result *r)
{
	static const struct {
		const char *key, *op;
	} calls[] = {
		{ "set_timeslice_us", "set-timeslice" },
		{ "set_interleave_us", "set-interleave" },
		{ "set_preempt_mode_us", "set-preempt-mode" },
		{ "disable_us", "suspend" },
		{ "enable_us", "resume" },
	};

	fprintf(f, "\n[call]\n# the mean, with what gpusched itself does for it\n");
	for (size_t i = 0; i < GS_COUNT(calls); i++) {
		const json_t *op = json_object_get(r->calls, calls[i].op);
		double us = gs_json_at(op, "mean_us") ? gs_json_number(op, "mean_us") : NAN;

		put(f, calls[i].key, us / r->dilate, "none was made");
	}
}

static void put_model(FILE *f, const struct qualify_result *r)
{
	const struct qualify_check *interleave = &r->checks[QUALIFY_INTERLEAVE];
	struct sim_params usual;

	sim_params_default(&usual);
	fprintf(f, "# Parameters of the GPU model, by 'gpusched qualify'. What is not here is an "
		   "H200's.\n\n[gpu]\nname = qualified\n");
	if (r->gpu[0] && !strpbrk(r->gpu, ";#\n"))
		fprintf(f, "product = %s\n", r->gpu);
	if (r->multiprocessors > 0) /* each multiprocessor runs 8 of the load's blocks at once */
		fprintf(f, "blocks_at_once = %.0f\n", r->multiprocessors * 8);
	put_cost(f, "kernel_gap_us", r, QUALIFY_GAP);
	fprintf(f, "\n[round]\n");
	put_cost(f, "slice_unit_us", r, QUALIFY_UNIT);
	if (interleave->known)
		fprintf(f, "interleave_honoured = %s\n", interleave->works ? "yes" : "no");
	fprintf(f, "\n[switch]\n");
	put_cost(f, "cilp_us", r, QUALIFY_SWITCH);
	put_cost(f, "cta_us", r, QUALIFY_SWITCH_CTA);
	put_cost(f, "wfi_us", r, QUALIFY_SWITCH_WFI);
	put_cost(f, "idle_us", r, QUALIFY_SWITCH_IDLE);
	put_cost(f, "save_cilp_us", r, QUALIFY_SAVE);
	put_cost(f, "save_cta_us", r, QUALIFY_SAVE_CTA);
	put_cost(f, "save_wfi_us", r, QUALIFY_SAVE_WFI);
	put_cost(f, "restore_cilp_us", r, QUALIFY_RESTORE);
	put_idle(f, r, &usual);
	put_host(f, r, &usual);
	put_calls(f, r);
}

/* ---- files --------------------------------------------------------------------------------------- */

static int open_file(const char *dir, const char *name, char *path, size_t size, FILE **ret,
		     struct gs_error *err)
{
	snprintf(path, size, "%s/%s", dir, name);
	*ret = fopen(path, "we");
	return *ret ? 0 : gs_fail(err, -errno, "%s: %s", path, strerror(errno));
}

int qualify_keep(const struct qualify_result *r, const char *dir, struct gs_error *err)
{
	CLEANUP_JSON json_t *o = qualify_keep_json(r);
	CLEANUP_FILE FILE *model = NULL, *result = NULL;
	struct sim_params p;
	char path[4096];

	if (mkdir(dir, 0755) && errno != EEXIST)
		return gs_fail(err, -errno, "%s: %s", dir, strerror(errno));
	if (open_file(dir, "result.json", path, sizeof(path), &result, err))
		return err->code;
	if (!o || gs_json_line(result, o) || fflush(result))
		return gs_fail(err, -EIO, "%s cannot be written", path);
	if (open_file(dir, "gpu.conf", path, sizeof(path), &model, err))
		return err->code;
	put_model(model, r);
	if (fflush(model) || ferror(model))
		return gs_fail(err, -EIO, "%s cannot be written", path);
	return sim_params_named(path, &p, err); /* checks that the model accepts the file */
}
