/* SPDX-License-Identifier: MIT */
/* priv.h - declares a session with its own daemon, log and programs; private to src/qualify */
#ifndef GPUSCHED_QUALIFY_PRIV_H
#define GPUSCHED_QUALIFY_PRIV_H

#include "bench/path.h"
#include "qualify/qualify.h"
#include "qualify/window.h"
#include "rm/rm.h"

#define QUALIFY_PROGRAMS 3u

#define QUALIFY_DIR_LEN 300u /* size of bench_path.dir */

/* A child process that cleans up if this process is killed. */
struct qualify_cleaner {
	pid_t pid;
	int fd;    /* the pipe to the cleaner, which waits for its end */
	char *dir; /* memory shared with the cleaner: the folder to remove; "": none yet */
};

struct qualify {
	const struct qualify_opts *o;
	struct qualify_result *r;
	struct bench_run run;
	struct qualify_cleaner cleaner;
	struct bench_child daemon;
	struct gs_gpu gpu;
	struct gs_switchlog *log; /* NULL: the log cannot be read */
	struct program all[QUALIFY_PROGRAMS];
	unsigned int n;
	struct qualify_window window;
};

/* ---- cleaner.c ------------------------------------------------------------------------------- */

/* Forks the cleaner; call this before any thread starts. @taps: the cleaner turns the taps off. */
int qualify_cleaner_start(struct qualify_cleaner *c, bool taps, struct gs_error *err);
/* Ends the cleaner, after this process has cleaned up itself. */
void qualify_cleaner_end(struct qualify_cleaner *c);

/* ---- qualify_session.c ----------------------------------------------------------------------- */

/* True if a signal has asked us to stop, or the time limit is reached. */
bool qualify_over(const struct qualify *q);
/* Waits for @seconds of the GPU's time. -EINTR: qualify_over() became true. */
int qualify_wait(const struct qualify *q, double seconds);
/* Starts a daemon without a policy, and opens the log. */
int qualify_session_begin(struct qualify *q, struct gs_error *err);
/* Ends the programs, then the daemon, which restores all settings. */
void qualify_session_end(struct qualify *q);
/* Starts another program with the load @what, and waits until it works. */
int qualify_start(struct qualify *q, const struct bench_program *what, struct gs_error *err);
void qualify_stop_programs(struct qualify *q);
/* Sends one verb to our daemon; takes ownership of @args. */
int qualify_ask(const char *verb, json_t *args, json_t **ret, struct gs_error *err);
/* The compute TSG of program @i, as `list` shows it; NULL: there is none. */
json_t *qualify_tsg(const struct qualify *q, unsigned int i);
/*
 * Sets @key of the first @n programs to @value; takes ownership of @value. If @value is NULL, @key
 * is a verb such as "suspend". Returns 0 only if all calls succeeded.
 */
int qualify_set(const struct qualify *q, unsigned int n, const char *key, json_t *value,
		struct gs_error *err);
/*
 * Waits for settings to take effect, then reads the log into q->window for @seconds of the GPU's
 * time. -ENODATA: there is no log.
 */
int qualify_watch(struct qualify *q, double seconds);

void qualify_yes(struct qualify *q, enum qualify_check_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void qualify_no(struct qualify *q, enum qualify_check_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
void qualify_cost(struct qualify *q, enum qualify_cost_id id, double us);
/* Records why a cost is unknown. */
void qualify_dark(struct qualify *q, enum qualify_cost_id id, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* ---- the parts, in this order; -EINTR: qualify_over() became true ------------------------------ */

int qualify_costs(struct qualify *q, struct gs_error *err);   /* costs.c */
int qualify_effects(struct qualify *q, struct gs_error *err); /* effects.c */
int qualify_latency(struct qualify *q, struct gs_error *err); /* latency.c; after the session */

#endif /* GPUSCHED_QUALIFY_PRIV_H */
