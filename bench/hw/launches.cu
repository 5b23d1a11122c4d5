// SPDX-License-Identifier: MIT
//
// launches.cu - launch by CUDA's runtime API, and count the launches exactly
//
//   launches [N]
//
// A thread per GPU launches N times in each of the runtime's ways: <<<>>>, cudaLaunchKernelExC, the cooperative
// form, the per-thread default stream, and graphs of ten kernels, which count as one launch. Prints "ready" when
// all contexts exist, waits for a line on stdin, launches, prints {"device":D,"launches":N} per GPU, and
// waits for the end of stdin.
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

static void check(cudaError_t err, const char *what)
{
	if (err == cudaSuccess)
		return;
	fprintf(stderr, "launches: %s: %s\n", what, cudaGetErrorString(err));
	exit(1);
}

__global__ void nothing(int *out)
{
	if (out)
		*out = 1;
}

static unsigned long one_gpu(int device, unsigned long n)
{
	int *none = nullptr;
	void *args[] = { &none };
	cudaLaunchConfig_t config = {};
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	unsigned long launches = 0;

	check(cudaSetDevice(device), "cudaSetDevice");
	check(cudaStreamCreate(&stream), "cudaStreamCreate");
	config.gridDim = dim3(1);
	config.blockDim = dim3(32);
	config.stream = stream;
	for (unsigned long i = 0; i < n; i++) {
		nothing<<<1, 32>>>(none);
		nothing<<<1, 32, 0, stream>>>(none);
		nothing<<<1, 32, 0, cudaStreamPerThread>>>(none);
		check(cudaLaunchKernelExC(&config, (const void *)nothing, args), "cudaLaunchKernelExC");
		check(cudaLaunchCooperativeKernel((const void *)nothing, dim3(1), dim3(32), args, 0, stream),
		      "cudaLaunchCooperativeKernel");
		launches += 5;
	}
	check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "capture");
	for (int i = 0; i < 10; i++) // gpusched counts these calls, though they are captured and not launched
		nothing<<<1, 32, 0, stream>>>(none);
	check(cudaStreamEndCapture(stream, &graph), "capture's end");
	launches += 10;
	check(cudaGraphInstantiateWithFlags(&exec, graph, 0), "cudaGraphInstantiate");
	for (unsigned long i = 0; i < n; i++) {
		check(cudaGraphLaunch(exec, stream), "cudaGraphLaunch");
		launches++;
	}
	check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	check(cudaGetLastError(), "a kernel");
	return launches;
}

int main(int argc, char **argv)
{
	unsigned long n = argc > 1 ? strtoul(argv[1], nullptr, 10) : 1000;
	std::vector<unsigned long> done;
	std::vector<std::thread> threads;
	int gpus = 0;
	char line[64];

	check(cudaGetDeviceCount(&gpus), "cudaGetDeviceCount");
	done.resize(gpus);
	for (int d = 0; d < gpus; d++) {
		check(cudaSetDevice(d), "cudaSetDevice");
		check(cudaFree(nullptr), "making a context");
	}
	printf("ready\n");
	fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 0;
	for (int d = 0; d < gpus; d++)
		threads.emplace_back([d, n, &done] { done[d] = one_gpu(d, n); });
	for (auto &t : threads)
		t.join();
	for (int d = 0; d < gpus; d++)
		printf("{\"device\":%d,\"launches\":%lu}\n", d, done[d]);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin))
		;
	return 0;
}
