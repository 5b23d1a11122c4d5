/* SPDX-License-Identifier: MIT */
/*
 * Inference beside training in one process, with a queue for each.
 *
 *	cc one_process.c -o one_process $(pkg-config --cflags --libs gpreempt) -pthread
 *	./one_process work.ptx
 */
#include <gpusched/gpreempt.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static char ptx[4096];
static volatile int ends;

static void check(int result)
{
	if (!result)
		return;
	fprintf(stderr, "%s\n", gpreempt_error());
	exit(1);
}

/* A kernel that fills a GPU for about @rounds / 30 us. */
static void launch(struct gpreempt_queue *q, void *work, unsigned int rounds)
{
	void *parameters[] = { &rounds };
	struct gpreempt_launch l = { 0 };

	l.size = sizeof(l);
	l.function = work;
	l.grid[0] = 1024;
	l.grid[1] = l.grid[2] = l.block[1] = l.block[2] = 1;
	l.block[0] = 256;
	l.parameters = parameters;
	check(gpreempt_launch_kernel(q, &l, 0));
}

static void *train(void *queue)
{
	void *work;

	check(gpreempt_load_kernel(queue, ptx, "work", &work));
	while (!ends)
		launch(queue, work, 60000); /* waits while there is inference */
	return NULL;
}

static void infer(struct gpreempt_queue *q)
{
	struct timespec pause = { 0, 10000000 }, from, to;
	void *work;

	check(gpreempt_load_kernel(q, ptx, "work", &work));
	for (int i = 0; i < 50; i++) {
		nanosleep(&pause, NULL);
		clock_gettime(CLOCK_MONOTONIC, &from);
		launch(q, work, 3000);
		check(gpreempt_synchronize(q));
		clock_gettime(CLOCK_MONOTONIC, &to);
		printf("request %d: %.0f us\n", i,
		       (double)(to.tv_sec - from.tv_sec) * 1e6 +
			       (double)(to.tv_nsec - from.tv_nsec) / 1e3);
	}
}

int main(int argc, char **argv)
{
	FILE *f = fopen(argc > 1 ? argv[1] : "work.ptx", "r");
	struct gpreempt_queue *high, *low;
	struct gpreempt *g;
	pthread_t trainer;

	if (!f || !fread(ptx, 1, sizeof(ptx) - 1, f))
		return 2;
	fclose(f);
	check(gpreempt_init(NULL, &g));
	check(gpreempt_create_queue(g, GPREEMPT_HIGH, NULL, &high));
	check(gpreempt_create_queue(g, GPREEMPT_LOW, NULL, &low));
	if (pthread_create(&trainer, NULL, train, low))
		return 1;
	infer(high);
	ends = 1;
	pthread_join(trainer, NULL);
	gpreempt_end(g);
	return 0;
}
