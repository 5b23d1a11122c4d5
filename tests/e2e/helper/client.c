// SPDX-License-Identifier: MIT
/* client.c - makes clients of the RM: many, short-lived, or hostile ones */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "helper.h"
#include "rm.h"

#define TSGS_PER_CLIENT 100
#define CHANNELS_PER_TSG 100

int verb_tsgs(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0), gpu = number(nwords, words, 1);
	uint32_t client = 0;
	int fd = open_ctl(O_CLOEXEC);

	for (unsigned int i = 0; i < n; i++) {
		if (i % TSGS_PER_CLIENT == 0)
			client = new_client(fd, gpu);
		new_tsg(fd, client, RC_TSG + 2 * (i % TSGS_PER_CLIENT));
	}
	return until_eof();
}

int verb_fall(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0);
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);

	for (unsigned int i = 0; i < n; i++)
		new_tsg(fd, client, RC_TSG + 2 * i);
	rc_free(fd, client, 0, client);
	return until_eof();
}

int verb_drop(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0);
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);

	for (unsigned int i = 0; i < n; i++)
		new_tsg(fd, client, RC_TSG + 2 * i);
	getchar();
	rc_free(fd, client, 0, client);
	puts("ready");
	fflush(stdout);
	return until_eof();
}

int verb_leave(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC);

	new_client(fd, 0);
	close(fd);
	return until_eof();
}

int verb_frees(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0);
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);

	for (unsigned int i = 0; i < n; i++) {
		new_tsg(fd, client, RC_TSG + 2 * i);
		rc_free(fd, client, RC_DEVICE, RC_TSG + 2 * i);
	}
	return 0;
}

static void one_more(const char *what, int *fd, uint32_t *client, unsigned int i)
{
	uint32_t params[14] = { 0 }, channel[128] = { 0 }, h;

	switch (what[0]) {
	case 'f':
		*fd = open_ctl(O_CLOEXEC);
		*client = new_client(*fd, 0);
		break;
	case 'c':
		if (!strcmp(what, "clients")) {
			*client = new_client(*fd, 0);
			break;
		}
		if (i % CHANNELS_PER_TSG == 0)
			new_tsg(*fd, *client, 0x60000000 + i * 2);
		h = 0x70000000 + i;
		must(rm_alloc(*fd, *client, 0x60000000 + (i - i % CHANNELS_PER_TSG) * 2, &h, 0xc86f,
			      channel),
		     "channel");
		break;
	case 'd':
		h = 0x60000000 + i;
		must(rm_alloc(*fd, *client, *client, &h, 0x80, params), "device");
		break;
	default:
		new_tsg(*fd, *client, RC_TSG + 2 * i);
	}
}

int verb_hoard(int nwords, char **words)
{
	const char *what = words[0];
	unsigned int n = number(nwords, words, 1);
	struct rlimit files = { n + 64, n + 64 };
	uint32_t client;
	int fd;

	if (what[0] == 'f' && setrlimit(RLIMIT_NOFILE, &files))
		die("setrlimit");
	fd = open_ctl(O_CLOEXEC);
	client = new_client(fd, 0);
	for (unsigned int i = 0; i < n; i++)
		one_more(what, &fd, &client, i);
	return until_eof();
}

static void short_life(unsigned int i)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);

	new_tsg(fd, client, RC_TSG);
	if (i % 3 == 0)
		rc_free(fd, client, 0, client);
	if (i % 3 == 1)
		raise(SIGKILL);
	_exit(0);
}

int verb_churn(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0), at_once = number(nwords, words, 1);
	unsigned int bad = 0, running = 0;
	int status;

	for (unsigned int i = 0; i < n || running;) {
		if (i < n && running < at_once) {
			if (!fork())
				short_life(i);
			i++;
			running++;
			continue;
		}
		if (wait(&status) < 0)
			break;
		running--;
		if (WIFEXITED(status) && WEXITSTATUS(status))
			bad++;
	}
	printf("{\"processes\":%u,\"failed\":%u}\n", n, bad);
	return bad != 0;
}

/* Waits for a line on stdin, then sets its TSG's timeslice @n times and schedules it once more. */
int verb_noise(int nwords, char **words)
{
	unsigned int n = number(nwords, words, 0);
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0), h = RC_TSG + 2;
	char word;

	new_tsg(fd, client, RC_TSG);
	must(rm_alloc(fd, client, RC_TSG + 1, &h, 0xcbc0, NULL), "compute object");
	say("made");
	if (read(0, &word, 1) != 1)
		return 1;
	for (unsigned int i = 0; i < n; i++)
		rc_timeslice(fd, client, RC_TSG, 1000 + i % 1000);
	rc_schedule(fd, client, RC_TSG, 1);
	return until_eof();
}

int verb_draw(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t copy[8] = { 0, 0, 0, 9 }, client = new_client(fd, 0), h = RC_TSG + 4;
	char word;

	(void)nwords;
	(void)words;
	must(rm_alloc(fd, client, RC_DEVICE, &h, 0xa06c, copy), "copy TSG");
	new_tsg(fd, client, RC_TSG);
	h = RC_TSG + 2;
	say("made");
	if (read(0, &word, 1) != 1)
		return 1;
	must(rm_alloc(fd, client, RC_TSG + 1, &h, 0xcb97, NULL), "3D object");
	say("draws");
	return until_eof();
}

