// SPDX-License-Identifier: MIT
/*
 * bad_access.c - write to an invalid address on the GPU, after SECONDS (0) of rest
 *
 *   bad_access [SECONDS]      prints the driver's error; exit status 1, or 0 if there was no error
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "load/gsload_cuda.h"

static const char ptx[] = "// gpusched-sim: gs_bad bad\n"
			  ".version 6.0\n"
			  ".target sm_50\n"
			  ".address_size 64\n"
			  ".visible .entry gs_bad(.param .u64 unused)\n"
			  "{\n"
			  "	.reg .u64 %at;\n"
			  "	mov.u64 %at, 16;\n"
			  "	st.global.u64 [%at], %at;\n"
			  "	ret;\n"
			  "}\n";

int main(int argc, char **argv)
{
	struct gsload_cuda c = { 0 };
	cu_handle module, function;
	const char *name = "";
	uint64_t unused = 0;
	void *params[] = { &unused };
	cu_result r;

	if (gsload_cuda_open(&c, 0, 1))
		return 2;
	gsload_check(&c, c.module_load(&module, ptx), "loading the kernel");
	gsload_check(&c, c.module_function(&function, module, "gs_bad"), "finding the kernel");
	printf("{\"ready\":true}\n");
	fflush(stdout);
	usleep((useconds_t)(argc > 1 ? atof(argv[1]) * 1e6 : 0));
	gsload_check(&c, c.launch(function, 1, 1, 1, 1, 1, 1, 0, c.stream, params, NULL),
		     "launching");
	r = c.context_synchronize();
	if (c.error_name)
		c.error_name(r, &name);
	printf("{\"error\":%d,\"name\":\"%s\"}\n", r, name ? name : "");
	return r ? 1 : 0;
}
