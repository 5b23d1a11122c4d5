// SPDX-License-Identifier: MIT
/* trace.c - records, exports and plots which TSG had the GPU */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/parse.h"
#include "cli/cli.h"
#include "cli/verbs_look.h"
#include "gpusched/gpusched.h"
#include "local/local.h"
#include "local/ask.h"
#include "trace/chrome.h"
#include "trace/plot.h"
#include "trace/recorder.h"
#include "trace/summary.h"

#define WRITE_AT 65536         /* bytes that are written together */
#define LAST_NS (3 * NS_PER_S) /* longest wait for the last turns to come */

struct recording {
	struct gs_recorder *recorder;
	struct gs_pb pb;
	int fd;
	bool file;        /* it is a regular file, so an incomplete packet can be removed from it */
	off_t good;       /* bytes of whole packets in the file */
	uint64_t for_ns;  /* length of the recording, ns; 0: until a signal */
	uint64_t stop_ns; /* 0: unknown yet */
	uint64_t told_ns;
	bool tells; /* progress is reported */
	int error;
};

/* ---- record ---------------------------------------------------------------------------------- */

/* Writes all or nothing: on a full disk the file ends with a whole packet. */
static int write_out(struct recording *rec)
{
	size_t at = 0;

	while (at < rec->pb.n) {
		ssize_t n = write(rec->fd, rec->pb.p + at, rec->pb.n - at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			rec->error = -errno;
			rec->good += (off_t)gs_packet_whole(rec->pb.p, at);
			if (rec->file && ftruncate(rec->fd, rec->good))
				rec->file = false;
			return rec->error;
		}
		at += (size_t)n;
	}
	rec->good += (off_t)rec->pb.n;
	rec->pb.n = 0;
	return 0;
}

static void tell_progress(struct recording *rec, bool last)
{
	struct gs_recorder_sums s;
	uint64_t now = gs_now_ns();

	if (!rec->tells || (!last && now - rec->told_ns < NS_PER_S))
		return;
	rec->told_ns = now;
	gs_recorder_sums(rec->recorder, &s);
	fprintf(stderr,
		"\r%5.1f s, %" PRIu64 " turns, %" PRIu64 " events, %.1f MB, %" PRIu64 " lost%s",
		(double)(s.seen_ns - s.begin_ns) / NS_PER_S, s.turns, s.events,
		(double)(rec->good + (off_t)rec->pb.n) / 1e6, s.missed + s.log_lost,
		last ? "\n" : "");
}

static void stop_at(struct recording *rec, uint64_t ns)
{
	rec->stop_ns = ns;
	gs_recorder_stop(rec->recorder, ns);
}

static void plan_end(struct recording *rec)
{
	struct gs_recorder_sums s;

	gs_recorder_sums(rec->recorder, &s);
	if (s.begin_ns)
		stop_at(rec, s.begin_ns + rec->for_ns);
}

static int on_line(const json_t *line, void *user)
{
	struct recording *rec = user;

	rec->error = gs_recorder_line(rec->recorder, line, &rec->pb);
	if (rec->for_ns && !rec->stop_ns)
		plan_end(rec);
	if (!rec->error && rec->pb.n >= WRITE_AT)
		write_out(rec);
	tell_progress(rec, false);
	return rec->error != 0;
}

/*
 * True if all events from before the planned end have come, or if the wait for them was too long.
 */
static bool is_complete(const struct recording *rec, uint64_t now)
{
	struct gs_recorder_sums s;

	gs_recorder_sums(rec->recorder, &s);
	return rec->stop_ns && (s.seen_ns >= rec->stop_ns || now >= rec->stop_ns + LAST_NS);
}

/* Reads the stream until the recording ends. Returns 1 then, 0 if the daemon ended, or -errno. */
static int follow(struct gpusched *g, struct recording *rec)
{
	int r = -ETIMEDOUT;

	while (!rec->error && (r == -ETIMEDOUT || r == -EINTR) && !is_complete(rec, gs_now_ns())) {
		if (cli_stopped && (!rec->stop_ns || rec->stop_ns > gs_now_ns()))
			stop_at(rec, gs_now_ns());
		r = gs_ask_trace(g, on_line, rec, 100000);
	}
	return rec->error ? rec->error : r == -ETIMEDOUT || r == -EINTR ? 1 : r;
}

