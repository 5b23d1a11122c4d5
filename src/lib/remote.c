// SPDX-License-Identifier: MIT
/* remote.c - sends requests and reads streams by HTTP over the daemon's unix socket */
#include <curl/curl.h>
#include <errno.h>
#include <stdbool.h>
#include <pthread.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "basic/beat.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/json_sheet.h"
#include "lib/remote.h"

#define ANSWER_LIMIT (64u << 20) /* the list of a full table is 16 MiB long */
#define STREAM_LIMIT (8u << 20)  /* a slow reader may get 2 MiB at once */
#define REQUEST_MS 30000L    /* controls are answered within 5 s, a policy's start takes longer */
#define PARK_US 1800000000ll /* longest time to park or unpark programs */
#define PING_MS 1000L        /* a daemon that responds answers a ping at once */
/*
 * Limits for a daemon with a heartbeat: time for an answer, and age of the heartbeat, the guardian's limit
 * (src/engine/guardian.c).
 */
#define BUSY_MS 15000L
#define BEAT_LIVES_NS (5 * NS_PER_S)
#define AGAIN_NS (100 * NS_PER_MS)
/*
 * Interval of the pings that check, during a request, whether the daemon responds. Most requests
 * end before the first ping.
 */
#define PING_EVERY_NS (NS_PER_S * 9 / 10)

struct text {
	char *p;
	size_t n;
};

struct remote {
	CURL *ping;        /* for pings */
	uint64_t alive_ns; /* when the daemon last answered */
	char socket[sizeof(((struct sockaddr_un *)0)->sun_path)];
	CURL *easy;           /* for requests */
	CURLM *multi;         /* for the stream; NULL: there was none yet */
	CURL *watch;          /* the stream; NULL: none is open */
	enum gs_stream which; /* kind of the stream */
	struct text in;       /* the stream's data that was received but not passed on yet */
	int watch_code;       /* negative errno: the stream broke */
	bool refused;         /* the stream was refused, and the data says why */
};

/*
 * Tries to connect, since curl has the same error for a missing daemon and for a slow one. -EAGAIN:
 * the socket's backlog is full. *ret_pid: the process that listens; unchanged if unknown.
 */
static int try_connect(const char *path, pid_t *ret_pid)
{
	CLEANUP_FD int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred cred = { 0 };
	socklen_t len = sizeof(cred);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	if (fd < 0)
		return -errno;
	if (strlen(path) >= sizeof(sun.sun_path))
		return -ENAMETOOLONG;
	strcpy(sun.sun_path, path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof(sun)))
		return -errno;
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		*ret_pid = cred.pid;
	return 0;
}

static void init_curl(void)
{
	curl_global_init(CURL_GLOBAL_DEFAULT);
}

int remote_new(const char *socket, struct remote **ret, struct gs_error *err)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct remote *r;
	pid_t pid = 0;
	int code;

	code = try_connect(socket, &pid);
	if (code && code != -EAGAIN)
		return gs_fail(err, code, "%s: %s", socket, strerror(-code));
	pthread_once(&once, init_curl);
	r = calloc(1, sizeof(*r));
	if (r) {
		r->easy = curl_easy_init();
		r->ping = curl_easy_init();
	}
	if (!r || !r->easy || !r->ping) {
		remote_free(r);
		return gs_fail(err, -ENOMEM, "out of memory");
	}
	strcpy(r->socket, socket);
	*ret = r;
	return 0;
}

void remote_free(struct remote *r)
{
	if (!r)
		return;
	if (r->watch) {
		curl_multi_remove_handle(r->multi, r->watch);
		curl_easy_cleanup(r->watch);
	}
	if (r->multi)
		curl_multi_cleanup(r->multi);
	curl_easy_cleanup(r->easy);
	curl_easy_cleanup(r->ping);
	free(r->in.p);
	free(r);
}

static int append(struct text *t, const char *data, size_t n, size_t limit)
{
	char *grown;

	if (n > limit || t->n > limit - n)
		return -EMSGSIZE;
	grown = realloc(t->p, t->n + n + 1);
	if (!grown)
		return -ENOMEM;
	memcpy(grown + t->n, data, n);
	t->p = grown;
	t->n += n;
	t->p[t->n] = 0;
	return 0;
}

/* ---- one request ----------------------------------------------------------------------------- */

static size_t on_body(char *data, size_t one, size_t n, void *user)
{
	return append(user, data, one * n, ANSWER_LIMIT) ? 0 : one * n;
}

