/* SPDX-License-Identifier: MIT */
/* setting.h - arguments such as "timeslice=20us" of the verb `set` */
#ifndef GPUSCHED_CLI_SETTING_H
#define GPUSCHED_CLI_SETTING_H

#include <jansson.h>

#include "basic/error.h"

/* Adds KEY=VALUE to @args. -EINVAL or -ERANGE with one line. */
int cli_setting_parse(const char *text, json_t *args, struct gs_error *err);

#endif /* GPUSCHED_CLI_SETTING_H */
