/* SPDX-License-Identifier: MIT */
/*
 * setting.h - parses settings such as timeslice=20us, and --weight, --limit and --request
 */
#ifndef GPUSCHED_CLI_SETTING_H
#define GPUSCHED_CLI_SETTING_H

#include <jansson.h>

#include "basic/error.h"

struct cli;

/* Adds KEY=VALUE to @args. -EINVAL or -ERANGE with one line. */
int cli_setting_parse(const char *text, json_t *args, struct gs_error *err);
/* Makes an object of --weight, --limit and --request, as far as they are given. An enum gs_exit. */
int cli_setting_args(const struct cli *c, const char *verb, json_t **ret);

#endif /* GPUSCHED_CLI_SETTING_H */
