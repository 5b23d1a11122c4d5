// SPDX-License-Identifier: MIT
#include "basic/sample.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDS 400
#define LOW 0.025
#define HIGH 0.975

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

void gs_sample_sort(double *v, size_t n)
{
	if (n)
		qsort(v, n, sizeof(*v), by_size);
}

double gs_sample_median(double *v, size_t n)
{
	gs_sample_sort(v, n);
	return !n ? NAN : n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

/*
 * Draws a random number below @n from @state, so that the same seed always gives the same numbers.
 */
static size_t below(unsigned short state[3], size_t n)
{
	return (size_t)(erand48(state) * (double)n);
}

static double quantile(const struct gs_sample *s, double q)
{
	return s->n ? s->v[gs_quantile_at(s->n, q)] : NAN;
}

/*
 * Returns the quantile that @s would have if its measurements were drawn again. Only the rank of
 * the value among n draws matters: it is the rank-th smallest of n uniform numbers, which is beta
 * distributed. A block has enough requests for the normal approximation.
 */
static double redrawn(const struct gs_sample *s, double q, unsigned short state[3])
{
	double sum = -6, p;

	if (!s->n)
		return NAN;
	for (int i = 0; i < 12; i++)
		sum += erand48(state);
	p = q + sum * sqrt(q * (1 - q) / (double)s->n);
	return s->v[gs_quantile_at(s->n, p < 0 ? 0 : p)];
}

/* The median over blocks: blocks drawn again (with @state), or as they are. @b NULL: no divisor. */
static double over_blocks(const struct gs_sample *a, const struct gs_sample *b, size_t n, double q,
			  unsigned short *state, double *room)
{
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		size_t k = state ? below(state, n) : i;
		double v = state ? redrawn(&a[k], q, state) : quantile(&a[k], q);

		if (b)
			v /= state ? redrawn(&b[k], q, state) : quantile(&b[k], q);
		if (isfinite(v))
			room[known++] = v;
	}
	return gs_sample_median(room, known);
}

static struct gs_figure figure_of(const struct gs_sample *a, const struct gs_sample *b, size_t n,
				  double q)
{
	struct gs_figure f = { NAN, NAN, NAN };
	unsigned short state[3] = { 1, 2, 3 };
	double *room = calloc(n + ROUNDS, sizeof(*room)), *drawn;
	size_t known = 0;

	if (!room)
		return f;
	drawn = room + n;
	f.value = over_blocks(a, b, n, q, NULL, room);
	for (int i = 0; n > 1 && i < ROUNDS; i++) {
		double v = over_blocks(a, b, n, q, state, room);

		if (isfinite(v))
			drawn[known++] = v;
	}
	gs_sample_sort(drawn, known);
	if (known) {
		f.low = drawn[gs_quantile_at(known, LOW)];
		f.high = drawn[gs_quantile_at(known, HIGH)];
	}
	free(room);
	return f;
}

struct gs_figure gs_sample_quantile(const struct gs_sample *blocks, size_t n, double q)
{
	return figure_of(blocks, NULL, n, q);
}

struct gs_figure gs_sample_quantile_ratio(const struct gs_sample *a, const struct gs_sample *b,
					  size_t n, double q)
{
	return figure_of(a, b, n, q);
}