static int errno_of(CURLcode c)
{
	return c == CURLE_COULDNT_CONNECT      ? -ECONNREFUSED
	       : c == CURLE_OPERATION_TIMEDOUT ? -ETIMEDOUT
	       : c == CURLE_OUT_OF_MEMORY      ? -ENOMEM
	       : c == CURLE_WRITE_ERROR        ? -EMSGSIZE
					       : -EPROTO;
}

/* Reads the reason with which the daemon refused a request. */
static int read_error(long status, const json_t *body, struct gs_error *err)
{
	const json_t *text = json_object_get(body, "error"), *code = json_object_get(body, "code");

	if (!json_is_string(text) || !json_is_integer(code) || json_integer_value(code) >= 0 ||
	    json_integer_value(code) < -4095)
		return gs_fail(err, -EPROTO, "the daemon answered %ld without a reason", status);
	return gs_fail(err, (int)json_integer_value(code), "%s", json_string_value(text));
}

static CURLcode perform(struct remote *r, CURL *easy, const char *url, const char *args, long ms,
			struct text *body)
{
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	CURLcode c;

	headers = curl_slist_append(headers, "Expect:");
	curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, r->socket);
	curl_easy_setopt(easy, CURLOPT_URL, url);
	curl_easy_setopt(easy, CURLOPT_PROXY, "");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
	curl_easy_setopt(easy, CURLOPT_POSTFIELDS, args);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, ms);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
	c = curl_easy_perform(easy);
	curl_slist_free_all(headers);
	return c;
}

/* ---- a daemon that does not answer ------------------------------------------------------------ */

/* True if SIGSTOP or a debugger has stopped the process. */
static bool is_stopped(pid_t pid)
{
	char path[32], line[128], state = 0;
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = pid > 0 ? fopen(path, "re") : NULL;
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "State: %c", &state) == 1)
			break;
	return state == 'T' || state == 't';
}

/*
 * False if the daemon is stopped, or accepts no connections. True if there is no daemon: the
 * request itself then fails.
 */
static bool may_answer(const struct remote *r, pid_t *ret_pid)
{
	int code = try_connect(r->socket, ret_pid);

	return code ? code != -EAGAIN : !is_stopped(*ret_pid);
}

static bool pings(struct remote *r, long ms)
{
	struct text body = { 0 };
	CURLcode c;

	curl_easy_reset(r->ping);
	c = perform(r, r->ping, "http://gpusched/v1/ping", "{}", ms, &body);
	free(body.p);
	r->alive_ns = gs_now_ns();
	return c != CURLE_OPERATION_TIMEDOUT;
}

/* Asks for longer while the heartbeat goes on: such a daemon is slow, and not stuck. */
static bool is_alive(struct remote *r, pid_t *ret_pid)
{
	uint64_t until = gs_now_ns() + BUSY_MS * NS_PER_MS;

	*ret_pid = 0;
	for (;;) {
		bool asked = may_answer(r, ret_pid);

		if (asked && pings(r, PING_MS))
			return true;
		if (is_stopped(*ret_pid) || gs_beat_age_ns() > BEAT_LIVES_NS || gs_now_ns() > until)
			return false;
		if (!asked) /* the backlog is full */
			gs_sleep_ns(AGAIN_NS);
	}
}

static int fail_dead(pid_t pid, struct gs_error *err)
{
	bool stopped = is_stopped(pid);
	uint64_t age = gs_beat_age_ns();
	char who[64] = "";

	if (pid)
		snprintf(who, sizeof(who), " (process %d%s)", (int)pid, stopped ? ", stopped" : "");
	if (!stopped && age <= BEAT_LIVES_NS)
		return gs_fail(err, -EHOSTDOWN,
			       "gpuschedd%s is busy: its heartbeat is %.1f s old, and it did not "
			       "answer, asked again for %ld s: try again later",
			       who, (double)age / 1e9, BUSY_MS / 1000);
	return gs_fail(err, -EHOSTDOWN,
		       "gpuschedd%s does not answer: %s it, or put everything back by "
		       "'sudo gpusched restore'",
		       who, stopped ? "continue (kill -CONT) or restart" : "restart");
}

/* Pings the daemon. -EHOSTDOWN, within 2 s: a daemon listens but does not respond. */
static int check_alive(struct remote *r, struct gs_error *err)
{
	pid_t pid = 0;

	return is_alive(r, &pid) ? 0 : fail_dead(pid, err);
}

