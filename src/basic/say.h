/* SPDX-License-Identifier: MIT */
/* say.h - prints error messages of the program gpusched */
#ifndef GPUSCHED_BASIC_SAY_H
#define GPUSCHED_BASIC_SAY_H

/*
 * Prints a line "gpusched: ..." on stderr, escaped. On a terminal it is wrapped, and the name is
 * red.
 */
void gs_error_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* GPUSCHED_BASIC_SAY_H */
