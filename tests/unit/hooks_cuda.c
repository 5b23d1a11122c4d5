// SPDX-License-Identifier: MIT
/* hooks_cuda.c - stand in for libcuda in test_hooks.c, and store the arguments of calls */
#include <stdint.h>

#define API __attribute__((visibility("default")))

API uint64_t hooks_given[11];
API int hooks_calls;

int cuInit(unsigned int flags);
int cuLaunchKernel(uint64_t f, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx,
		   unsigned int by, unsigned int bz, unsigned int shared, uint64_t stream,
		   uint64_t params, uint64_t extra);

API int cuInit(unsigned int flags)
{
	return 100; /* an error, so that the agent does not start */
}

API int cuLaunchKernel(uint64_t f, unsigned int gx, unsigned int gy, unsigned int gz,
		       unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,
		       uint64_t stream, uint64_t params, uint64_t extra)
{
	const uint64_t given[11] = { f, gx, gy, gz, bx, by, bz, shared, stream, params, extra };

	for (int i = 0; i < 11; i++)
		hooks_given[i] = given[i];
	return 40 + ++hooks_calls;
}
