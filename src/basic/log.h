/* SPDX-License-Identifier: MIT */
/*
 * log.h - passes log lines to one callback; the library itself never prints
 *
 * All code logs through gs_log(). A program installs a sink (stderr, the journal). Without a sink
 * all messages are dropped, even errors: a program that embeds us decides.
 */
#ifndef GPUSCHED_BASIC_LOG_H
#define GPUSCHED_BASIC_LOG_H

#include <stdarg.h>
#include <syslog.h>

typedef void (*gs_log_fn)(int level, const char *message, void *user);

/* level: LOG_ERR .. LOG_DEBUG of syslog.h; messages above @max_level are not formatted. */
void gs_log_sink(gs_log_fn fn, void *user, int max_level);
/* Logs one line, escaped by gs_escape(). */
void gs_log(int level, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The usual sink of our programs: "NAME: message" on stderr. user: the program's name. */
void gs_log_to_stderr(int level, const char *message, void *user);

#endif /* GPUSCHED_BASIC_LOG_H */
