// SPDX-License-Identifier: MIT
#include "trace/plot.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"

#define MAX_ROWS 24
#define MAX_BOXES 20000
#define ROW_HEIGHT 44
#define UNKNOWN_GREY 0xc4c4c4

struct row {
	uint64_t track;
	int64_t gpu;     /* number of the GPU; -1: the recording does not say */
	unsigned int at; /* position in the picture, counted from the top */
	char label[GS_TRACE_NAME];
	uint64_t held_ns;
};

enum end { UNKNOWN, DRAINED, SLICE_OVER };

struct box {
	unsigned int row;
	double from_ms, to_ms;
	enum end end;
};

struct plot {
	const struct gs_plot_opts *opts;
	uint64_t begin_ns; /* start of the part to draw; 0: not known yet */
	struct row rows[MAX_ROWS];
	unsigned int nrows, left_out;
	struct box *boxes;
	size_t n;
};

/* Replaces characters that a gnuplot string cannot contain. */
static void plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~' || strchr("\"'\\`@{}%", *text))
			*text = '?';
}

static int row_of(struct plot *p, const struct gs_trace_item *item)
{
	const struct gs_trace_note *comm = gs_packet_find(item->event, "comm"),
				   *class = gs_packet_find(item->event, "class"),
				   *gpu = gs_packet_find(item->event, "gpu");
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
	row->gpu = gpu ? gpu->number : -1;
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

static enum end end_of(const struct gs_trace_item *item)
{
	const struct gs_trace_note *end = gs_packet_find(item->event, "end");

	return !end                               ? UNKNOWN
	       : !strcmp(end->text, "slice over") ? SLICE_OVER
	       : !strcmp(end->text, "drained")    ? DRAINED
						  : UNKNOWN;
}

static int add_turn(struct plot *p, const struct gs_trace_item *item)
{
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
		.end = end_of(item),
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

/* ---- the gnuplot script ---------------------------------------------------------------------- */

/* Places rows of one GPU next to each other, in order of appearance. Returns the number of GPUs. */
static unsigned int place_rows(struct plot *p)
{
	unsigned int gpus = 0;

	for (unsigned int i = 0; i < p->nrows; i++) {
		bool first = true;

		p->rows[i].at = 0;
		for (unsigned int k = 0; k < p->nrows; k++) {
			bool before = k < i && p->rows[k].gpu == p->rows[i].gpu;

			p->rows[i].at += before || p->rows[k].gpu < p->rows[i].gpu;
			first &= !before;
		}
		gpus += first;
	}
	return gpus;
}

static unsigned int colour(unsigned int row, enum end end)
{
	static const unsigned int dark_ones[] = { 0x1f5fa8, 0xb8541a, 0x2e7d4f, 0x8a3d8f,
						  0x9a7b10, 0x5b5b5b, 0xa83244, 0x1b7f88 };
	unsigned int c = dark_ones[row % GS_COUNT(dark_ones)], light = 0;

	if (end == UNKNOWN)
		return UNKNOWN_GREY;
	if (end == SLICE_OVER)
		return c;
	/* mix the colour half and half with white */
	for (unsigned int shift = 0; shift < 24; shift += 8)
		light |= ((c >> shift & 0xff) + 0xff) / 2 << shift;
	return light;
}

static void write_boxes(const struct plot *p, FILE *out)
{
	fputs("$turns << END\n", out);
	for (size_t i = 0; i < p->n; i++) {
		const struct box *b = &p->boxes[i];
		unsigned int at = p->rows[b->row].at;

		fprintf(out, "%.6f %u %.6f %.6f %.2f %.2f %u\n", b->from_ms, at, b->from_ms,
			b->to_ms, at - 0.38, at + 0.38, colour(b->row, b->end));
	}
	fputs("END\n", out);
}

static void write_labels(const struct plot *p, unsigned int gpus, FILE *out)
{
	fputs("set ytics (", out);
	for (unsigned int i = 0; i < p->nrows; i++) {
		const struct row *row = &p->rows[i];
		char gpu[32] = "";

		if (gpus > 1 && row->gpu >= 0)
			snprintf(gpu, sizeof(gpu), "GPU %" PRId64 "  ", row->gpu);
		fprintf(out, "%s\"%s%s  %.0f %%%%\" %u", i ? ", " : "", gpu, row->label,
			100 * (double)row->held_ns / (double)p->opts->for_ns, row->at);
	}
	fputs(")\n", out);
}

static void write_script(struct plot *p, FILE *out)
{
	double for_ms = (double)p->opts->for_ns / (double)NS_PER_MS;

	fprintf(out,
		"set terminal %s size 1000,%u font 'sans-serif,%d' background '#ffffff'\n"
		"set title \"Who has the GPU. Dark: the slice ended the turn; light: the program "
		"had nothing left (inferred); grey: its end is not known\" noenhanced font ',12'\n"
		"set xlabel 'ms' noenhanced\nset xrange [0:%.6f]\nset yrange [%.2f:-0.5]\n"
		"set border 1\nset xtics nomirror out\nset ytics nomirror scale 0 noenhanced\n",
		p->opts->png ? "pngcairo" : "svg", 110 + ROW_HEIGHT * p->nrows,
		p->opts->png ? 10 : 13, for_ms, p->nrows - 0.5);
	write_labels(p, place_rows(p), out);
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
