/* SPDX-License-Identifier: MIT */
/*
 * turns.c - make latency-critical requests, and record their times and the GPU's own log of turns
 *
 *   turns ITERATIONS-PER-US TRACE
 *
 * Prints "ready", then does what each line of stdin asks for and answers "done LABEL":
 *
 *   LABEL MODE KERNEL-US KERNELS LAUNCH-GAP-US DWELL-US GAP-US REQUESTS
 *
 *   idle     no requests: records the log for as long as the gaps between the requests would take
 *   sync     KERNELS kernels, each LAUNCH-GAP after the one before, and a wait for them
 *   none     as sync, with DWELL on the CPU before the wait
 *   event    as none, with an event behind the kernels
 *   pair     a wait after each kernel
 *   hold     a kernel that waits for a flag; after DWELL, a kernel behind it; then sets the flag
 *   holdev   as hold, with an event behind the first kernel
 *   hold2    as hold, with a small kernel behind the first one
 *
 * TRACE gets "P PID"; for each line of stdin, "C" with its words and one moment in GPU time and in
 * CLOCK_MONOTONIC; for each request, "R BEGIN DECIDED END" (ns, CLOCK_MONOTONIC), where DECIDED is
 * the time before the wait or of setting the flag; and the log's records as "GPU-NS PID CONTEXT
 * TAG" (6 START, 7 END); and at its end "E records N lost N".
 */
#include <string.h>

#include "../../tests/unit/switch_log.h"
#include "load/gsload_cuda.h"

struct line {
	char label[64], mode[16];
	double kernel_us, launch_gap_us, dwell_us, gap_us;
	int kernels, requests;
};

static struct gsload_cuda c;
static struct switch_log slog;
static FILE *trace;
static double iterations_per_us;
static volatile uint32_t *flag;
static cu_address flag_at;
static cu_handle event;

static void keep(const struct sl_record *r)
{
	fprintf(trace, "%llu %u %u %u\n", (unsigned long long)r->ns, r->pid, r->context, r->tag);
}

static bool is(const struct line *l, const char *mode)
{
	return !strcmp(l->mode, mode);
}

static void launch(double us)
{
	uint32_t n = (uint32_t)(us * iterations_per_us);
	void *p[] = { &c.out, &n };

	gsload_check(&c,
		     c.launch(c.function, (unsigned int)c.multiprocessors * 8, 1, 1, 256, 1, 1, 0,
			      c.stream, p, NULL),
		     "a launch");
}

static void record_event(void)
{
	gsload_check(&c, c.event_record(event, c.stream), "recording an event");
}

static void wait_for_all(void)
{
	gsload_check(&c, c.stream_synchronize(c.stream), "waiting");
}

/* The kernel waits for the flag for 10 ms at most, so that it ends even if the flag is not set. */
static void launch_hold(bool behind)
{
	uint64_t clocks = (uint64_t)c.clock_khz * 10;
	uint32_t one = 1;
	void *wait[] = { &flag_at, &clocks }, *small[] = { &c.out, &one };

	*flag = 0;
	gsload_check(&c, c.launch(c.hold, 1, 1, 1, 1, 1, 1, 0, c.stream, wait, NULL), "a hold");
	if (behind)
		gsload_check(&c, c.launch(c.function, 1, 1, 1, 32, 1, 1, 0, c.stream, small, NULL),
			     "what holds");
}

static void spin_until(uint64_t ns)
{
	while (sl_now() < ns)
		;
}

static uint64_t us(double x)
{
	return (uint64_t)(x * 1e3);
}

/* Makes a request with a hold. Returns the time at which the flag was set. */
static uint64_t hold_request(const struct line *l)
{
	uint64_t decided;

	launch_hold(is(l, "hold2"));
	if (is(l, "holdev"))
		record_event();
	spin_until(sl_now() + us(l->dwell_us));
	if (l->kernel_us > 0)
		launch(l->kernel_us);
	decided = sl_now();
	*flag = 1;
	return decided;
}

/*
 * Makes a request of kernels. Returns the time at which all were launched and the dwell was over.
 */
static uint64_t kernels_request(const struct line *l)
{
	for (int i = 0; i < l->kernels; i++) {
		uint64_t next = sl_now() + us(l->launch_gap_us);

		launch(l->kernel_us);
		if (i + 1 == l->kernels)
			break;
		if (is(l, "pair"))
			wait_for_all();
		else
			spin_until(next);
	}
	if (is(l, "event"))
		record_event();
	if (is(l, "none") || is(l, "event"))
		spin_until(sl_now() + us(l->dwell_us));
	return sl_now();
}

static void run(const struct line *l)
{
	static uint64_t rng = 12345;
	uint64_t at = 0, gpu = sl_gpu_time(&slog, &at);

	fprintf(trace, "C %s %s %g %d %g %g %g %d %llu %llu\n", l->label, l->mode, l->kernel_us,
		l->kernels, l->launch_gap_us, l->dwell_us, l->gap_us, l->requests,
		(unsigned long long)gpu, (unsigned long long)at);
	for (int i = 0; i < l->requests; i++) {
		uint64_t begin, decided, end;

		rng = rng * 6364136223846793005ull + 1442695040888963407ull;
		usleep((useconds_t)(l->gap_us * (0.5 + (double)(rng >> 33) / 2147483648.0)));
		sl_read(&slog, keep);
		if (is(l, "idle"))
			continue;
		begin = sl_now();
		decided = strncmp(l->mode, "hold", 4) ? kernels_request(l) : hold_request(l);
		wait_for_all();
		end = sl_now();
		fprintf(trace, "R %llu %llu %llu\n", (unsigned long long)begin,
			(unsigned long long)decided, (unsigned long long)end);
	}
	usleep(5000); /* until the log has the end of the last turn */
	sl_read(&slog, keep);
}

static int prepare(char **argv)
{
	void *memory;

	iterations_per_us = strtod(argv[1], NULL);
	trace = fopen(argv[2], "a");
	if (iterations_per_us <= 0 || !trace) {
		fprintf(stderr, "turns: %s: not opened, or %s is no rate\n", argv[2], argv[1]);
		return -1;
	}
	if (gsload_cuda_open(&c, 0, 1) < 0)
		return -1;
	gsload_check(&c, c.host_alloc(&memory, 4096, CU_HOST_DEVICEMAP), "host memory");
	gsload_check(&c, c.host_address(&flag_at, memory, 0), "its address");
	flag = memory;
	gsload_check(&c, c.event_create(&event, CU_EVENT_DISABLE_TIMING), "an event");
	launch(1);
	launch_hold(false);
	*flag = 1;
	wait_for_all();
	sl_open(&slog);
	return 0;
}

int main(int argc, char **argv)
{
	char text[256];
	struct line l;

	if (argc != 3) {
		fprintf(stderr, "usage: turns ITERATIONS-PER-US TRACE\n");
		return 2;
	}
	if (prepare(argv) < 0)
		return 1;
	fprintf(trace, "P %d\n", (int)getpid());
	puts("ready");
	fflush(stdout);
	while (fgets(text, sizeof(text), stdin)) {
		if (sscanf(text, "%63s %15s %lf %d %lf %lf %lf %d", l.label, l.mode, &l.kernel_us,
			   &l.kernels, &l.launch_gap_us, &l.dwell_us, &l.gap_us, &l.requests) != 8)
			continue;
		run(&l);
		printf("done %s\n", l.label);
		fflush(stdout);
	}
	fprintf(trace, "E records %llu lost %llu\n", (unsigned long long)slog.total,
		(unsigned long long)slog.lost);
	return fclose(trace) ? 1 : 0;
}
