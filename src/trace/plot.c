// SPDX-License-Identifier: MIT
#include "trace/plot.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define MAX_ROWS 24
#define MAX_BOXES 20000
#define ROW_HEIGHT 44

struct row {
	uint64_t track;
	char label[GS_TRACE_NAME];
	uint64_t held_ns;
};

struct box {
	unsigned int row;
	double from_ms, to_ms;
	bool cut_off;
};

struct plot {
	const struct gs_plot_opts *opts;
	uint64_t begin_ns; /* of the stretch; 0: not known yet */
	struct row rows[MAX_ROWS];
	unsigned int nrows, left_out;
	struct box *boxes;
	size_t n;
};

/* What a string of gnuplot may hold. */
static void plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"'\\`@{}%", *text))
			*text = '?';
}

static int row_of(struct plot *p, const struct gs_trace_item *item)
{
	const struct gs_trace_note *comm = gs_trace_find(item->event, "comm"),
				   *class = gs_trace_find(item->event, "class");
	struct row *row;

	for (unsigned int i = 0; i < p->nrows; i++)
		if (p->rows[i].track == item->track->uuid)
			return (int)i;
	if (p->nrows == MAX_ROWS) {
		p->left_out++;
		return -1;
	}
	row = &p->rows[p->nrows];
	row->track = item->track->uuid;
	snprintf(row->label, sizeof(row->label), "%.31s %u%s%.31s", comm ? comm->text : "?",
		 item->process ? item->process->pid : 0, class ? " " : "",
		 class ? class->text : "");
	plain(row->label);
	return (int)p->nrows++;
}

static double ms(const struct plot *p, uint64_t ns)
{
	return ((double)ns - (double)p->begin_ns) / (double)NS_PER_MS;
}

static int add_turn(struct plot *p, const struct gs_trace_item *item)
{
	const struct gs_trace_note *end = gs_trace_find(item->event, "end");
	uint64_t end_ns = p->begin_ns + p->opts->for_ns, from = item->event->ns, to = item->end_ns;
	int row;

	if (to <= p->begin_ns || from >= end_ns)
		return 0;
	if (p->n == MAX_BOXES)
		return -E2BIG;
	row = row_of(p, item);
	if (row < 0)
		return 0;
	from = from < p->begin_ns ? p->begin_ns : from;
	to = to > end_ns ? end_ns : to;
	p->rows[row].held_ns += to - from;
	p->boxes[p->n++] = (struct box){
		.row = (unsigned int)row,
		.from_ms = ms(p, from),
		.to_ms = ms(p, to),
		.cut_off = end && !strcmp(end->text, "slice over"),
	};
	return 0;
}

static int take(const struct gs_trace_item *item, void *user)
{
	struct plot *p = user;

	if (!strcmp(item->event->category, "begin"))
		p->begin_ns = item->event->ns + p->opts->from_ns;
	if (p->begin_ns && !strcmp(item->event->category, "turn"))
		return add_turn(p, item);
	return 0;
}

/* ---- what gnuplot is told -------------------------------------------------------------------- */

static unsigned int colour(unsigned int row, bool dark)
{
	static const unsigned int dark_ones[] = { 0x1f5fa8, 0xb8541a, 0x2e7d4f, 0x8a3d8f,
						  0x9a7b10, 0x5b5b5b, 0xa83244, 0x1b7f88 };
	unsigned int c = dark_ones[row % GS_COUNT(dark_ones)], light = 0;

	if (dark)
		return c;
	for (unsigned int shift = 0; shift < 24; shift += 8) /* half white */
		light |= ((c >> shift & 0xff) + 0xff) / 2 << shift;
	return light;
}

static void write_boxes(const struct plot *p, FILE *out)
{
	fputs("$turns << END\n", out);
	for (size_t i = 0; i < p->n; i++) {
		const struct box *b = &p->boxes[i];

		fprintf(out, "%.6f %u %.6f %.6f %.2f %.2f %u\n", b->from_ms, b->row, b->from_ms,
			b->to_ms, b->row - 0.38, b->row + 0.38, colour(b->row, b->cut_off));
	}
	fputs("END\n", out);
}

static void write_script(const struct plot *p, FILE *out)
{
	double for_ms = (double)p->opts->for_ns / (double)NS_PER_MS;

	fprintf(out,
		"set terminal svg size 1000,%u font 'sans-serif,13' background '#ffffff'\n"
		"set title \"Who has the GPU. Dark: the slice ended the turn; light: the program "
		"had nothing left (inferred)\" noenhanced font ',12'\n"
		"set xlabel 'ms' noenhanced\nset xrange [0:%.6f]\nset yrange [%.2f:-0.5]\n"
		"set border 1\nset xtics nomirror out\nset ytics nomirror scale 0 noenhanced\n"
		"set ytics (",
		110 + ROW_HEIGHT * p->nrows, for_ms, p->nrows - 0.5);
	for (unsigned int i = 0; i < p->nrows; i++)
		fprintf(out, "%s\"%s  %.0f %%%%\" %u", i ? ", " : "", p->rows[i].label,
			100 * (double)p->rows[i].held_ns / (double)p->opts->for_ns, i);
	fputs(")\n", out);
	if (p->left_out)
		fputs("set label 'more TSGs than rows: some are left out' at graph 0,1.02\n", out);
	write_boxes(p, out);
	fputs("plot $turns using 1:2:3:4:5:6:7 with boxxyerror fillstyle solid noborder "
	      "linecolor rgb variable notitle\n",
	      out);
}

int gs_trace_plot(FILE *in, const struct gs_plot_opts *opts, FILE *out, struct gs_error *err)
{
	struct plot p = { .opts = opts };
	CLEANUP_FREE struct box *boxes = calloc(MAX_BOXES, sizeof(*boxes));
	int r;

	if (!boxes)
		return -ENOMEM;
	p.boxes = boxes;
	r = gs_trace_read(in, take, NULL, &p, err);
	if (r == -E2BIG)
		return gs_fail(err, r, "there are more than %d turns: take a shorter stretch",
			       MAX_BOXES);
	if (r)
		return r;
	if (!p.n)
		return gs_fail(err, -ENODATA, "no turn lies in this stretch");
	write_script(&p, out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}
