// SPDX-License-Identifier: MIT
//
// work.cu - an ordinary CUDA runtime-API program that uses nothing of gpusched
//
//   work be [--seconds S] [--kernel-us N] [--mib M]
//       runs kernels of a fixed amount of work back to back, which fill the GPU. Prints a line
//       "progress SECONDS KERNELS" every 100 ms, and one JSON object at the end.
//   work lc [--seconds S] [--kernel-us N] [--kernels K] [--gap-ms G]
//       makes requests of K kernels of N us, with exponential gaps; latency counts from the intended
//       arrival.
//   work same
//       for same.py: prints its cases, then obeys lines of stdin. launch: the smallest kernels, so
//       that launches are the limit; kernel: kernels of some 20 us that fill the GPU
//
// The work of a kernel is a number of multiply-adds, calibrated at the start. A kernel that spins on
// a clock would instead count time in which it is preempted as work.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <sched.h>
#include <thread>
#include <vector>

static double now_s()
{
	using namespace std::chrono;
	return duration<double>(steady_clock::now().time_since_epoch()).count();
}

static void check(cudaError_t err, const char *what)
{
	if (err == cudaSuccess)
		return;
	fprintf(stderr, "work: %s: %s\n", what, cudaGetErrorString(err));
	exit(1);
}

__global__ void fma_loop(float *out, long rounds)
{
	float a = threadIdx.x * 1e-3f, b = 1.0001f, c = 0.5f;

	for (long i = 0; i < rounds; i++)
		a = fmaf(a, b, c);
	if (a == 12345.678f)
		*out = a;
}

struct options {
	double seconds = 5;
	double kernel_us = 1000;
	int kernels = 1;
	double gap_ms = 5;
	size_t mib = 0;
	int blocks = 0;
};

static long calibrate(float *out, int blocks, double want_us)
{
	long rounds = 20000;
	double us = 0;

	for (int pass = 0; pass < 4; pass++) {
		double best = 1e30;

		for (int i = 0; i < 5; i++) {
			double t = now_s();

			fma_loop<<<blocks, 256>>>(out, rounds);
			check(cudaDeviceSynchronize(), "calibrate");
			best = std::min(best, (now_s() - t) * 1e6);
		}
		us = std::max(best - 8.0, 1.0); // 8 us: the launch and the synchronisation
		rounds = std::max(1L, (long)(rounds * want_us / us));
	}
	return rounds;
}

static int run_be(const options &o, float *out, int blocks, long rounds)
{
	const int depth = 4;
	cudaEvent_t ev[depth];
	double begun = now_s(), told = begun;
	long done = 0, issued = 0;

	for (int i = 0; i < depth; i++)
		check(cudaEventCreateWithFlags(&ev[i], cudaEventDisableTiming), "event");
	while (now_s() - begun < o.seconds) {
		if (issued - done == depth) {
			check(cudaEventSynchronize(ev[done % depth]), "wait");
			done++;
		}
		fma_loop<<<blocks, 256>>>(out, rounds);
		check(cudaEventRecord(ev[issued % depth]), "record");
		issued++;
		if (now_s() - told >= 0.1) {
			told = now_s();
			printf("progress %.3f %ld\n", told - begun, done);
			fflush(stdout);
		}
	}
	check(cudaDeviceSynchronize(), "end");
	double took = now_s() - begun;

	printf("{\"kind\":\"be\",\"kernels\":%ld,\"seconds\":%.3f,\"rate\":%.2f}\n", issued, took,
	       issued / took);
	return 0;
}

static int run_lc(const options &o, float *out, long rounds)
{
	std::mt19937_64 rng(1);
	std::exponential_distribution<double> gap(1.0 / (o.gap_ms * 1e-3));
	std::vector<double> us;
	double begun = now_s(), next = begun;

	while (next - begun < o.seconds) {
		next += gap(rng);
		while (now_s() < next)
			if (next - now_s() > 200e-6)
				std::this_thread::sleep_for(std::chrono::microseconds(50));
		for (int k = 0; k < o.kernels; k++)
			fma_loop<<<132, 256>>>(out, rounds);
		check(cudaDeviceSynchronize(), "request");
		us.push_back((now_s() - next) * 1e6);
	}
	std::sort(us.begin(), us.end());
	auto q = [&](double p) { return us[std::min(us.size() - 1, (size_t)(p * us.size()))]; };

	printf("{\"kind\":\"lc\",\"requests\":%zu,\"p50_us\":%.1f,\"p99_us\":%.1f,\"max_us\":%.1f}\n",
	       us.size(), q(0.5), q(0.99), us.back());
	return 0;
}

