// SPDX-License-Identifier: MIT
/*
 * memorycost.c - measure the time of asking the driver which processes hold a GPU's memory
 *
 *   memorycost [GPU [N]]: makes N readings (100) as the daemon does; prints the times and the
 *   driver's answer as one JSON object
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "basic/cleanup.h"
#include "rm/memory.h"

static int ascending(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void print(const struct gs_rm_memory *m, const uint64_t *ns, size_t n)
{
	const uint64_t p50 = ns[n / 2], max = ns[n - 1];

	printf("{\"readings\":%zu,\"p50_us\":%.1f,\"max_us\":%.1f,\"total_bytes\":%" PRIu64
	       ",\"heap_bytes\":%" PRIu64 ",\"free_bytes\":%" PRIu64 ",\"held\":[",
	       n, (double)p50 / 1e3, (double)max / 1e3, m->total_bytes, m->heap_bytes,
	       m->free_bytes);
	for (size_t i = 0; i < m->n; i++)
		printf("%s{\"pid\":%u,\"own_bytes\":%" PRIu64 ",\"shared_bytes\":%" PRIu64 "}",
		       i ? "," : "", m->held[i].pid, m->held[i].own_bytes, m->held[i].shared_bytes);
	puts("]}");
}

int main(int argc, char **argv)
{
	size_t n = argc > 2 ? strtoul(argv[2], NULL, 10) : 100, ngpus = 0;
	CLEANUP_FREE uint64_t *ns = calloc(n + 1, sizeof(*ns));
	CLEANUP_FREE struct gs_gpu *gpus = NULL;
	struct gs_rm_memory m = { 0 };
	const struct gs_gpu *gpu = NULL;
	struct gs_error err = { 0 };
	unsigned int branch = 0;
	int r = n && ns ? gs_rm_driver(&branch, NULL, 0, &err) : -1;

	if (!r)
		r = gs_gpus_read(&gpus, &ngpus, &err);
	if (!r)
		gpu = gs_gpu_find(gpus, ngpus, argc > 1 ? argv[1] : "0");
	for (size_t i = 0; !r && gpu && i < n; i++) {
		gs_rm_memory_done(&m);
		r = gs_rm_memory_read(gpu, branch, &m, &err);
		ns[i] = m.spent_ns;
	}
	if (r || !gpu) {
		fprintf(stderr, "memorycost: %s\n", r ? err.text : "there is no such GPU");
		return 1;
	}
	qsort(ns, n, sizeof(*ns), ascending);
	print(&m, ns, n);
	gs_rm_memory_done(&m);
	return 0;
}
