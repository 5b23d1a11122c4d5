/* SPDX-License-Identifier: MIT */
/*
 * park_idle.h - parses ParkIdle= of the configuration: classes with idle programs to be parked
 */
#ifndef GPUSCHED_CONFIG_PARK_IDLE_H
#define GPUSCHED_CONFIG_PARK_IDLE_H

#include <stddef.h>
#include <stdint.h>

#include "basic/error.h"

struct gs_config;
struct gs_classes;

struct gs_park_idle_rule {
	char class_name[32];
	uint64_t idle_ns; /* a process that has not worked for this long is parked */
	uint64_t for_ns;  /* it is brought back after this time; 0: only on request */
};

struct gs_park_idle_rules {
	struct gs_park_idle_rule *all;
	size_t n;
};

/* Parses one line: CLASS TIME [for=TIME] */
int gs_park_idle_parse(const char *line, struct gs_park_idle_rule *ret, struct gs_error *err);
/* The same; its class must be in @classes. */
int gs_park_idle_check(const struct gs_classes *classes, const char *line,
		       struct gs_park_idle_rule *ret, struct gs_error *err);
/* Parses all lines of @c; their classes must be in @classes. Errors name file and line. */
int gs_config_park_idle(const struct gs_config *c, const struct gs_classes *classes,
			struct gs_park_idle_rules *ret, struct gs_error *err);
void gs_park_idle_rules_done(struct gs_park_idle_rules *rules);

#endif /* GPUSCHED_CONFIG_PARK_IDLE_H */
