/* SPDX-License-Identifier: MIT */
/*
 * beside.h - finds files of gpusched: as built, as installed, as packed by tools/bundle.sh
 */
#ifndef GPUSCHED_BASIC_BESIDE_H
#define GPUSCHED_BASIC_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of this program, without a slash at its end; -ENOENT: unknown, and @ret is "". */
int gs_beside_folder(char *ret, size_t size);
/*
 * Finds the path of a program of ours. Returns false if it is not there: then @ret is @name, for
 * $PATH.
 */
bool gs_beside(const char *name, char *ret, size_t size);
/*
 * Finds an installed file such as /usr/share/gpusched/scenarios relative to where this program is
 * now (installed with DESTDIR, or moved). If it is not there, returns false, with @path in @ret.
 */
bool gs_beside_installed(const char *path, char *ret, size_t size);

#endif /* GPUSCHED_BASIC_BESIDE_H */