static int finish(struct recording *rec)
{
	int r = gs_recorder_end(rec->recorder, &rec->pb);

	return r ? r : write_out(rec);
}

static void say_what_is_missing(const struct recording *rec)
{
	struct gs_recorder_sums s;

	gs_recorder_sums(rec->recorder, &s);
	if (s.missed)
		fprintf(stderr,
			"gpusched: %" PRIu64 " lines are missing: they came faster than they were "
			"written\n",
			s.missed);
	if (s.log_lost)
		fprintf(stderr, "gpusched: the GPU's log lost %" PRIu64 " records meanwhile\n",
			s.log_lost);
	if (!s.log)
		fprintf(stderr, "gpusched: no GPU time was seen: %s\n",
			s.reason[0] ? s.reason : "no program used the GPU");
}

static int ended(struct recording *rec, struct gpusched *g, int r, const char *path)
{
	int done = rec->error ? 0 : finish(rec);

	tell_progress(rec, true);
	if (rec->error)
		return cli_fail(rec->error, "trace record: %s: %s: %s", path, strerror(-rec->error),
				rec->file ? "what fitted can be read"
					  : "what was written may be cut off");
	if (done)
		return cli_fail(done, "trace record: %s", strerror(-done));
	if (r < 0)
		return cli_fail(r, "trace record: %s",
				*gpusched_error(g) ? gpusched_error(g) : strerror(-r));
	say_what_is_missing(rec);
	return r ? GS_EXIT_OK
		 : cli_fail(-EPIPE, "trace record: the daemon ended: what came before is there");
}

static int open_output(const char *path, struct recording *rec)
{
	struct stat st;

	rec->fd = !strcmp(path, "-") ? dup(STDOUT_FILENO)
				     : open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (rec->fd < 0)
		return -errno;
	rec->file = strcmp(path, "-") && !fstat(rec->fd, &st) && S_ISREG(st.st_mode);
	return 0;
}

static int record(struct gpusched *g, const char *path, uint64_t for_us)
{
	struct recording rec = {
		.fd = -1,
		.for_ns = for_us * NS_PER_US,
		.tells = isatty(STDERR_FILENO),
	};
	int r = gs_recorder_new(&rec.recorder), code;

	if (!r)
		r = open_output(path, &rec);
	if (r) {
		gs_recorder_free(rec.recorder);
		return cli_fail(r, "trace record: %s: %s", path, strerror(-r));
	}
	cli_command_catch_stop();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	r = follow(g, &rec);
	code = ended(&rec, g, r, path);
	gs_pb_free(&rec.pb);
	gs_recorder_free(rec.recorder);
	if (close(rec.fd) && !code)
		code = cli_fail(-errno, "trace record: %s: %s", path, strerror(errno));
	return code;
}

int cli_trace_record(struct cli *c)
{
	CLEANUP_GPUSCHED struct gpusched *g = NULL;
	const char *path = cli_opt(c, "output");
	struct gs_error err = {};
	uint64_t for_us = 0;
	int r = 0;

	if (!path)
		return cli_fail(-EINVAL, "trace record: say where to: -o FILE");
	if (cli_opt(c, "for"))
		r = cli_of_option(
			"for",
			gs_parse_length(cli_opt(c, "for"), 100000, 86400000000ull, &for_us, &err),
			&err);
	if (r)
		return cli_fail(r, "trace record: %s", err.text);
	r = cli_client_open(GS_LOCAL_DAEMON_ONLY, &g);
	return r ? (int)gs_error_exit(r) : record(g, path, for_us);
}

/* ---- export, plot ---------------------------------------------------------------------------- */

static const struct gs_column columns[] = {
	{ "pid", "PID", GS_COL_RIGHT },
	{ "comm", "COMM" },
	{ "uid", NULL },
	{ "class", "CLASS" },
	{ "gpu_time_us", "GPU_TIME_US", GS_COL_RIGHT },
	{ "turns", "TURNS", GS_COL_RIGHT },
	{ "waits", "WAITS", GS_COL_RIGHT },
	{ "wait_p50_us", "WAIT_P50_US", GS_COL_RIGHT },
	{ "wait_p99_us", "WAIT_P99_US", GS_COL_RIGHT },
	{ "dropped", "DROPPED", GS_COL_RIGHT },
};