/* Called by curl during a request: aborts it if the daemon no longer responds. */
static int on_progress(void *user, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
	struct remote *r = user;
	pid_t pid;

	return gs_now_ns() - r->alive_ns >= PING_EVERY_NS && !is_alive(r, &pid);
}

static bool is_word(const char *verb)
{
	return *verb && strspn(verb, "abcdefghijklmnopqrstuvwxyz_") == strlen(verb) &&
	       strlen(verb) < 64;
}

/* Returns how long an answer may take: `status` measures for a time, and parking copies memory. */
static long limit_ms(const char *verb, const json_t *args)
{
	json_int_t us = !strcmp(verb, "park") || !strcmp(verb, "unpark") ? PARK_US
			: strcmp(verb, "status")
				? 0
				: json_integer_value(json_object_get(args, "for_us"));

	return REQUEST_MS + (long)(us / 1000);
}

/* Checks only the first and the last character, since the reader of the answer parses it anyway. */
static bool is_object(const struct text *body)
{
	return body->n >= 2 && body->p[0] == '{' && body->p[body->n - 1] == '}' &&
	       strlen(body->p) == body->n;
}

/* Handles the answer to a request; frees @body, or returns its text in *ret. */
static int read_answer(long status, struct text body, char **ret, struct gs_error *err)
{
	CLEANUP_FREE char *answer = body.p;
	CLEANUP_JSON json_t *why = NULL;

	if (status != 200) {
		why = json_loads(answer ? answer : "", JSON_REJECT_DUPLICATES, NULL);
		return read_error(status, why, err);
	}
	if (!is_object(&body))
		return gs_fail(err, -EPROTO, "the daemon's answer is not a JSON object");
	*ret = TAKE_PTR(answer);
	return 0;
}

static int remote_request(void *self, const char *verb, const json_t *args, char **ret,
			  struct gs_error *err)
{
	CLEANUP_FREE char *asked = args ? json_dumps(args, JSON_COMPACT) : strdup("{}");
	struct remote *r = self;
	struct text body = { 0 };
	char url[128];
	long status = 0;
	pid_t pid = 0;
	CURLcode c;