/* ---- for same.py ------------------------------------------------------------------------------- */

__global__ void mix(unsigned *out, long rounds)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x, v = out[i] + i + 1;

	for (long r = 0; r < rounds; r++) {
		v ^= v << 13;
		v ^= v >> 17;
		v ^= v << 5;
	}
	out[i] = v;
}

static void mixes(unsigned *out, int blocks, long rounds, long n)
{
	for (long i = 0; i < n; i++)
		mix<<<blocks, 256>>>(out, rounds);
	check(cudaDeviceSynchronize(), "mix");
}

static void say_sum(unsigned *out, int blocks, long rounds)
{
	std::vector<unsigned> values((size_t)blocks * 256);
	unsigned long sum = 14695981039346656037ul;

	check(cudaMemset(out, 0, values.size() * sizeof(values[0])), "memory");
	mixes(out, blocks, rounds, 200);
	check(cudaMemcpy(values.data(), out, values.size() * sizeof(values[0]),
			 cudaMemcpyDeviceToHost),
	      "memory");
	for (unsigned v : values)
		sum = (sum ^ v) * 1099511628211ul;
	printf("{\"sum\":\"%016lx\"}\n", sum);
}

static int run_same(int multiprocessors)
{
	int many = multiprocessors * 8;
	char line[128], what[16], name[16];
	const char *cpu = getenv("SAME_CPU");
	unsigned *out;
	long warm, n;
	cpu_set_t set;

	check(cudaMalloc(&out, (size_t)many * 256 * sizeof(*out)), "malloc");
	check(cudaMemset(out, 0, (size_t)many * 256 * sizeof(*out)), "memory");
	mixes(out, many, 100, 1000);
	CPU_ZERO(&set);
	CPU_SET(cpu ? atoi(cpu) : 0, &set);
	if (cpu)
		sched_setaffinity(0, sizeof(set), &set);
	printf("{\"cases\":[\"launch\",\"kernel\"]}\n");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		int got = sscanf(line, "%15s %15s %ld %ld", what, name, &warm, &n);
		bool launch = !strcmp(name, "launch");
		int blocks = launch ? 1 : many;
		long rounds = launch ? 1 : 250;

		if (got == 4) {
			mixes(out, blocks, rounds, warm);
			double t = now_s();
			mixes(out, blocks, rounds, n);
			printf("{\"us\":%.4f}\n", (now_s() - t) * 1e6 / (double)n);
		} else {
			say_sum(out, blocks, rounds);
		}
		fflush(stdout);
	}
	return 0;
}

int main(int argc, char **argv)
{
	options o;
	float *out;

	if (argc < 2 || (strcmp(argv[1], "be") && strcmp(argv[1], "lc") && strcmp(argv[1], "same"))) {
		fprintf(stderr, "usage: work be|lc|same [--seconds S] [--kernel-us N] "
				"[--kernels K] [--gap-ms G] [--mib M]\n");
		return 2;
	}
	for (int i = 2; i + 1 < argc; i += 2) {
		double v = atof(argv[i + 1]);

		if (!strcmp(argv[i], "--seconds"))
			o.seconds = v;
		else if (!strcmp(argv[i], "--kernel-us"))
			o.kernel_us = v;
		else if (!strcmp(argv[i], "--kernels"))
			o.kernels = (int)v;
		else if (!strcmp(argv[i], "--gap-ms"))
			o.gap_ms = v;
		else if (!strcmp(argv[i], "--mib"))
			o.mib = (size_t)v;
	}
	check(cudaMalloc(&out, std::max(o.mib << 20, sizeof(*out))), "malloc");

	bool be = !strcmp(argv[1], "be");
	cudaDeviceProp prop;

	check(cudaGetDeviceProperties(&prop, 0), "properties");
	if (!strcmp(argv[1], "same"))
		return run_same(prop.multiProcessorCount);
	int blocks = be ? prop.multiProcessorCount * 8 : 132;
	long rounds = calibrate(out, blocks, o.kernel_us);

	printf("ready\n");
	fflush(stdout);
	return be ? run_be(o, out, blocks, rounds) : run_lc(o, out, rounds);
}
