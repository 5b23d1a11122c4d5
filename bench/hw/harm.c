// SPDX-License-Identifier: MIT
/*
 * harm.c - make single RM calls on the compute TSGs of a process, and time them
 *
 *   harm PID TRACE
 *
 * `gpusched observe on` must have filled the table. Does what each line of stdin asks for, with one
 * call per TSG, and prints a line of JSON for each call:
 *
 *   leave        DISABLE_CHANNELS with bOnlyDisableScheduling: does not wait for what runs
 *   suspend      DISABLE_CHANNELS as gpusched makes it: preempts, and waits
 *   resume       enables the channels
 *   slice US     sets the timeslice
 *   mode N       sets the preemption mode: 0 WFI, 1 CTA, 2 CILP
 *   get          reads the timeslice back
 *   sleep MS     makes no call
 *   label WORD   names the calls that follow
 *
 * TRACE gets "C MONOTONIC-NS GPU-NS" twice, and the log's records of GPU 0 as "GPU-NS PID CONTEXT
 * TAG" (6 START, 7 END). At the end of stdin all TSGs are resumed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "../../tests/unit/switch_log.h"
#include "basic/cleanup.h"
#include "basic/clock.h"
#include "engine/fields.h"
#include "rm/abi.h"
#include "rm/way.h"
#include "table/table.h"

#define TSGS 64

static struct gs_rm_tsg tsgs[TSGS];
static size_t ntsgs;
static struct switch_log slog;
static FILE *trace;
static char label[64] = "-";
static volatile bool stop;

static void keep(const struct sl_record *r)
{
	fprintf(trace, "%llu %u %u %u\n", (unsigned long long)r->ns, r->pid, r->context, r->tag);
}

static void *follow(void *arg)
{
	while (!stop) {
		sl_read(&slog, keep);
		gs_sleep_ns(2 * NS_PER_MS);
	}
	return NULL;
}

static void anchor(void)
{
	uint64_t at = 0, gpu = sl_gpu_time(&slog, &at);

	fprintf(trace, "C %llu %llu\n", (unsigned long long)at, (unsigned long long)gpu);
}

static int find_tsgs(pid_t pid)
{
	CLEANUP_FREE struct gpusched_tsg *all = NULL;
	struct gs_error err = { 0 };
	struct gs_table *t = NULL;
	size_t n = 0;
	unsigned int branch = 0;
	char version[32];

	if (gs_table_open(&t, &err) || gs_table_all(t, &all, &n)) {
		fprintf(stderr, "harm: %s\n", err.text);
		return -1;
	}
	gs_rm_driver(&branch, version, sizeof(version), &err);
	for (size_t i = 0; i < n && ntsgs < TSGS; i++) {
		struct gpusched_channels ch;

		if (all[i].task.pid != (gs_u32)pid || all[i].task.kind != GPUSCHED_KIND_COMPUTE ||
		    !all[i].nchannels)
			continue;
		gs_fields_fill_tsg(&tsgs[ntsgs], &all[i], branch);
		tsgs[ntsgs].wait = NULL;
		if (!gs_table_channels(t, &all[i].key, &ch))
			gs_fields_fill_channels(&tsgs[ntsgs], &ch);
		ntsgs++;
	}
	gs_table_close(t);
	return ntsgs ? 0 : -1;
}

/* A suspension that does not wait. */
static int leave(const struct gs_rm_tsg *t, uint32_t *ret_status, uint64_t *ret_ns)
{
	struct nv_disable_channels d = { .disable = 1, .only_scheduling = 1, .n = t->nchannels };
	struct gs_error err = { 0 };
	CLEANUP_FD int fd = -1;
	uint64_t begun;
	int r = gs_rm_borrow(t->pid, t->uid, t->start_ns, t->fd, &fd, &err);

	if (r)
		return r;
	for (unsigned int i = 0; i < d.n && i < NV_DISABLE_MAX; i++) {
		d.clients[i] = t->client;
		d.channels[i] = t->channels[i].handle;
	}
	begun = gs_now_ns();
	r = gs_rm_call_control(fd, t->client, t->subdevice, NV_CMD_DISABLE_CHANNELS, &d, sizeof(d),
			       ret_status);
	*ret_ns = gs_now_ns() - begun;
	return r;
}

