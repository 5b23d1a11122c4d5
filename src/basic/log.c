// SPDX-License-Identifier: MIT
#include "basic/log.h"

#include <stdio.h>

#include "basic/escape.h"

static gs_log_fn sink;
static void *sink_user;
static int sink_level = LOG_ERR;

void gs_log_sink(gs_log_fn fn, void *user, int max_level)
{
	sink = fn;
	sink_user = user;
	sink_level = max_level;
}

void gs_log(int level, const char *format, ...)
{
	char message[1024], shown[1024];
	va_list ap;

	if (!sink || level > sink_level)
		return;
	va_start(ap, format);
	vsnprintf(message, sizeof(message), format, ap);
	va_end(ap);
	sink(level, gs_escape(shown, sizeof(shown), message), sink_user);
}

void gs_log_to_stderr(int level, const char *message, void *user)
{
	(void)level;
	fprintf(stderr, "%s: %s\n", (const char *)user, message);
}
