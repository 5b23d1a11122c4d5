// SPDX-License-Identifier: MIT
/*
 * garbage.c - sends hostile requests to the API, each on a new connection
 *
 *   helper garbage SOCKET TIMES SEED
 *
 * The bodies are no JSON, too deep, of wrong types, out of range, or cut off. No request names a
 * living process, so none may change anything. Prints how many requests were answered, refused and
 * left without an answer. Exits with 1 if an answer is no HTTP, or an internal error.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "helper.h"

#define BODY_MAX 60000

static unsigned int seed;
static struct sockaddr_un server = { .sun_family = AF_UNIX };

static unsigned int any(unsigned int n)
{
	return (unsigned int)rand_r(&seed) % n;
}

static const char *one_of(const char *const *all, unsigned int n)
{
	return all[any(n)];
}

#define ONE_OF(all) one_of(all, sizeof(all) / sizeof((all)[0]))

static const char *value(void)
{
	static const char *const values[] = {
		"0",
		"-1",
		"1e308",
		"9223372036854775807",
		"-9223372036854775808",
		"null",
		"true",
		"\"\"",
		"\"..\"",
		"[]",
		"{}",
		"\"\\u0000\"",
		"[[[]]]",
		"4294967296",
	};

	return ONE_OF(values);
}

static size_t object(char *body)
{
	static const char *const targets[] = { "\"pid:999999\"", "\"tsg:0\"", "\"comm:nobody\"",
					       "\"pid:-1\"",     "5",         "[\"all\"]" };
	static const char *const keys[] = { "timeslice_us", "class",  "name", "for_us", "clear",
					    "weight",       "policy", "wide", "x",      "options" };
	int n = snprintf(body, BODY_MAX, "{\"target\":%s", ONE_OF(targets));

	for (unsigned int i = any(6); i; i--)
		n += snprintf(body + n, (size_t)(BODY_MAX - n), ",\"%s\":%s", ONE_OF(keys),
			      value());
	n += snprintf(body + n, (size_t)(BODY_MAX - n), "}");
	return any(5) ? (size_t)n : any((unsigned int)n);
}

static size_t make_body(char *body)
{
	size_t n = any(BODY_MAX);

	switch (any(4)) {
	case 0:
		for (size_t i = 0; i < n; i++)
			body[i] = (char)any(256);
		return n;
	case 1:
		memset(body, any(2) ? '[' : '{', n);
		return n;
	default:
		return object(body);
	}
}

/* Retries for 10 s, since the daemon may have been killed just now. */
static int connected(void)
{
	const struct timeval patience = { .tv_sec = 10 };

	for (unsigned int i = 0; i < 500; i++) {
		int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (fd < 0)
			return -errno;
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
		if (!connect(fd, (struct sockaddr *)&server, sizeof(server)))
			return fd;
		close(fd);
		usleep(20000);
	}
	return -ENOTCONN;
}

/* Returns 0 or -errno; @ret: the beginning of the answer. */
static int ask(const char *head, size_t nhead, const char *body, size_t nbody, bool whole,
	       char ret[64])
{
	int fd = connected();
	char rest[4096];
	ssize_t n = -1;

	memset(ret, 0, 64);
	if (fd < 0)
		return fd;
	if (send(fd, head, nhead, MSG_NOSIGNAL) == (ssize_t)nhead &&
	    send(fd, body, nbody, MSG_NOSIGNAL) >= 0) {
		/* a body that was cut off gets no answer */
		n = whole ? recv(fd, ret, 63, 0) : 0;
	}
	while (n > 0 && recv(fd, rest, sizeof(rest), 0) > 0)
		;
	close(fd);
	return n > 0 ? 0 : -EIO;
}

int verb_garbage(int n, char **words)
{
	static const char *const verbs[] = {
		"list",         "set",       "suspend",     "resume",         "preempt",
		"class_set",    "class_get", "class_clear", "class_explain",  "policy_get",
		"policy_start", "stats",     "status",      "observe_status", "history",
		"../list"
	};
	unsigned long answered = 0, refused = 0, silent = 0, bad = 0;
	static char body[BODY_MAX + 1024];
	char head[256], got[64];

	(void)n;
	snprintf(server.sun_path, sizeof(server.sun_path), "%s", words[0]);
	seed = (unsigned int)strtoul(words[2], NULL, 10);
	for (unsigned long i = strtoul(words[1], NULL, 10); i; i--) {
		size_t nbody = make_body(body);
		bool whole = any(20) != 0;
		int nhead = snprintf(head, sizeof(head),
				     "POST /v1/%s HTTP/1.1\r\nHost: g\r\nConnection: close\r\n"
				     "Content-Length: %zu\r\n\r\n",
				     ONE_OF(verbs), nbody + (whole ? 0 : 5));

		if (ask(head, (size_t)nhead, body, nbody, whole, got))
			silent++;
		else if (strncmp(got, "HTTP/1.1 ", 9) || !strncmp(got + 9, "500", 3))
			bad++;
		else if (!strncmp(got + 9, "200", 3))
			answered++;
		else
			refused++;
	}
	printf("%lu %lu %lu\n", answered, refused, silent);
	return bad != 0;
}