/* A preemption that does not wait. */
static int kick(const struct gs_rm_tsg *t, uint32_t *ret_status, uint64_t *ret_ns)
{
	struct nv_preempt p = { 0 };
	struct gs_error err = { 0 };
	CLEANUP_FD int fd = -1;
	uint64_t begun;
	int r = gs_rm_borrow(t->pid, t->uid, t->start_ns, t->fd, &fd, &err);

	if (r)
		return r;
	begun = gs_now_ns();
	r = gs_rm_call_control(fd, t->client, t->tsg, NV_CMD_PREEMPT, &p, sizeof(p), ret_status);
	*ret_ns = gs_now_ns() - begun;
	return r;
}

static void say(const char *word, size_t i, uint64_t at, int r, uint32_t status, uint64_t ns,
		uint32_t value)
{
	printf("{\"label\":\"%s\",\"word\":\"%s\",\"tsg\":%zu,\"at_ns\":%llu,\"err\":%d,"
	       "\"status\":%u,\"us\":%.1f,\"value\":%u}\n",
	       label, word, i, (unsigned long long)at, r, status, (double)ns / 1e3, value);
	fflush(stdout);
}

static void each(const char *word, enum gs_rm_op op, uint32_t arg)
{
	for (size_t i = 0; i < ntsgs; i++) {
		struct gs_rm_step step = { .op = op, .arg = arg };
		uint64_t at = gs_now_ns(), ns = 0;
		uint32_t status = 0;

		if (!strcmp(word, "leave") || !strcmp(word, "kick")) {
			int r = *word == 'l' ? leave(&tsgs[i], &status, &ns)
					     : kick(&tsgs[i], &status, &ns);

			say(word, i, at, r, status, ns, 0);
			continue;
		}
		gs_way_borrow.take(&tsgs[i], &step, 1);
		say(word, i, at, step.res.err, step.res.status, step.res.ns, step.res.value);
	}
}

static void obey(const char *word, const char *arg)
{
	unsigned int n = (unsigned int)atoi(arg);

	if (!strcmp(word, "sleep"))
		gs_sleep_ns(n * NS_PER_MS);
	else if (!strcmp(word, "label"))
		snprintf(label, sizeof(label), "%s", arg);
	else if (!strcmp(word, "leave") || !strcmp(word, "suspend"))
		each(word, GS_RM_SUSPEND, 0);
	else if (!strcmp(word, "kick"))
		each(word, GS_RM_PREEMPT, 0);
	else if (!strcmp(word, "resume"))
		each(word, GS_RM_RESUME, 0);
	else if (!strcmp(word, "slice"))
		each(word, GS_RM_SET_TIMESLICE, n);
	else if (!strcmp(word, "mode"))
		each(word, GS_RM_SET_PREEMPT_MODE, n);
	else if (!strcmp(word, "get"))
		each(word, GS_RM_GET_TIMESLICE, 0);
	else
		fprintf(stderr, "harm: unknown word %s\n", word);
}

int main(int argc, char **argv)
{
	char line[128], word[64], arg[64];
	pthread_t thread;

	if (argc != 3 || find_tsgs(atoi(argv[1]))) {
		fprintf(stderr, "usage: harm PID TRACE; the table must have compute TSGs of PID\n");
		return 1;
	}
	trace = fopen(argv[2], "w");
	if (!trace)
		return 1;
	sl_open(&slog);
	anchor();
	if (pthread_create(&thread, NULL, follow, NULL))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		arg[0] = '\0';
		if (sscanf(line, "%63s %63s", word, arg) >= 1)
			obey(word, arg);
	}
	each("resume", GS_RM_RESUME, 0);
	gs_sleep_ns(50 * NS_PER_MS);
	stop = true;
	pthread_join(thread, NULL);
	anchor();
	fclose(trace);
	return 0;
}
