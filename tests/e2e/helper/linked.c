// SPDX-License-Identifier: MIT
/*
 * linked.c - links with the agent and libcuda, calls launch functions, then waits for stdin
 */
#include <stdio.h>
#include <unistd.h>

int cuInit(unsigned int flags);
int cuCtxCreate_v2(void **ret, unsigned int flags, int device);
int cuLaunchKernel(void *f, unsigned int x, unsigned int y, unsigned int z, unsigned int bx,
		   unsigned int by, unsigned int bz, unsigned int shared, void *stream, void **p,
		   void **extra);
int cuGraphLaunch(void *graph, void *stream);

int main(void)
{
	void *context;
	char c;

	if (cuInit(0) || cuCtxCreate_v2(&context, 0, 0))
		return 1;
	for (int i = 0; i < 5; i++)
		cuLaunchKernel(NULL, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
	cuGraphLaunch(NULL, NULL);
	puts("calls 6");
	fflush(stdout);
	return read(0, &c, 1) < 0;
}
