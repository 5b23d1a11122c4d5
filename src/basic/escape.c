// SPDX-License-Identifier: MIT
#include "basic/escape.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_MAX 6 /* "\uNNNN" */

/* Decodes the character at @p into *ret. Returns its number of bytes; 0: not UTF-8. */
static size_t decode(const unsigned char *p, uint32_t *ret)
{
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	size_t n = *p < 0x80    ? 1
		   : *p >= 0xf8 ? 0
		   : *p >= 0xf0 ? 4
		   : *p >= 0xe0 ? 3
		   : *p >= 0xc2 ? 2
				: 0;
	uint32_t c = n < 2 ? *p : *p & (0x7fu >> n);

	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3fu);
	}
	*ret = c;
	return !n || c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

/* True if the text ends within the character that begins at @p. */
static bool is_cut(const unsigned char *p)
{
	size_t n = *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0, i = 1;

	while (i < n && (p[i] & 0xc0) == 0x80)
		i++;
	return i < n && !p[i];
}

void gs_escape_mend(char *text)
{
	unsigned char *p = (unsigned char *)text;

	while (*p) {
		uint32_t c;
		size_t n = decode(p, &c);

		if (!n)
			*p = is_cut(p) ? '\0' : '?';
		p += n ? n : *p != '\0';
	}
}

/* True for control characters, line ends, and marks that turn the direction of writing. */
static bool is_harmful(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

char *gs_escape(char *buf, size_t size, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0;

	while (*p) {
		char piece[ESCAPE_MAX + 1];
		uint32_t c;
		size_t bytes = decode(p, &c), n = bytes;

		if (!bytes || is_harmful(c))
			n = (size_t)snprintf(piece, sizeof(piece),
					     !bytes || c < 0x100 ? "\\x%02x" : "\\u%04x",
					     bytes ? c : *p);
		else
			memcpy(piece, p, n);
		if (at + n >= size)
			break;
		memcpy(buf + at, piece, n);
		at += n;
		p += bytes ? bytes : 1;
	}
	buf[at] = '\0';
	return buf;
}

char *gs_escaped(const char *text)
{
	/* control characters grow most: from one byte to four */
	size_t size = 4 * strlen(text) + 1;
	char *buf = malloc(size);

	return buf ? gs_escape(buf, size, text) : NULL;
}