int verb_alias(int nwords, char **words)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t w[7] = { new_client(fd, 0), RC_DEVICE, RC_TSG };
	char word;

	(void)nwords;
	w[3] = (uint32_t)strtoul(words[0], NULL, 0);
	w[4] = (uint32_t)strtoul(words[1], NULL, 0);
	if (rc_call(fd, 0x34, w, sizeof(w)))
		die("dup");
	must(w[6], "dup");
	say("made");
	while (read(0, &word, 1) == 1) {
		rc_timeslice(fd, w[0], RC_TSG, 3000);
		say("used");
	}
	return 0;
}

static void *make_and_free(void *stop)
{
	int fd = open_ctl(O_CLOEXEC);

	while (!__atomic_load_n((bool *)stop, __ATOMIC_RELAXED)) {
		uint32_t client = 0;

		must(rm_alloc(fd, 0, 0, &client, 0x41, NULL), "client");
		rc_free(fd, client, 0, client);
	}
	return NULL;
}

int verb_flood(int nwords, char **words)
{
	unsigned int ms = number(nwords, words, 0), n = number(nwords, words, 1);
	pthread_t thread[16];
	bool over = false;

	if (!n || n > 16)
		return 2;
	for (unsigned int i = 0; i < n; i++)
		pthread_create(&thread[i], NULL, make_and_free, &over);
	usleep(ms * 1000);
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	return 0;
}

int verb_forge(int nwords, char **words)
{
	uint32_t client = number(nwords, words, 0), tsg = number(nwords, words, 1);
	uint64_t us = 77;
	uint32_t w[8], params[8] = { 0, 0, 0, 1 }, h = 0x5c0000f0;
	uint64_t p = (uintptr_t)&us;
	int fd = open_ctl(O_CLOEXEC);
	uint32_t own = new_client(fd, 0);

	/* a control, a free, and a TSG below another client's device */
	memcpy(w, (uint32_t[]){ client, tsg, 0xa06c0103, 0, 0, 0, 8, 0 }, sizeof(w));
	memcpy(&w[4], &p, sizeof(p));
	rc_call(fd, 0x2a, w, sizeof(w));
	printf("control 0x%x\n", w[7]);
	rc_free(fd, client, RC_DEVICE, tsg);
	printf("alloc 0x%x\n", rm_alloc(fd, client, RC_DEVICE, &h, 0xa06c, params));
	/* an own TSG in an own client, with the handle of the victim's TSG */
	h = tsg;
	printf("same handle 0x%x\n", rm_alloc(fd, own, RC_DEVICE, &h, 0xa06c, params));
	rc_timeslice(fd, own, tsg, 99);
	return until_eof();
}

/* ---- hostile --------------------------------------------------------------------------------- */

static uint32_t shared_words[64];
static volatile bool stop;

static void *rewrite(void *arg)
{
	unsigned int seed = 1;

	while (!stop)
		shared_words[rand_r(&seed) % 64] = (uint32_t)rand_r(&seed);
	return arg;
}

int verb_hostile(int nwords, char **words)
{
	unsigned int ms = number(nwords, words, 0), seed = number(nwords, words, 1);
	static const unsigned int sizes[] = { 0, 1, 4, 12, 16, 31, 32, 33, 40, 48, 49, 200, 4000 };
	static const unsigned int numbers[] = { 0x29, 0x2a, 0x2b, 0x2b, 0x2a,
						200,  210,  0x4e, 0x34, 0 };
	static uint8_t buffer[4096];
	void *unmapped = (void *)(uintptr_t)0xdead000;
	struct timespec t0, t;
	pthread_t thread;
	int fd = open_ctl(O_CLOEXEC);
	uint32_t client = new_client(fd, 0);
	unsigned long n = 0;

	new_tsg(fd, client, RC_TSG);
	pthread_create(&thread, NULL, rewrite, NULL);
	clock_gettime(CLOCK_MONOTONIC, &t0);
	do {
		unsigned int nr = numbers[rand_r(&seed) % 10], size = sizes[rand_r(&seed) % 13];
		uint32_t *w = (uint32_t *)buffer;
		uint64_t p = (uintptr_t)(rand_r(&seed) % 3 ? (void *)shared_words : unmapped);

		for (unsigned int i = 0; i < 64; i++)
			w[i] = (uint32_t)rand_r(&seed);
		w[0] = client;
		w[1] = rand_r(&seed) % 2 ? RC_TSG : RC_DEVICE;
		if (nr == 0x2a)
			w[2] = rand_r(&seed) % 2 ? 0xa06c0103 : 0xa06c0107;
		if (nr == 0x2b)
			w[3] = rand_r(&seed) % 2 ? 0xa06c : 0xc86f;
		memcpy(&w[4], &p, sizeof(p));
		w[6] = (uint32_t)rand_r(&seed) % 3 ? 8 : 0xfffffff0;
		switch (rand_r(&seed) % 4) {
		case 0: /* the argument is unmapped memory */
			rc_call(fd, nr, unmapped, size);
			break;
		case 1: /* the argument changes during the call */
			rc_call(fd, nr, shared_words, size < 256 ? size : 48);
			break;
		default:
			rc_call(fd, nr, buffer, size);
		}
		n++;
		clock_gettime(CLOCK_MONOTONIC, &t);
	} while ((t.tv_sec - t0.tv_sec) * 1000 + (t.tv_nsec - t0.tv_nsec) / 1000000 < (long)ms);
	stop = true;
	pthread_join(thread, NULL);
	printf("{\"calls\":%lu}\n", n);
	return 0;
}
