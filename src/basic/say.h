/* SPDX-License-Identifier: MIT */
/* say.h - error messages of the program gpusched */
#ifndef GPUSCHED_BASIC_SAY_H
#define GPUSCHED_BASIC_SAY_H

/* A line on stderr: "gpusched: ...", escaped; on a terminal wrapped, the name in red. */
void gs_error_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif /* GPUSCHED_BASIC_SAY_H */
