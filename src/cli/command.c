// SPDX-License-Identifier: MIT
/* command.c - prints failures, finds options, and catches signals for every command */
#include "cli/cli.h"

#include <stdarg.h>
#include <string.h>

#include "basic/say.h"

int cli_fail(int code, const char *format, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	gs_error_say("%s", text);
	return gs_error_exit(code);
}

int cli_fail_err(int code, const struct gs_error *err, const char *fallback)
{
	if (err->text[0])
		return cli_fail(code, "%s", err->text);
	return cli_fail(code, "%s: %s", fallback, strerror(-code));
}

int cli_of_option(const char *option, int code, struct gs_error *err)
{
	struct gs_error is = *err;

	if (!code)
		return 0;
	*err = (struct gs_error){ 0 };
	return gs_fail(err, code, "--%s: %.440s", option, is.text);
}

volatile sig_atomic_t cli_stopped;

static void on_stop(int sig)
{
	cli_stopped = sig;
}

void cli_command_catch_stop(void)
{
	struct sigaction sa = { .sa_handler = on_stop };

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

const char *cli_opt(const struct cli *c, const char *name)
{
	for (size_t i = 0; i < c->nopts; i++)
		if (!strcmp(c->opts[i].name, name))
			return c->opts[i].value ? c->opts[i].value : "";
	return NULL;
}
