/* SPDX-License-Identifier: MIT */
/* similar.h - tells whether an unknown word may be a mistyped known one */
#ifndef GPUSCHED_BASIC_SIMILAR_H
#define GPUSCHED_BASIC_SIMILAR_H

#include <stdbool.h>

/*
 * True if @word is the beginning of @known (three letters or more), or differs from it in few
 * letters. Words have at most 24 letters.
 */
bool gs_similar(const char *word, const char *known);

#endif /* GPUSCHED_BASIC_SIMILAR_H */