	if (!is_word(verb))
		return gs_fail(err, -EINVAL, "there is no verb '%.64s'", verb);
	if (!asked)
		return gs_fail(err, -ENOMEM, "out of memory");
	if (!may_answer(r, &pid) && !is_alive(r, &pid))
		return fail_dead(pid, err);
	r->alive_ns = gs_now_ns();
	snprintf(url, sizeof(url), "http://gpusched/v1/%s", verb);
	curl_easy_reset(r->easy);
	curl_easy_setopt(r->easy, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(r->easy, CURLOPT_XFERINFOFUNCTION, on_progress);
	curl_easy_setopt(r->easy, CURLOPT_XFERINFODATA, r);
	c = perform(r, r->easy, url, asked, limit_ms(verb, args), &body);
	curl_easy_getinfo(r->easy, CURLINFO_RESPONSE_CODE, &status);
	if (!c)
		return read_answer(status, body, ret, err);
	free(body.p);
	if (c == CURLE_ABORTED_BY_CALLBACK)
		return check_alive(r, err)
			       ?: gs_fail(err, -ETIMEDOUT,
					  "gpuschedd did not answer for some time: try again");
	return gs_fail(err, errno_of(c), "the daemon does not answer: %s", curl_easy_strerror(c));
}

/* ---- the stream of events -------------------------------------------------------------------- */

static size_t on_stream(char *data, size_t one, size_t n, void *user)
{
	struct remote *r = user;
	long status = 0;

	curl_easy_getinfo(r->watch, CURLINFO_RESPONSE_CODE, &status);
	r->watch_code = append(&r->in, data, one * n, STREAM_LIMIT);
	r->refused = status != 200;
	return r->watch_code ? 0 : one * n;
}

static int read_refusal(struct remote *r, struct gs_error *err)
{
	CLEANUP_JSON json_t *why = json_loadb(r->in.p ? r->in.p : "", r->in.n, 0, NULL);
	long status = 0;

	curl_easy_getinfo(r->watch, CURLINFO_RESPONSE_CODE, &status);
	return read_error(status, why, err);
}

static int open_stream(struct remote *r, const char *url, struct gs_error *err)
{
	if (!r->multi)
		r->multi = curl_multi_init();
	r->watch = r->multi ? curl_easy_init() : NULL;
	if (!r->watch)
		return gs_fail(err, -ENOMEM, "out of memory");
	curl_easy_setopt(r->watch, CURLOPT_UNIX_SOCKET_PATH, r->socket);
	curl_easy_setopt(r->watch, CURLOPT_URL, url);
	curl_easy_setopt(r->watch, CURLOPT_PROXY, "");
	curl_easy_setopt(r->watch, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(r->watch, CURLOPT_WRITEFUNCTION, on_stream);
	curl_easy_setopt(r->watch, CURLOPT_WRITEDATA, r);
	r->watch_code = 0;
	r->refused = false;
	r->in.n = 0;
	return curl_multi_add_handle(r->multi, r->watch) ? -ENOMEM : 0;
}

static void close_stream(struct remote *r)
{
	curl_multi_remove_handle(r->multi, r->watch);
	curl_easy_cleanup(r->watch);
	r->watch = NULL;
}

/*
 * Passes complete lines to @fn, until it returns non-zero, which is returned. Skips empty lines,
 * which only show that the daemon lives.
 */
static int hand_out(struct remote *r, gpusched_event_fn fn, void *user)
{
	size_t at = 0;
	int stop = 0;

	while (!stop && r->in.p && !r->refused) {
		char *line = r->in.p + at, *end = memchr(line, '\n', r->in.n - at);

		if (!end)
			break;
		*end = '\0';
		if (end > line && (line[0] != '{' || end[-1] != '}'))
			stop = r->watch_code = -EPROTO;
		else if (end > line)
			stop = fn(line, user);
		at = (size_t)(end - r->in.p) + 1;
	}
	if (at) {
		memmove(r->in.p, r->in.p + at, r->in.n - at);
		r->in.n -= at;
	}
	return stop;
}

/* Waits for the socket. This does not use curl's own function, which goes on after a signal. */
static int wait_stream(struct remote *r, uint64_t until)
{
	uint64_t now = gs_now_ns(), ns = until ? until - now : NS_PER_S;
	struct timespec ts;
	fd_set in, out, ex;
	int max = -1;
	long ms = -1;

	if (until && now >= until)
		return -ETIMEDOUT;
	FD_ZERO(&in);
	FD_ZERO(&out);
	FD_ZERO(&ex);
	if (curl_multi_fdset(r->multi, &in, &out, &ex, &max))
		return -EPROTO;
	curl_multi_timeout(r->multi, &ms);
	if (max < 0)
		ms = ms < 0 || ms > 100 ? 10 : ms;
	if (ms >= 0 && (uint64_t)ms * NS_PER_MS < ns)
		ns = (uint64_t)ms * NS_PER_MS;
	ts = (struct timespec){ .tv_sec = (time_t)(ns / NS_PER_S),
				.tv_nsec = (long)(ns % NS_PER_S) };
	return pselect(max + 1, &in, &out, &ex, &ts, NULL) < 0 ? -errno : 0;
}

static int remote_stream(void *self, enum gs_stream which, gpusched_event_fn fn, void *user,
			 uint64_t timeout_us, struct gs_error *err)
{
	static const char *const urls[] = {
		[GS_STREAM_EVENTS] = "http://gpusched/v1/watch",
		[GS_STREAM_TURNS] = "http://gpusched/v1/trace",
	};
	struct remote *r = self;
	uint64_t until = timeout_us ? gs_now_ns() + timeout_us * NS_PER_US : 0;
	int code = r->watch ? 0 : check_alive(r, err), running = 1;

	if (r->watch && r->which != which)
		return gs_fail(err, -EBUSY, "a handle has one stream: open another handle");
	r->which = which;
	if (!code && !r->watch)
		code = open_stream(r, urls[which], err);

	while (!code && running) {
		if (curl_multi_perform(r->multi, &running))
			code = -EPROTO;
		if (!code)
			code = hand_out(r, fn, user);
		if (!code && running)
			code = wait_stream(r, until);
	}
	if (running && (code > 0 || code == -ETIMEDOUT || code == -EINTR))
		return code;
	if (r->refused && !code)
		code = read_refusal(r, err);
	if (r->watch_code && (!code || code == r->watch_code))
		code = gs_fail(err, r->watch_code, "the daemon's stream of events is broken: %s",
			       strerror(-r->watch_code));
	if (r->watch)
		close_stream(r);
	return code;
}

static bool has_daemon(const void *self)
{
	return true;
}

static void free_self(void *self)
{
	remote_free(self);
}

const struct gs_handle_ops remote_ops = {
	.has_daemon = has_daemon,
	.request = remote_request,
	.stream = remote_stream,
	.free = free_self,
};
