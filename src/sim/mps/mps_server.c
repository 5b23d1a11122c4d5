// SPDX-License-Identifier: MIT
/*
 * mps_server.c - stands in for nvidia-cuda-mps-server
 *
 * Its code is in the stand-in libcuda, which can make channels.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FREED_LATE_MIB 256 /* it takes some 40 ms to free this much */

/*
 * Makes the process end some time after its exit, as with the real server. There, the kernel frees
 * GPU contexts with the last files, which takes tenths of a second. Here it frees the pages of a
 * file: $GPUSCHED_SIM_MPS_FREED MiB.
 */
static void end_late(void)
{
	const char *text = getenv("GPUSCHED_SIM_MPS_FREED");
	int fd = memfd_create("contexts", 0);

	if (fd < 0 || fallocate(fd, 0, 0, (text ? atol(text) : FREED_LATE_MIB) << 20))
		fprintf(stderr, "nvidia-cuda-mps-server: it will end at once\n");
}

int main(void)
{
	const char *dir = getenv("CUDA_MPS_PIPE_DIRECTORY");
	void *lib = dlopen("libcuda.so.1", RTLD_NOW);
	int (*init)(unsigned int flags) = NULL;
	int (*serve)(const char *dir) = NULL;
	char *at = dir ? realpath(dir, NULL) : NULL;

	if (lib) {
		*(void **)&init = dlsym(lib, "cuInit");
		*(void **)&serve = dlsym(lib, "cuSimMpsServe");
	}
	if (!at || !init || !serve) {
		fprintf(stderr,
			"nvidia-cuda-mps-server: no pipe directory, or no simulated libcuda\n");
		return 1;
	}
	/* the server itself must not become an MPS client */
	setenv("CUDA_MPS_PIPE_DIRECTORY", "/nowhere", 1);
	end_late();
	return init(0) ? 1 : serve(at);
}
