// SPDX-License-Identifier: MIT
/* hostile.c - send random commands to the node while programs come and go */
#include "program.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define T 0x5c000050u
#define CLIENT 0xc1d00001u

void storm(void)
{
	for (;;) {
		struct program p = program_new();

		for (int i = 0; i < 16; i++) {
			uint32_t tsg = T + (uint32_t)(random() & 0x1f);

			if (!tsg_try(&p, tsg)) {
				tsg_set_timeslice(&p, tsg, 1 + (uint64_t)(random() % 5000));
				tsg_schedule(&p, tsg, random() & 1);
			} else {
				tsg_free(&p, tsg);
			}
		}
		program_end(&p);
	}
}

void hold_and_wait(void)
{
	struct program p = program_new();
	int node;

	tsg_new(&p, T, 2);
	if (fork()) /* the parent keeps the TSG; only the child opens the node */
		for (;;)
			pause();
	node = node_open();
	if (node_hold(node) || node_tell(node, &p, T, 2) ||
	    node_set(node, &p, T, GPUSCHED_TIMESLICE, 300, NULL) ||
	    node_set(node, &p, T, GPUSCHED_RUNNABLE, 0, NULL))
		die("set and suspended");
	printf("%d %x %x\n", getpid(), p.client, T);
	fflush(stdout);
	for (;;) {
		node_beat(node);
		sleep(1);
	}
}

/* Waits for a line of input; then tells the module of @n TSGs, and sends heartbeats. */
void tell_and_wait(unsigned int n)
{
	struct program p = program_new();
	int node = node_open();

	if (node_hold(node))
		die("held");
	printf("%d %x %x\n", getpid(), p.client, T);
	fflush(stdout);
	if (getchar() < 0)
		die("a line");
	node_beat(node); /* the wait may have lasted long */
	for (unsigned int i = 0; i < n; i++) {
		tsg_new(&p, T + i, 1);
		if (node_tell(node, &p, T + i, 1))
			die("told");
	}
	for (;;) {
		node_beat(node);
		sleep(1);
	}
}

static const unsigned long commands[] = {
	GPUSCHED_MODULE_ABOUT,   GPUSCHED_MODULE_HOLD, GPUSCHED_MODULE_BEAT, GPUSCHED_MODULE_TELL,
	GPUSCHED_MODULE_TELL,    GPUSCHED_MODULE_LIST, GPUSCHED_MODULE_SET,  GPUSCHED_MODULE_SET,
	GPUSCHED_MODULE_SET,     GPUSCHED_MODULE_LIST, GPUSCHED_MODULE_TELL, GPUSCHED_MODULE_FORGET,
	GPUSCHED_MODULE_PREEMPT, GPUSCHED_MODULE_GONE,
};

/* Fills @words at random, but about half of the values are plausible. */
static void fill(uint32_t *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		words[i] = random() & 1 ? (uint32_t)random() : (uint32_t)random() & 0xf;
	if (random() & 3)
		words[0] = CLIENT + (uint32_t)(random() & 0xff);
	if (random() & 3)
		words[1] = T + (uint32_t)(random() & 0x1f);
}

/*
 * Returns where an argument goes: mostly within the page, else across its end, which is unmapped,
 * or NULL.
 */
static void *place(char *page, size_t size, uint32_t **words)
{
	switch (random() & 15) {
	case 0:
		return NULL;
	case 1:
		return page + 4096 - size / 2;
	case 2:
		return (void *)-4096L;
	default:
		*words = (uint32_t *)(page + 4096 - 128);
		fill(*words, 32);
		return *words;
	}
}

static void random_call(int node, char *page)
{
	unsigned long cmd = commands[(size_t)random() % (sizeof(commands) / sizeof(commands[0]))];
	uint32_t *words = NULL;
	void *arg = place(page, _IOC_SIZE(cmd), &words);

	if (words && cmd == GPUSCHED_MODULE_TELL && (random() & 3)) {
		struct gpusched_module_tell *t = (void *)words;

		t->nchannels &= 3;
		t->channels = (uintptr_t)page;
		t->own.valid &= GPUSCHED_INTERLEAVE | GPUSCHED_PREEMPT_MODE;
		t->own.interleave %= 3;
		t->own.preempt_mode %= 3;
		t->gpu_instance &= 7;
		t->compute_instance &= 3;
		memset(t->own.pad, 0, sizeof(t->own.pad));
	}
	if (words && cmd == GPUSCHED_MODULE_SET && (random() & 3)) {
		struct gpusched_module_set *s = (void *)words;

		s->set = s->want.valid = (uint32_t)random() & 0xf;
		memset(s->want.pad, 0, sizeof(s->want.pad));
	}
	if (words && cmd == GPUSCHED_MODULE_LIST && (random() & 3)) {
		struct gpusched_module_list *l = (void *)words;

		l->n &= 63;
		l->pad = 0;
		l->entries = (uintptr_t)page;
	}
	if (!(random() & 7))
		cmd ^= 1ul << (random() & 31);
	ioctl(node, cmd, arg);
}

/* Forks a process that sends random commands through @node. */
static pid_t caller(int node, unsigned int seed)
{
	pid_t child = fork();
	char *page;

	if (child)
		return child;
	srandom(seed);
	page = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (page == MAP_FAILED || munmap(page + 4096, 4096))
		_exit(1);
	alarm(300);
	for (unsigned int i = 0;; i++) {
		random_call(node, page);
		if (node >= 0 && !(i & 0xff))
			node_beat(node);
	}
}

static pid_t program(void)
{
	pid_t child = fork();

	if (!child) {
		alarm(300);
		storm();
	}
	return child;
}

void suite_hostile(unsigned int seconds)
{
	struct gpusched_module_about about;
	struct program p = program_new();
	int node = node_open();
	pid_t children[6];

	tsg_new(&p, T, 2);
	node_keep(node);
	if (node_tell(node, &p, T, 2))
		die("told");
	children[0] = caller(node, 1);
	children[1] = caller(node, 2);
	children[2] = caller(node, 3);
	children[3] = caller(node_open(), 4); /* another open file, which does not hold the node */
	children[4] = program();
	children[5] = program();
	sleep(seconds);
	node_about(node, &about);
	printf("# %llu calls to the driver, %llu refused by it, %llu put off, %u TSGs known\n",
	       (unsigned long long)about.calls, (unsigned long long)about.failed,
	       (unsigned long long)about.put_off, about.tsgs);
	pass(about.calls > 100, "random commands reached the driver");
	for (int i = 0; i < 6; i++) {
		pass(!kill(children[i], 0) && !waitpid(children[i], NULL, WNOHANG),
		     "process %d is still there", i);
		kill(children[i], SIGKILL);
		waitpid(children[i], NULL, 0);
	}
	close(node);
	pass(gsp_becomes(p.client, T, "us", 1024), "afterwards a TSG has its owner's slice");
	pass(gsp(p.client, channel_of(T, 0), "disabled") < 1, "the TSG runs");
	node = node_open();
	for (int i = 0; i < PATIENCE_S * 20 && !node_about(node, &about) && about.tsgs > 1; i++)
		usleep(50000);
	pass(about.tsgs <= 1, "the module has forgotten the others (%u left)", about.tsgs);
	is((long)about.left, 0, "nothing is left changed");
}
