/* SPDX-License-Identifier: MIT */
/*
 * switches.c - sums up the time of each context on GPU 0 from the GPU's own context-switch log
 *
 * Prints "ready", reads until SIGTERM, then prints one JSON object. switch_log.h says on which
 * drivers that works.
 */
#include <signal.h>

#include "../../unit/switch_log.h"
#include "helper.h"

static volatile sig_atomic_t stop;

static struct {
	uint32_t pid, context;
	uint64_t turns, ns, since;
} sums[64];
static size_t nsums;
static uint64_t disorder;

static void account(const struct sl_record *r)
{
	static uint64_t last;
	size_t i = 0;

	disorder += r->ns < last;
	last = r->ns;
	while (i < nsums && (sums[i].pid != r->pid || sums[i].context != r->context))
		i++;
	if (i == sizeof(sums) / sizeof(sums[0]))
		return;
	if (i == nsums) {
		sums[nsums].pid = r->pid;
		sums[nsums++].context = r->context;
	}
	if (r->tag == SL_START) {
		sums[i].since = r->ns;
	} else if (r->tag == SL_END && sums[i].since) {
		sums[i].ns += r->ns - sums[i].since;
		sums[i].turns++;
		sums[i].since = 0;
	}
}

static void on_signal(int sig)
{
	(void)sig;
	stop = 1;
}

int verb_switches(int nwords, char **words)
{
	struct sigaction on_term = { .sa_handler = on_signal };
	uint64_t at[2] = { 0 }, gpu[2];
	struct switch_log log;

	sigaction(SIGTERM, &on_term, NULL);
	sl_open(&log);
	gpu[0] = sl_gpu_time(&log, &at[0]);
	say("ready");
	while (!stop) {
		sl_read(&log, account);
		usleep(20000);
	}
	gpu[1] = sl_gpu_time(&log, &at[1]);
	sl_read(&log, account);
	printf("{\"memfd\":%s,\"records\":%llu,\"lost\":%llu,\"disorder\":%llu,\"clock\":%.6f,"
	       "\"contexts\":[",
	       log.memfd ? "true" : "false", (unsigned long long)log.total,
	       (unsigned long long)log.lost, (unsigned long long)disorder,
	       (double)(gpu[1] - gpu[0]) / (double)(at[1] - at[0]));
	for (size_t i = 0; i < nsums; i++)
		printf("%s{\"pid\":%u,\"context\":%u,\"turns\":%llu,\"gpu_ns\":%llu}", i ? "," : "",
		       sums[i].pid, sums[i].context, (unsigned long long)sums[i].turns,
		       (unsigned long long)sums[i].ns);
	puts("]}");
	return 0;
}
