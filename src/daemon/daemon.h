/* SPDX-License-Identifier: MIT */
/*
 * daemon.h - declares the parts of gpuschedd: options, log, guardian, API
 */
#ifndef GPUSCHED_DAEMON_DAEMON_H
#define GPUSCHED_DAEMON_DAEMON_H

#include <systemd/sd-event.h>

#include "basic/error.h"
#include "policy/policy.h"
#include "service/service.h"

/* ---- options.c ------------------------------------------------------------------------------- */
struct daemon_options {
	bool foreground, dry_run, check_config, no_adopt, guardian;
	bool help_config, help_api, help_counters;
	const char *config, *policy;
	const char *set[GS_POLICY_OPTIONS_MAX]; /* -o key=value */
	size_t nset;
};
/*
 * Parses the command line. 0: go on; 1: help or version was printed, and nothing is left to do;
 * -EINVAL with one line.
 */
int options_parse(int argc, char **argv, struct daemon_options *ret, struct gs_error *err);

/* ---- log.c ----------------------------------------------------------------------------------- */
/* Logs to the journal if systemd started us and not @foreground, else to stderr. */
void log_open(bool foreground, int level);

/* ---- guardian.c: what gpusched-guardian.service runs ----------------------------------------- */
/* Runs until a signal ends it. Fails if the run directory cannot be watched. */
int guardian_run(struct gs_error *err);

/* ---- api.c ----------------------------------------------------------------------------------- */
struct api;
/* Listens on the instance's socket, under its lock, and serves from @event's loop. */
int api_new(sd_event *event, struct gs_service *s, struct api **ret, struct gs_error *err);
void api_free(struct api *a);

#endif /* GPUSCHED_DAEMON_DAEMON_H */
