// SPDX-License-Identifier: MIT
//
// harm.cu - programs that wait for something else than their own kernels, for harm.sh
//
//   harm-work fault SECONDS         kernels on managed memory that the CPU touches in between: each faults
//   harm-work export FILE SECONDS   keeps 64 MiB and writes its IPC handle to FILE
//   harm-work import FILE SECONDS   maps that memory
//   harm-work pair host|spin A B SECONDS
//       two processes, each with 2 ms of work a step. host: they take turns through the FIFOs A (read) and B
//       (written). spin: the kernel ends when the peer's kernel of that step has ended; A is a file that both map,
//       B is 0 or 1
//   harm-work stay MS SECONDS       kernels of one wave of blocks that each stay MS
//
// Prints "ready", then "progress SECONDS STEPS" every 100 ms, and one JSON object at the end, with the last CUDA error.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static double now_s()
{
	using namespace std::chrono;
	return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static long steps;
static double begun, told, longest, last;

static void finish(cudaError_t err, const char *what)
{
	printf("{\"steps\":%ld,\"seconds\":%.3f,\"per_s\":%.3f,\"longest_ms\":%.1f,\"error\":\"%s\",\"at\":\"%s\"}\n", steps,
	       now_s() - begun, steps / (now_s() - begun), longest * 1e3, err ? cudaGetErrorName(err) : "none", what);
	fflush(stdout);
	_exit(err ? 1 : 0);
}

static void check(cudaError_t err, const char *what)
{
	if (err != cudaSuccess)
		finish(err, what);
}

static void step()
{
	double now = now_s();

	steps++;
	if (last && now - last > longest)
		longest = now - last;
	last = now;
	if (now - told > 0.1) {
		told = now;
		printf("progress %.3f %ld\n", now - begun, steps);
		fflush(stdout);
	}
}

__global__ void stay(long clocks)
{
	long long end = clock64() + clocks;

	while (clock64() < end)
		;
}

__global__ void touch(char *p, size_t bytes)
{
	size_t at = (blockIdx.x * (size_t)blockDim.x + threadIdx.x) * 4096;

	if (at < bytes)
		p[at]++;
}

// Ends when the peer has come as far: flags[me] counts this side's kernels.
__global__ void meet(volatile int *flags, int me, int n, long clocks)
{
	long long end = clock64() + clocks;

	while (clock64() < end)
		;
	__syncthreads();
	if (threadIdx.x || blockIdx.x)
		return;
	flags[me] = n;
	__threadfence_system();
	while (flags[!me] < n)
		;
}

static void fault(double seconds)
{
	size_t bytes = 64 << 20;
	char *p;

	check(cudaMallocManaged(&p, bytes), "cudaMallocManaged");
	while (now_s() - begun < seconds) {
		for (size_t i = 0; i < bytes; i += 4096)
			p[i]++;
		touch<<<(unsigned)(bytes / 4096 / 256), 256>>>(p, bytes);
		check(cudaDeviceSynchronize(), "fault");
		step();
	}
}

static void keep(double seconds)
{
	while (now_s() - begun < seconds) {
		stay<<<1, 32>>>(1000000);
		check(cudaDeviceSynchronize(), "keep");
		step();
		usleep(20000);
	}
}

static void share(bool exports, const char *file, double seconds)
{
	cudaIpcMemHandle_t h;
	void *p;
	FILE *f = fopen(file, exports ? "w" : "r");

	if (exports) {
		check(cudaMalloc(&p, 64 << 20), "cudaMalloc");
		check(cudaIpcGetMemHandle(&h, p), "cudaIpcGetMemHandle");
		if (!f || fwrite(&h, sizeof(h), 1, f) != 1 || fclose(f))
			finish(cudaErrorUnknown, file);
	} else {
		if (!f || fread(&h, sizeof(h), 1, f) != 1)
			finish(cudaErrorUnknown, file);
		check(cudaIpcOpenMemHandle(&p, h, cudaIpcMemLazyEnablePeerAccess), "cudaIpcOpenMemHandle");
	}
	keep(seconds);
}

static void pair_host(const char *in, const char *out, double seconds, int khz)
{
	bool first = strcmp(in, out) < 0;
	int r = open(in, O_RDWR), w = open(out, O_RDWR);
	char c = 0;

	while (now_s() - begun < seconds) {
		if (!(first && !steps) && read(r, &c, 1) != 1)
			break;
		stay<<<132, 256>>>(2L * khz);
		check(cudaDeviceSynchronize(), "pair");
		step();
		if (write(w, &c, 1) != 1)
			break;
	}
}

static void pair_spin(const char *file, int me, double seconds, int khz)
{
	int fd = open(file, O_RDWR | O_CREAT, 0600), *flags, n = 0;

	if (fd < 0 || ftruncate(fd, 4096))
		finish(cudaErrorUnknown, file);
	flags = (int *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	check(cudaHostRegister(flags, 4096, cudaHostRegisterMapped), "cudaHostRegister");
	flags[2 + me] = 1;
	while (!((volatile int *)flags)[3 - me])
		usleep(1000);
	begun = now_s();
	while (now_s() - begun < seconds && !((volatile int *)flags)[4]) {
		meet<<<1, 32>>>(flags, me, ++n, 2L * khz);
		check(cudaDeviceSynchronize(), "meet");
		step();
	}
	((volatile int *)flags)[4] = 1;
	((volatile int *)flags)[me] = 1 << 30;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	double seconds = argc > 2 ? atof(argv[argc - 1]) : 0;
	int khz = 0;

	begun = now_s();
	check(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync), "flags");
	check(cudaFree(0), "context");
	check(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0), "clock");
	puts("ready");
	fflush(stdout);
	begun = now_s();
	if (!strcmp(mode, "fault"))
		fault(seconds);
	else if (!strcmp(mode, "export") || !strcmp(mode, "import"))
		share(mode[0] == 'e', argv[2], seconds);
	else if (!strcmp(mode, "pair") && argc == 6 && !strcmp(argv[2], "host"))
		pair_host(argv[3], argv[4], seconds, khz);
	else if (!strcmp(mode, "pair") && argc == 6)
		pair_spin(argv[3], atoi(argv[4]), seconds, khz);
	else if (!strcmp(mode, "stay") && argc == 4)
		while (now_s() - begun < seconds) {
			stay<<<132 * 8, 256>>>((long)(atof(argv[2]) * khz));
			check(cudaDeviceSynchronize(), "stay");
			step();
		}
	else
		return 2;
	finish(cudaSuccess, "end");
}
