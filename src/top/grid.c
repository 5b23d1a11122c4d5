// SPDX-License-Identifier: MIT
#include "top/grid.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wctype.h>

int gs_grid_new(unsigned int rows, unsigned int cols, struct gs_grid *ret)
{
	struct gs_grid g = { .rows = rows, .cols = cols };

	g.cells = calloc((size_t)rows * cols + 1, sizeof(*g.cells));
	if (!g.cells)
		return -ENOMEM;
	for (size_t i = 0; i < (size_t)rows * cols; i++)
		g.cells[i].ch = L' ';
	*ret = g;
	return 0;
}

void gs_grid_free(struct gs_grid *g)
{
	free(g->cells);
	*g = (struct gs_grid){ 0 };
}

static void set(struct gs_grid *g, unsigned int row, unsigned int col, wchar_t ch,
		enum gs_style style)
{
	if (row < g->rows && col < g->cols)
		g->cells[row * g->cols + col] = (struct gs_cell){ ch, style };
}

void gs_grid_put(struct gs_grid *g, unsigned int row, unsigned int col, enum gs_style style,
		 const char *format, ...)
{
	mbstate_t state = { 0 };
	const char *at;
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	for (at = text; *at; col++) {
		wchar_t ch = L'?';
		size_t n = mbrtowc(&ch, at, strlen(at), &state);

		if (n == (size_t)-1 || n == (size_t)-2 || !n) {
			state = (mbstate_t){ 0 };
			n = 1;
			ch = L'?';
		}
		at += n;
		if (wcwidth(ch) == 2 && col + 1 < g->cols) {
			set(g, row, col++, ch, style);
			set(g, row, col, L'\0', style);
		} else {
			set(g, row, col, wcwidth(ch) == 1 ? ch : L'?', style);
		}
	}
}

void gs_grid_fill(struct gs_grid *g, unsigned int row, unsigned int col, unsigned int n, char ch,
		  enum gs_style style)
{
	while (n--)
		set(g, row, col++, (wchar_t)ch, style);
}

void gs_grid_mark(struct gs_grid *g, unsigned int row, enum gs_style style)
{
	for (unsigned int col = 0; row < g->rows && col < g->cols; col++)
		g->cells[row * g->cols + col].style = style;
}

void gs_grid_print(const struct gs_grid *g, FILE *out)
{
	for (unsigned int row = 0; row < g->rows; row++) {
		const struct gs_cell *line = g->cells + (size_t)row * g->cols;
		unsigned int n = g->cols;

		while (n && line[n - 1].ch == L' ')
			n--;
		for (unsigned int i = 0; i < n; i++)
			if (line[i].ch)
				fprintf(out, "%lc", (wint_t)line[i].ch);
		fputc('\n', out);
	}
}
