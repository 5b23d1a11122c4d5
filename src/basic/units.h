/* SPDX-License-Identifier: MIT */
/* units.h - writes figures for people, each with its unit: "11 h 20 min", "36 GiB", "3.3 %" */
#ifndef GPUSCHED_BASIC_UNITS_H
#define GPUSCHED_BASIC_UNITS_H

#include <stddef.h>

#define GS_UNITS_TEXT 32

/* These write into @ret, and return it. A figure that is negative or no number becomes "-". */
char *gs_units_time(double ns, char ret[GS_UNITS_TEXT]);
char *gs_units_bytes(double bytes, char ret[GS_UNITS_TEXT]);
char *gs_units_percent(double percent, char ret[GS_UNITS_TEXT]);

#endif /* GPUSCHED_BASIC_UNITS_H */
