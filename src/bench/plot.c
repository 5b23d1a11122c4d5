// SPDX-License-Identifier: MIT
/* plot.c - draws results: latency as a distribution, and BE work against LC p99 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "bench/result.h"
#include "bench/spawn.h"

#define POINTS 200 /* points of one curve */
#define MAX_BLOCKS 64

/* Writes a row's latencies of all blocks as a curve of POINTS quantiles. */
static size_t put_curve(FILE *f, const struct bench_result *r, const struct bench_pick *p)
{
	CLEANUP_FREE double *all = NULL;
	size_t n = 0;

	for (unsigned int i = 0; i < MAX_BLOCKS; i++) {
		const struct bench_cell *c = bench_result_find(r, p->load, p->scheme, i);
		double *grown;

		if (!c || !c->n)
			continue;
		grown = reallocarray(all, n + c->n, sizeof(*all));
		if (!grown)
			return 0;
		all = grown;
		memcpy(all + n, c->latency_us, c->n * sizeof(*all));
		n += c->n;
	}
	gs_sample_sort(all, n);
	if (n)
		fprintf(f, "$c_%zu << E\n", (size_t)(p->scheme - bench_schemes));
	for (size_t i = 0; n && i <= POINTS; i++) {
		double q = (double)i / POINTS;

		fprintf(f, "%.1f %.4f\n", all[gs_quantile_at(n, q)], q);
	}
	if (n)
		fputs("E\n", f);
	return n;
}

/* Draws the latencies of one load, which has the @n rows from @p on. */
static void put_latency(FILE *f, const struct bench_result *r, const struct bench_pick *p, size_t n)
{
	bool drawn[64] = { false };
	const char *comma = "";
	size_t curves = 0;

	for (size_t i = 0; i < n && i < GS_COUNT(drawn); i++) {
		drawn[i] = put_curve(f, r, &p[i]);
		curves += drawn[i];
	}
	/* many loads have the same LC alone: only one of them shows it as a picture of its own */
	if (!curves || (curves == 1 && p->load != bench_table_alone(p->load)))
		return;
	fprintf(f,
		"set output 'latency-%s.svg'\nset title '%s'\nset xlabel 'latency, us'\n"
		"set ylabel 'part of the requests'\nset logscale x\nset yrange [0:1]\nset key "
		"bottom right\nplot ",
		p->load->name, p->load->text);
	for (size_t i = 0; i < n && i < GS_COUNT(drawn); i++) {
		if (!drawn[i])
			continue;
		fprintf(f, "%s$c_%zu with lines lw 2 title '%s'", comma,
			(size_t)(p[i].scheme - bench_schemes), p[i].scheme->name);
		comma = ", \\\n\t";
	}
	fputs("\n", f);
}

/* Writes a scheme's points: one for each load that has both figures. */
static size_t put_points(FILE *f, const struct bench_run *run, const struct bench_result *r,
			 const struct bench_pick *p, size_t n, const struct bench_scheme *scheme)
{
	size_t points = 0;

	for (size_t i = 0; i < n; i++) {
		CLEANUP_JSON json_t *row = bench_result_row(run, r, &p[i]);
		const json_t *p99 = gs_json_at(row, "lc_p99_of_default");
		const json_t *share = gs_json_at(row, "be_share_of_default");

		if (p[i].scheme != scheme || !p99 || !share)
			continue;
		if (!points++)
			fprintf(f, "$s_%zu << E\n", (size_t)(scheme - bench_schemes));
		fprintf(f, "%g %g \"%s\"\n", 100 * json_number_value(share),
			100 * json_number_value(p99), p[i].load->name);
	}
	if (points)
		fputs("E\n", f);
	return points;
}

static void put_share(FILE *f, const struct bench_run *run, const struct bench_result *r,
		      const struct bench_pick *p, size_t n)
{
	bool drawn[64] = { false };
	const char *comma = "";
	size_t points = 0;

	for (size_t i = 0; i < bench_table_nschemes() && i < GS_COUNT(drawn); i++) {
		drawn[i] = put_points(f, run, r, p, n, &bench_schemes[i]);
		points += drawn[i];
	}
	if (!points) /* gnuplot cannot draw an empty picture */
		return;
	fputs("set output 'share.svg'\nset title 'BE work against LC p99, both in percent of the "
	      "default'\nset xlabel 'BE work, %'\nset ylabel 'LC p99, %'\nunset logscale\n"
	      "set logscale y\nset autoscale\nset offsets graph 0.02, graph 0.12, 0, 0\n"
	      "set key outside right top\nplot ",
	      f);
	for (size_t i = 0; i < bench_table_nschemes() && i < GS_COUNT(drawn); i++) {
		if (!drawn[i])
			continue;
		fprintf(f,
			"%s$s_%zu using 1:2 with points pt 7 lc %zu title '%s', '' using 1:2:3 "
			"with labels font ',7' left offset 0.4,0.3 notitle",
			comma, i, i, bench_schemes[i].name);
		comma = ", \\\n\t";
	}
	fputs("\n", f);
}

int bench_plot(const struct bench_run *run, const struct bench_result *r,
	       const struct bench_pick *picks, size_t n, const char *dir, struct gs_error *err)
{
	const char *const argv[] = { "sh", "-c", "cd \"$0\" && exec gnuplot plot.gp 2>/dev/null",
				     dir, NULL };
	CLEANUP_CHILD struct bench_child c = BENCH_CHILD_NONE;
	CLEANUP_FILE FILE *f = NULL;
	char name[4096];
	int r2;

	snprintf(name, sizeof(name), "%s/plot.gp", dir);
	f = fopen(name, "we");
	if (!f)
		return gs_fail(err, -errno, "%s: %s", name, strerror(errno));
	fprintf(f,
		"# %s, %s\nset terminal svg size 900,600 dynamic font 'sans,12' background "
		"'#ffffff'\n",
		run->gpu, bench_mode_names[run->mode]);
	for (size_t from = 0, to; from < n; from = to) {
		for (to = from + 1; to < n && picks[to].load == picks[from].load;)
			to++;
		put_latency(f, r, &picks[from], to - from);
	}
	put_share(f, run, r, picks, n);
	if (fclose(TAKE_PTR(f)))
		return gs_fail(err, -EIO, "%s cannot be written", name);
	if (!bench_table_in_path("gnuplot"))
		return gs_fail(err, -ENOENT,
			       "no pictures: gnuplot is not installed ('gnuplot plot.gp' in %s "
			       "makes them)",
			       dir);
	r2 = bench_spawn_to(argv, STDERR_FILENO, -1, &c, err);
	if (!r2 && bench_spawned_wait(&c, 60000))
		return gs_fail(err, -EIO, "no pictures: 'gnuplot plot.gp' in %s failed", dir);
	return r2;
}
