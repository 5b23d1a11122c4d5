// SPDX-License-Identifier: MIT
/*
 * runtime.c - plays a container runtime's side of NRI, by the protocols' descriptions alone
 *
 * It shares no code with the plugin: messages are put together by hand. Each line of its input is a
 * command, and most print a line:
 *
 *   accept             waits for a plugin, and configures it: "plugin INDEX-NAME events N"
 *   pod UID NS NAME [KEY=VALUE]...  adds a pod to the next sync; KEY is an annotation
 *   sync [more]        sends the list of pods: "answered MS"
 *   run, remove UID NS NAME [KEY=VALUE]...  reports a pod's start or end: "answered MS"
 *   state EVENT UID NS NAME [KEY=VALUE]...  reports them as runtimes up to NRI 0.11 do
 *   call METHOD        calls any method: "answered MS"
 *   torn               sends half of a message
 *   huge               sends a message that is longer than allowed: "closed" if the plugin closes
 *   close              closes the connection
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "helper.h"

#define MAX_MS 20000

static struct bytes {
	unsigned char at[65536];
	size_t n;
} pods; /* the pods of the next sync */

static int listener, plugin = -1;
static unsigned int stream;

static void add(struct bytes *b, const void *data, size_t n)
{
	if (b->n + n > sizeof(b->at))
		die("more than fits");
	memcpy(b->at + b->n, data, n);
	b->n += n;
}

static void add_number(struct bytes *b, unsigned long long v)
{
	do {
		unsigned char byte = (unsigned char)((v & 127) | (v > 127 ? 128 : 0));

		add(b, &byte, 1);
		v >>= 7;
	} while (v);
}

static void add_field(struct bytes *b, unsigned int id, const void *data, size_t n)
{
	add_number(b, id << 3 | 2);
	add_number(b, n);
	add(b, data, n);
}

static void add_text(struct bytes *b, unsigned int id, const char *text)
{
	add_field(b, id, text, strlen(text));
}

static void add_big(struct bytes *b, unsigned int v)
{
	const unsigned char four[] = { (unsigned char)(v >> 24), (unsigned char)(v >> 16),
				       (unsigned char)(v >> 8), (unsigned char)v };

	add(b, four, 4);
}

static unsigned int big(const unsigned char *at)
{
	return (unsigned int)at[0] << 24 | at[1] << 16 | at[2] << 8 | at[3];
}

static long long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* ---- the socket ------------------------------------------------------------------------------ */

/* Returns 0 at the end of the connection, otherwise 1. */
static int read_all(unsigned char *to, size_t n)
{
	while (n) {
		struct pollfd p = { .fd = plugin, .events = POLLIN };
		ssize_t got = poll(&p, 1, MAX_MS) > 0 ? recv(plugin, to, n, 0) : -1;

		if (got < 0 && errno != ECONNRESET)
			die("no answer of the plugin");
		if (got <= 0)
			return 0;
		to += got;
		n -= (size_t)got;
	}
	return 1;
}

/* Reads a message of the multiplexed @connection, which comes in one piece. Returns its length. */
static size_t read_message(unsigned int connection, unsigned char *to, size_t room)
{
	unsigned char head[18];

	if (!read_all(head, sizeof(head)))
		die("the plugin has closed the connection");
	if (big(head) != connection || big(head + 4) != big(head + 8) + 10 || big(head + 8) > room)
		die("the plugin's message has another form");
	if (!read_all(to, big(head + 8)))
		die("a torn message");
	return big(head + 8);
}

static void send_message(unsigned int connection, unsigned int id, unsigned char type,
			 const struct bytes *m)
{
	static struct bytes b;
	const unsigned char rest[] = { type, 0 };

	b.n = 0;
	add_big(&b, connection);
	add_big(&b, (unsigned int)(m->n + 10));
	add_big(&b, (unsigned int)m->n);
	add_big(&b, id);
	add(&b, rest, 2);
	add(&b, m->at, m->n);
	if (send(plugin, b.at, b.n, MSG_NOSIGNAL) != (ssize_t)b.n)
		die("the plugin does not read");
}

/* Returns the length of the answer, which is in @to. If @told, prints how long it took. */
static size_t call(const char *method, const struct bytes *payload, unsigned char *to, size_t room,
		   int told)
{
	static struct bytes c;
	long long since = now_ms();
	char line[64];
	size_t n;

	c.n = 0;
	add_text(&c, 1, "nri.pkg.api.v1alpha1.Plugin");
	add_text(&c, 2, method);
	add_field(&c, 3, payload->at, payload->n);
	stream += 2;
	send_message(1, stream - 1, 1, &c);
	n = read_message(1, to, room);
	if (told) { /* field 1 would be a status */
		snprintf(line, sizeof(line), "%s %lld", n && to[0] == 0x0a ? "error" : "answered",
			 now_ms() - since);
		say(line);
	}
	return n;
}

/* ---- commands -------------------------------------------------------------------------------- */

/* Returns field @id of a message of text fields; "" if it is missing. */
static const char *field_of(const unsigned char *at, size_t n, unsigned int id)
{
	static char text[256];

	for (size_t i = 0; i + 2 <= n && i + 2 + at[i + 1] <= n; i += 2 + at[i + 1])
		if (at[i] == (id << 3 | 2)) {
			snprintf(text, sizeof(text), "%.*s", at[i + 1], (const char *)at + i + 2);
			return text;
		}
	return "";
}

