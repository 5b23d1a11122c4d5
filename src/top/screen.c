// SPDX-License-Identifier: MIT
#define NCURSES_WIDECHAR 1
#include "top/screen.h"

#include <errno.h>
#include <ncurses.h>
#include <unistd.h>

static SCREEN *terminal;

/* GS_STYLE_WARN is bold alone: yellow is not to be read on white. */
static void set_colours(void)
{
	if (start_color() == ERR)
		return;
	use_default_colors();
	init_pair(GS_STYLE_LC, COLOR_CYAN, -1);
	init_pair(GS_STYLE_BE, COLOR_GREEN, -1);
	init_pair(GS_STYLE_OTHER, COLOR_MAGENTA, -1);
	init_pair(GS_STYLE_BAD, COLOR_RED, -1);
}

int gs_screen_open(bool colour)
{
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return -ENOTTY;
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -ENODEV;
	if (colour && has_colors())
		set_colours();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(100);
	curs_set(0);
	return 0;
}

void gs_screen_close(void)
{
	if (!terminal)
		return;
	endwin();
	delscreen(terminal);
	terminal = NULL;
}

void gs_screen_size(unsigned int *ret_rows, unsigned int *ret_cols)
{
	*ret_rows = (unsigned int)getmaxy(stdscr);
	*ret_cols = (unsigned int)getmaxx(stdscr);
}

/* The colour pair of a style; 0: the terminal's default colours. */
static short pair_of(enum gs_style style)
{
	switch (style) {
	case GS_STYLE_LC:
	case GS_STYLE_BE:
	case GS_STYLE_OTHER:
	case GS_STYLE_BAD:
		return (short)style;
	default:
		return 0;
	}
}

static attr_t attribute(enum gs_style style)
{
	switch (style) {
	case GS_STYLE_HEAD:
		return A_BOLD;
	case GS_STYLE_CHOSEN:
		return A_REVERSE;
	case GS_STYLE_BAD:
	case GS_STYLE_WARN:
		return A_BOLD;
	default:
		return A_NORMAL;
	}
}

void gs_screen_show(const struct gs_grid *g)
{
	for (unsigned int row = 0; row < g->rows; row++) {
		for (unsigned int col = 0; col < g->cols; col++) {
			const struct gs_cell *c = &g->cells[row * g->cols + col];
			const wchar_t text[2] = { c->ch, 0 };
			cchar_t out;

			setcchar(&out, text, attribute(c->style), pair_of(c->style), NULL);
			if (c->ch) /* the second half of a wide character is drawn with it */
				mvadd_wch((int)row, (int)col, &out);
		}
	}
	refresh();
}

int gs_screen_key(int ms)
{
	wint_t key = 0;
	int r;

	timeout(ms);
	r = get_wch(&key);
	if (r == ERR)
		return GS_KEY_NONE;
	if (r != KEY_CODE_YES)
		return (int)key;
	return key == KEY_UP          ? GS_KEY_UP
	       : key == KEY_DOWN      ? GS_KEY_DOWN
	       : key == KEY_RESIZE    ? GS_KEY_RESIZE
	       : key == KEY_ENTER     ? '\r'
	       : key == KEY_BACKSPACE ? 0x7f
				      : GS_KEY_NONE;
}