static int bad_file(const char *verb, const char *path, int r, const struct gs_error *err)
{
	return cli_fail(r, "trace %s: %s: %s", verb, path, err->text[0] ? err->text : strerror(-r));
}

/* Opens a file; "-" is standard input. */
static FILE *open_input(const char *path)
{
	return strcmp(path, "-") ? fopen(path, "re") : fdopen(dup(STDIN_FILENO), "r");
}

int cli_trace_export(struct cli *c)
{
	CLEANUP_FILE FILE *in = open_input(c->argv[0]);
	const char *format = cli_opt(c, "format");
	CLEANUP_JSON json_t *rows = NULL;
	struct gs_error err = {};
	int r;

	if (!format)
		format = "summary";
	if (strcmp(format, "json") && strcmp(format, "summary"))
		return cli_fail(-EINVAL, "trace export: --format is json or summary, not '%s'",
				format);
	if (!in)
		return bad_file("export", c->argv[0], -errno, &err);
	r = strcmp(format, "json") ? gs_trace_summary(in, &rows, &err)
				   : gs_trace_to_chrome(in, stdout, &err);
	if (r)
		return bad_file("export", c->argv[0], r, &err);
	return rows ? cli_screen_rows(c, columns, GS_COUNT(columns), rows) : GS_EXIT_OK;
}

/* Lets gnuplot draw @script into a picture. */
static int draw(FILE *script, const char *path, struct gs_error *err)
{
	CLEANUP_FD int out = strcmp(path, "-")
				     ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
				     : dup(STDOUT_FILENO);
	int status = 0;
	pid_t pid;

	if (out < 0)
		return gs_fail(err, -errno, "%s", strerror(errno));
	lseek(fileno(script), 0, SEEK_SET);
	pid = fork();
	if (!pid) {
		dup2(fileno(script), STDIN_FILENO);
		dup2(out, STDOUT_FILENO);
		execlp("gnuplot", "gnuplot", NULL);
		_exit(127);
	}
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
		return gs_fail(err, -ENOTSUP, "gnuplot cannot be started: install gnuplot-nox");
	return status ? gs_fail(err, -EIO, "gnuplot failed") : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n > m && !strcasecmp(text + n - m, end);
}

/* Finds the picture's format by the end of the file's name. */
static int parse_kind(const char *path, struct gs_plot_opts *ret, struct gs_error *err)
{
	ret->png = ends_with(path, ".png");
	if (ret->png || ends_with(path, ".svg") || !strcmp(path, "-"))
		return 0;
	return gs_fail(err, -EINVAL, "%s: the picture's name ends in .svg or .png, or is -", path);
}

static int plot_opts(struct cli *c, struct gs_plot_opts *ret, struct gs_error *err)
{
	uint64_t from_us = 0, for_us = 100000;
	int r = parse_kind(cli_opt(c, "output"), ret, err);

	if (!r && cli_opt(c, "from"))
		r = cli_of_option(
			"from",
			gs_parse_length(cli_opt(c, "from"), 0, 86400000000ull, &from_us, err), err);
	if (!r && cli_opt(c, "for"))
		r = cli_of_option(
			"for",
			gs_parse_length(cli_opt(c, "for"), 100, 86400000000ull, &for_us, err), err);
	ret->from_ns = from_us * NS_PER_US;
	ret->for_ns = for_us * NS_PER_US;
	return r;
}

int cli_trace_plot(struct cli *c)
{
	CLEANUP_FILE FILE *in = NULL, *script = NULL;
	const char *path = cli_opt(c, "output");
	struct gs_plot_opts opts = { 0 };
	struct gs_error err = {};
	int r;

	if (!path)
		return cli_fail(-EINVAL, "trace plot: say where to: -o FILE.svg");
	r = plot_opts(c, &opts, &err);
	if (r)
		return cli_fail(r, "trace plot: %s", err.text);
	in = open_input(c->argv[0]);
	if (!in)
		return bad_file("plot", c->argv[0], -errno, &err);
	script = tmpfile();
	r = script ? gs_trace_plot(in, &opts, script, &err) : -errno;
	if (r)
		return bad_file("plot", c->argv[0], r, &err);
	r = draw(script, path, &err);
	return r ? bad_file("plot", path, r, &err) : GS_EXIT_OK;
}
