// SPDX-License-Identifier: MIT
/*
 * gpusched-exporter: serves the daemon's /metrics on a TCP address, and nothing else. It needs no
 * privilege: it asks the daemon as any user does, and sees only what its user may see.
 */
#include <curl/curl.h>
#include <errno.h>
#include <getopt.h>
#include <microhttpd.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/error.h"
#include "basic/parse.h"

#define LISTEN "127.0.0.1:9401"
#define KEEP_NS NS_PER_S /* an answer serves all requests that come within this time */
#define MAX_BYTES (16u << 20)
#define MAX_CONNECTIONS 16
#define TIMEOUT_S 10
#define TYPE "application/openmetrics-text; version=1.0.0; charset=utf-8"

/* The daemon's last answer. */
struct answer {
	char *text;
	size_t n;
	uint64_t ns;
};

static int complain(int code, const char *text)
{
	fprintf(stderr, "gpusched-exporter: %s\n", text);
	return gs_error_exit(code);
}

/* ---- the daemon's side ----------------------------------------------------------------------- */

static size_t take(char *data, size_t size, size_t n, void *user)
{
	struct answer *a = user;
	char *grown;

	n *= size;
	if (a->n + n > MAX_BYTES)
		return 0;
	grown = realloc(a->text, a->n + n + 1);
	if (!grown)
		return 0;
	memcpy(grown + a->n, data, n);
	a->text = grown;
	a->n += n;
	a->text[a->n] = '\0';
	return n;
}

static int ask(struct answer *ret)
{
	struct answer a = { 0 };
	CURL *c = curl_easy_init();
	CURLcode code;
	long status = 0;

	if (!c)
		return -ENOMEM;
	curl_easy_setopt(c, CURLOPT_UNIX_SOCKET_PATH, gs_env()->socket);
	curl_easy_setopt(c, CURLOPT_URL, "http://gpusched/metrics");
	curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
	curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(c, CURLOPT_PROXY, "");
	curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, take);
	curl_easy_setopt(c, CURLOPT_WRITEDATA, &a);
	code = curl_easy_perform(c);
	curl_easy_getinfo(c, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(c);
	if (code != CURLE_OK || status != 200 || !a.text) {
		free(a.text);
		return -EIO;
	}
	free(ret->text);
	*ret = a;
	ret->ns = gs_now_ns();
	return 0;
}

/* ---- the network's side ---------------------------------------------------------------------- */

static enum MHD_Result answer(struct MHD_Connection *c, unsigned int status, const char *type,
			      const char *text, size_t n)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(n, (void *)text, MHD_RESPMEM_MUST_COPY);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result refuse(struct MHD_Connection *c, unsigned int status, const char *text)
{
	return answer(c, status, "text/plain; charset=utf-8", text, strlen(text));
}

/* One thread serves all requests. */
static enum MHD_Result on_request(void *user, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *data,
				  size_t *inout_n, void **context)
{
	struct answer *a = user;

	if (strcmp(method, MHD_HTTP_METHOD_GET))
		return refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET\n");
	if (strcmp(url, "/metrics"))
		return refuse(c, MHD_HTTP_NOT_FOUND, "only /metrics\n");
	if ((!a->text || gs_now_ns() - a->ns >= KEEP_NS) && ask(a))
		return refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "the daemon does not answer\n");
	return answer(c, MHD_HTTP_OK, TYPE, a->text, a->n);
}

/* Parses "127.0.0.1:9401" or "[::1]:9401": addresses only, no names. */
static int resolve(const char *text, struct addrinfo **ret, struct gs_error *err)
{
	const struct addrinfo hints = { .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV | AI_PASSIVE,
					.ai_socktype = SOCK_STREAM };
	CLEANUP_FREE char *copy = strdup(text);
	char *colon = copy ? strrchr(copy, ':') : NULL, *host = copy;
	uint64_t port;
	int r;

	if (!colon || gs_parse_u64(colon + 1, 1, 65535, &port, NULL))
		return gs_fail(err, -EINVAL, "--listen %s: an address and a port, such as " LISTEN,
			       text);
	*colon = '\0';
	if (*host == '[' && colon > host + 1 && colon[-1] == ']') {
		colon[-1] = '\0';
		host++;
	}
	r = getaddrinfo(host, colon + 1, &hints, ret);
	return r ? gs_fail(err, -EINVAL, "--listen %s: %s", text, gai_strerror(r)) : 0;
}

static int serve(const struct addrinfo *at, const sigset_t *until)
{
	struct answer a = { 0 };
	struct MHD_Daemon *d = MHD_start_daemon(
		MHD_USE_INTERNAL_POLLING_THREAD | (at->ai_family == AF_INET6 ? MHD_USE_IPv6 : 0), 0,
		NULL, NULL, on_request, &a, MHD_OPTION_SOCK_ADDR, at->ai_addr,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned int)MAX_CONNECTIONS,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned int)TIMEOUT_S, MHD_OPTION_END);
	int sig;

	if (!d)
		return complain(-EIO, "the address cannot be listened at: another program may");
	sd_notify(0, "READY=1");
	sigwait(until, &sig);
	MHD_stop_daemon(d);
	free(a.text);
	return GS_EXIT_OK;
}

static int usage(void)
{
	puts("Usage: gpusched-exporter [--listen ADDRESS:PORT]\n\n"
	     "Serves the metrics of gpuschedd to Prometheus, at http://" LISTEN "/metrics.\n\n"
	     "  --listen ADDRESS:PORT  listen there (" LISTEN ")\n"
	     "  --version              print the version and exit\n"
	     "  --help                 print this and exit");
	return GS_EXIT_OK;
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "listen", required_argument, NULL, 'l' },
						 { "version", no_argument, NULL, 'V' },
						 { "help", no_argument, NULL, 'h' },
						 { 0 } };
	const char *listen_at = LISTEN;
	struct addrinfo *at = NULL;
	struct gs_error err = { 0 };
	sigset_t set;
	int c, r;

	while ((c = getopt_long(argc, argv, "l:Vh", options, NULL)) != -1) {
		if (c == 'h')
			return usage();
		if (c == 'V')
			return printf("gpusched-exporter %s\n", GPUSCHED_VERSION) < 0;
		if (c != 'l')
			return GS_EXIT_USAGE;
		listen_at = optarg;
	}
	if (optind < argc)
		return complain(-EINVAL, "no arguments but options: see --help");
	r = gs_env_check(&err);
	if (!r)
		r = resolve(listen_at, &at, &err);
	if (r)
		return complain(r, err.text);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* comes before any thread is made */
	curl_global_init(CURL_GLOBAL_DEFAULT);
	r = serve(at, &set);
	curl_global_cleanup();
	freeaddrinfo(at);
	return r;
}
