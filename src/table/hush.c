// SPDX-License-Identifier: MIT
#include "table/hush.h"

#include <bpf/libbpf.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "basic/log.h"

static __thread bool hushed;
static __thread char *buffer;
static __thread size_t room;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned int threads;       /* number of threads between begin and end */
static libbpf_print_fn_t original; /* libbpf's own print function; valid while @threads is not 0 */

static int collect(enum libbpf_print_level level, const char *format, va_list args)
{
	char text[512];
	int n;

	if (!hushed)
		return original ? original(level, format, args) : 0;
	if (level != LIBBPF_WARN)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\n")] = '\0';
	gs_log(LOG_DEBUG, "%s", text);
	if (!buffer || room < 2)
		return 0;
	n = snprintf(buffer, room, "%s\n", text);
	if ((size_t)n >= room)
		n = (int)room - 1;
	buffer += n;
	room -= (size_t)n;
	return n;
}

void gs_hush_begin(char *buf, size_t size)
{
	buffer = buf;
	room = size;
	if (buf && size)
		buf[0] = '\0';
	pthread_mutex_lock(&lock);
	if (!threads++)
		original = libbpf_set_print(collect);
	pthread_mutex_unlock(&lock);
	hushed = true;
}

void gs_hush_end(void)
{
	hushed = false;
	pthread_mutex_lock(&lock);
	if (!--threads)
		libbpf_set_print(original);
	pthread_mutex_unlock(&lock);
	buffer = NULL;
	room = 0;
}

const char *gs_hush_first(char *buf, const char *otherwise)
{
	buf[strcspn(buf, "\n")] = '\0';
	return buf[0] ? buf : otherwise;
}
