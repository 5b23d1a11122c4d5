/* SPDX-License-Identifier: MIT */
/*
 * screen.h - shows a grid on the terminal, and reads keys (ncurses). One at a time.
 */
#ifndef GPUSCHED_TOP_SCREEN_H
#define GPUSCHED_TOP_SCREEN_H

#include "top/grid.h"

/* Keys that are not characters. */
enum gs_key { GS_KEY_NONE = 0, GS_KEY_UP = 0x10000, GS_KEY_DOWN, GS_KEY_RESIZE };

/*
 * Begins the screen. -ENOTTY: standard input or output is no terminal, or one of an unknown kind.
 */
int gs_screen_open(bool colour);
/* Restores the terminal. Does nothing without a screen. */
void gs_screen_close(void);
void gs_screen_size(unsigned int *ret_rows, unsigned int *ret_cols);
void gs_screen_show(const struct gs_grid *g);
/* The next key; GS_KEY_NONE: none came within @ms. */
int gs_screen_key(int ms);

#endif /* GPUSCHED_TOP_SCREEN_H */
