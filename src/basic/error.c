// SPDX-License-Identifier: MIT
#include "basic/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

int gs_fail(struct gs_error *err, int code, const char *format, ...)
{
	va_list ap;

	if (!err || err->code)
		return code;
	err->code = code;
	va_start(ap, format);
	vsnprintf(err->text, sizeof(err->text), format, ap);
	va_end(ap);
	return code;
}

enum gs_exit gs_error_exit(int code)
{
	switch (code) {
	case 0:
		return GS_EXIT_OK;
	case -EINVAL:
	case -ERANGE:
		return GS_EXIT_USAGE;
	case -ENOTSUP:
	case -EPERM:
	case -EACCES:
	case -ENOSYS:
	case -ENODEV:
	case -ECONNREFUSED: /* there is no daemon */
		return GS_EXIT_IMPOSSIBLE;
	default:
		return GS_EXIT_FAILED;
	}
}
