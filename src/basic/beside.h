/* SPDX-License-Identifier: MIT */
/*
 * beside.h - what lies beside this program: as built, as installed, as packed by tools/bundle.sh
 */
#ifndef GPUSCHED_BASIC_BESIDE_H
#define GPUSCHED_BASIC_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The folder of this program, without a slash at its end; -ENOENT: not known, "". */
int gs_own_folder(char *ret, size_t size);
/* A program of ours by its path; false: it is not there, and @ret is @name, for $PATH. */
bool gs_beside(const char *name, char *ret, size_t size);
/*
 * Where @path is, such as /usr/share/gpusched/scenarios: below the place where this program was
 * installed (with DESTDIR, or moved), else (false) @path as configured.
 */
bool gs_installed(const char *path, char *ret, size_t size);

#endif /* GPUSCHED_BASIC_BESIDE_H */
