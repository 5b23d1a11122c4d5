// SPDX-License-Identifier: MIT
#include "basic/similar.h"

#include <stddef.h>
#include <string.h>

#define LONGEST 24
#define PREFIX_LEAST 3

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Returns how many letters of @a must be changed, added, left out or swapped to get @b. */
static size_t distance(const char *a, const char *b)
{
	size_t d[LONGEST + 1][LONGEST + 1], n = strlen(a), m = strlen(b);

	if (n > LONGEST || m > LONGEST)
		return n + m;
	for (size_t i = 0; i <= n; i++)
		for (size_t j = 0; j <= m; j++) {
			if (!i || !j) {
				d[i][j] = i + j;
				continue;
			}
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
					d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[n][m];
}

bool gs_similar(const char *word, const char *known)
{
	size_t n = strlen(word);

	return (n >= PREFIX_LEAST && !strncmp(word, known, n)) ||
	       distance(word, known) <= (n + 1) / 3;
}
