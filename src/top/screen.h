/* SPDX-License-Identifier: MIT */
/*
 * screen.h - shows a grid on the terminal, and reads keys (ncurses); one screen at a time
 */
#ifndef GPUSCHED_TOP_SCREEN_H
#define GPUSCHED_TOP_SCREEN_H

#include "top/grid.h"

/* Keys that are not characters; the others are returned as their character code. */
enum gs_key { GS_KEY_NONE = 0, GS_KEY_UP = 0x10000, GS_KEY_DOWN, GS_KEY_RESIZE };

/*
 * Takes over the terminal. -ENOTTY: standard input or output is not a terminal. -ENODEV: nothing
 * is known of terminals of the kind TERM.
 */
int gs_screen_open(bool colour);
/* Restores the terminal. Does nothing if no screen is open. */
void gs_screen_close(void);
void gs_screen_size(unsigned int *ret_rows, unsigned int *ret_cols);
void gs_screen_show(const struct gs_grid *g);
/* Waits up to @ms for a key; GS_KEY_NONE: no key was pressed. */
int gs_screen_key(int ms);

#endif /* GPUSCHED_TOP_SCREEN_H */
