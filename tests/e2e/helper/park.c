// SPDX-License-Identifier: MIT
/*
 * park.c - makes libcuda's checkpoint calls on another process
 *
 *   helper park PID WORD...    one call per word: state, thread, lock[:MS], out, in, unlock
 *   helper memory MIB          holds MIB of GPU memory
 *   helper shares KIND FILE    holds 100 MiB of it, and something that KIND says: give or open (IPC, by
 *                              a handle in FILE), vmm, managed, multicast; own: a second handle
 *                              for memory of its own
 *
 * Prints the CUresult of each call, and for state and thread the value after it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rm.h"

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

/* Returns a CUresult. */
static int start_cuda(void)
{
	int (*init)(unsigned int) = (int (*)(unsigned int))symbol("cuInit");
	int (*create)(void **, unsigned int, int) =
		(int (*)(void **, unsigned int, int))symbol("cuCtxCreate_v2");
	void *ctx;
	int r = init(0);

	return r ? r : create(&ctx, 0, 0);
}

struct ipc_handle {
	char bytes[64];
};

static int give(uint64_t at, const char *path)
{
	int (*get)(struct ipc_handle *, uint64_t) =
		(int (*)(struct ipc_handle *, uint64_t))symbol("cuIpcGetMemHandle");
	struct ipc_handle h;
	int r = get(&h, at);
	FILE *f = r ? NULL : fopen(path, "w");

	if (!f || fwrite(&h, sizeof(h), 1, f) != 1)
		r = r ? r : 1;
	if (f)
		fclose(f);
	return r;
}

static int open_others(const char *path)
{
	int (*take)(uint64_t *, struct ipc_handle, unsigned int) = (int (*)(
		uint64_t *, struct ipc_handle, unsigned int))symbol("cuIpcOpenMemHandle_v2");
	FILE *f = fopen(path, "r");
	struct ipc_handle h;
	uint64_t at;

	if (!f || fread(&h, sizeof(h), 1, f) != 1)
		return 1;
	fclose(f);
	return take(&at, h, 1);
}

/* Makes two clients, and gives memory of the first a handle in the second. */
static int dup_own(void)
{
	int fd = open_ctl(O_CLOEXEC);
	uint32_t a = new_client(fd, 0), b = new_client(fd, 0), h = 0x77, p[64] = { 0 };
	uint32_t w[7] = { b, RC_DEVICE, 0x78, a, 0x77 };

	must(rm_alloc(fd, a, RC_DEVICE, &h, 0x40, p), "memory");
	if (rc_call(fd, 0x34, w, sizeof(w)))
		die("dup");
	must(w[6], "dup");
	return 0;
}

static int with(const char *kind, const char *path, uint64_t at)
{
	int (*other)(uint64_t *, size_t, unsigned int);
	uint64_t more;
	int fd;

	if (!strcmp(kind, "give"))
		return give(at, path);
	if (!strcmp(kind, "open"))
		return open_others(path);
	if (!strcmp(kind, "own"))
		return dup_own();
	if (!strcmp(kind, "vmm"))
		return ((int (*)(uint64_t *, void *, int))symbol("cuMemImportFromShareableHandle"))(
			&more, NULL, 1);
	if (!strcmp(kind, "vmm_give"))
		return ((int (*)(int *, uint64_t, int, uint64_t))symbol(
			"cuMemExportToShareableHandle"))(&fd, 1, 1, 0);
	if (!strcmp(kind, "multicast"))
		return ((int (*)(uint64_t *, void *))symbol("cuMulticastCreate"))(&more, NULL);
	other = (int (*)(uint64_t *, size_t, unsigned int))symbol("cuMemAllocManaged");
	return other(&more, 1 << 20, 1);
}

int verb_shares(int n, char **words)
{
	int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))symbol("cuMemAlloc_v2");
	uint64_t at;
	int r = start_cuda();

	r = r ? r : alloc(&at, (size_t)100 << 20);
	r = r ? r : with(words[0], words[1], at);
	if (r) {
		printf("failed %d\n", r);
		return 1;
	}
	return until_eof();
}

int verb_memory(int n, char **words)
{
	int (*alloc)(uint64_t *, size_t) = (int (*)(uint64_t *, size_t))symbol("cuMemAlloc_v2");
	uint32_t mib = number(n, words, 0), piece;
	uint64_t at;
	int r = start_cuda();

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
