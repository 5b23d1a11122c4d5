// SPDX-License-Identifier: MIT
/*
 * park.c - makes libcuda's checkpoint calls on another process
 *
 *   helper park PID WORD...    one call per word: state, thread, lock[:MS], out, in, unlock
 *   helper memory MIB          holds MIB of GPU memory
 *
 * Prints the CUresult of each call, and for state and thread the value after it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helper.h"

#define PIECE_MIB 1000u

static void *symbol(const char *name)
{
	static void *lib;
	void *p;

	lib = lib ? lib : dlopen("libcuda.so.1", RTLD_NOW);
	p = lib ? dlsym(lib, name) : NULL;
	if (!p) {
		fprintf(stderr, "helper: libcuda.so.1 has no %s\n", name);
		exit(1);
	}
	return p;
}

static int ask(const char *name, int pid, int *ret)
{
	int (*fn)(int, int *) = (int (*)(int, int *))symbol(name);

	return fn(pid, ret);
}

static int act(const char *name, int pid, unsigned int timeout_ms)
{
	struct {
		unsigned int timeout_ms, reserved0;
		uint64_t reserved[7];
	} args = { .timeout_ms = timeout_ms };
	int (*fn)(int, void *) = (int (*)(int, void *))symbol(name);

	return fn(pid, &args);
}

static int call(int pid, const char *word)
{
	int value = -1, r;

	if (!strcmp(word, "state") || !strcmp(word, "thread")) {
		r = ask(*word == 's' ? "cuCheckpointProcessGetState"
				     : "cuCheckpointProcessGetRestoreThreadId",
			pid, &value);
		printf("%s %d %d\n", word, r, value);
		return r;
	}
	if (!strncmp(word, "lock", 4))
		r = act("cuCheckpointProcessLock", pid,
			word[4] ? (unsigned int)atoi(word + 5) : 10000);
	else if (!strcmp(word, "out"))
		r = act("cuCheckpointProcessCheckpoint", pid, 0);
	else if (!strcmp(word, "in"))
		r = act("cuCheckpointProcessRestore", pid, 0);
	else
		r = act("cuCheckpointProcessUnlock", pid, 0);
	printf("%s %d\n", word, r);
	return r;
}

int verb_park(int n, char **words)
{
	int failed = 0;

	for (int i = 1; i < n; i++)
		failed |= call((int)number(n, words, 0), words[i]) != 0;
	return failed;
}

int verb_memory(int n, char **words)
{
	int (*init)(unsigned int) = (int (*)(unsigned int))symbol("cuInit");
	int (*create)(void **, unsigned int, int) =
		(int (*)(void **, unsigned int, int))symbol("cuCtxCreate_v2");
	int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))symbol("cuMemAlloc_v2");
	uint32_t mib = number(n, words, 0), piece;
	uint64_t at;
	void *ctx;
	int r = init(0);

	r = r ? r : create(&ctx, 0, 0);
	for (; !r && mib; mib -= piece) { /* the simulated libcuda moves them one after the other */
		piece = mib < PIECE_MIB ? mib : PIECE_MIB;
		r = alloc(&at, (size_t)piece << 20);
	}
	if (r) {
		printf("failed %d\n", r);
		return 1;
	}
	return until_eof();
}