static void accept_plugin(void)
{
	struct pollfd p = { .fd = listener, .events = POLLIN };
	unsigned char m[1024];
	static struct bytes b;
	char name[300], line[400];
	size_t n;

	plugin = poll(&p, 1, MAX_MS) > 0 ? accept(listener, NULL, NULL) : -1;
	if (plugin < 0)
		die("no plugin connects");
	stream = 2;
	n = read_message(2, m, sizeof(m));
	if (strcmp(field_of(m, n, 2), "RegisterPlugin") != 0)
		die("it does not register");
	/* fields 1 to 3 are shorter than 128 bytes: their lengths have one byte */
	n -= (size_t)(m[1] + 2 + m[m[1] + 3] + 2 + 2);
	memmove(m, m + m[1] + 2 + m[m[1] + 3] + 2 + 2, n);
	snprintf(name, sizeof(name), "%s", field_of(m, n, 1));
	snprintf(line, sizeof(line), "plugin %s-%s", field_of(m, n, 2), name);
	b.n = 0;
	send_message(2, 1, 2, &b);
	add_text(&b, 2, "containerd");
	n = call("Configure", &b, m, sizeof(m), 0);
	if (n != 4 || m[0] != 0x12 || m[2] != 0x10)
		die("it is not configured");
	snprintf(line + strlen(line), sizeof(line) - strlen(line), " events %u", m[3]);
	say(line);
}

static void put_pod(struct bytes *to, unsigned int id)
{
	static struct bytes pod, entry;
	const char *uid = strtok(NULL, " \n"), *namespace = strtok(NULL, " \n");
	const char *name = strtok(NULL, " \n");
	char *word;

	pod.n = 0;
	if (!uid || !namespace || !name)
		die("a pod has a uid, a namespace and a name");
	add_text(&pod, 2, name);
	add_text(&pod, 3, uid);
	add_text(&pod, 4, namespace);
	while ((word = strtok(NULL, " \n"))) {
		char *value = strchr(word, '=');

		if (!value)
			die("an annotation is KEY=VALUE");
		*value++ = '\0';
		entry.n = 0;
		add_text(&entry, 1, word);
		add_text(&entry, 2, value);
		add_field(&pod, 6, entry.at, entry.n);
	}
	add_field(to, id, pod.at, pod.n);
}

static void sync_pods(void)
{
	const char *more = strtok(NULL, " \n");
	unsigned char m[64];

	if (more) {
		add_number(&pods, 3 << 3);
		add_number(&pods, 1);
	}
	call("Synchronize", &pods, m, sizeof(m), 1);
	pods.n = 0;
}

static void state(void)
{
	static struct bytes b;
	unsigned char m[64];

	b.n = 0;
	add_number(&b, 1 << 3);
	add_number(&b, (unsigned int)atoi(strtok(NULL, " \n") ?: "0"));
	put_pod(&b, 2);
	call("StateChange", &b, m, sizeof(m), 1);
}

static void pod_call(const char *method)
{
	static struct bytes b;
	unsigned char m[64];

	b.n = 0;
	put_pod(&b, 1);
	call(method, &b, m, sizeof(m), 1);
}

static void any_call(void)
{
	const char *method = strtok(NULL, " \n");
	static struct bytes b;
	unsigned char m[64];

	b.n = 0;
	add_text(&b, 1, "whatever");
	call(method ? method : "", &b, m, sizeof(m), 1);
}

static void say_part(unsigned int length)
{
	static struct bytes b;
	unsigned char byte;

	b.n = 0;
	add_big(&b, 1);
	add_big(&b, length);
	add_big(&b, length);
	add(&b, "half of it", 10);
	if (send(plugin, b.at, b.n, MSG_NOSIGNAL) != (ssize_t)b.n)
		die("the plugin does not read");
	if (length > 1000)
		say(read_all(&byte, 1) ? "another answer" : "closed");
}

static void obey(char *line)
{
	const char *word = strtok(line, " \n");

	if (!word)
		return;
	if (!strcmp(word, "accept"))
		accept_plugin();
	else if (!strcmp(word, "pod"))
		put_pod(&pods, 1);
	else if (!strcmp(word, "sync"))
		sync_pods();
	else if (!strcmp(word, "run"))
		pod_call("RunPodSandbox");
	else if (!strcmp(word, "remove"))
		pod_call("RemovePodSandbox");
	else if (!strcmp(word, "state"))
		state();
	else if (!strcmp(word, "call"))
		any_call();
	else if (!strcmp(word, "torn"))
		say_part(100);
	else if (!strcmp(word, "huge"))
		say_part(0xffffffff);
	else if (!strcmp(word, "close"))
		close(plugin);
	else
		die(word);
}

int verb_runtime(int n, char **words)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	char line[4096];

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", words[0]);
	unlink(words[0]);
	listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (listener < 0 || bind(listener, (struct sockaddr *)&at, sizeof(at)) ||
	    listen(listener, 4))
		die(words[0]);
	while (fgets(line, sizeof(line), stdin))
		obey(line);
	return 0;
}
