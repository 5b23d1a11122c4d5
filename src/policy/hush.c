// SPDX-License-Identifier: MIT
#include <stdio.h>
#include <string.h>

#include "policy/hush.h"

static __thread char *buffer;
static __thread size_t room;

static int collect(enum libbpf_print_level level, const char *format, va_list args)
{
	int n;

	if (level != LIBBPF_WARN || !buffer || room < 2)
		return 0;
	n = vsnprintf(buffer, room, format, args);
	if (n < 0)
		return 0;
	if ((size_t)n >= room)
		n = (int)room - 1;
	buffer += n;
	room -= (size_t)n;
	return n;
}

void gs_hush_begin(struct gs_hush *h, char *buf, size_t size)
{
	buffer = buf;
	room = size;
	if (buf && size)
		buf[0] = '\0';
	h->old = libbpf_set_print(collect);
}

void gs_hush_end(struct gs_hush *h)
{
	libbpf_set_print(h->old);
	buffer = NULL;
	room = 0;
}
