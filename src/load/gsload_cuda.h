/* SPDX-License-Identifier: MIT */
/*
 * gsload_cuda.h - the part of the CUDA driver API that the load generator uses, by dlopen
 *
 * Declared here and not taken from cuda.h, so that it builds where no CUDA toolkit is. The same
 * binary runs over the system's libcuda.so.1 and over the stand-in of the simulated GPU.
 */
#ifndef GPUSCHED_LOAD_GSLOAD_CUDA_H
#define GPUSCHED_LOAD_GSLOAD_CUDA_H

#include <stddef.h>
#include <stdint.h>

typedef int cu_result;
typedef int cu_device;
typedef void *cu_handle;
typedef unsigned long long cu_address;

#define CU_SCHED_SPIN 0x01u
#define CU_MAP_HOST 0x08u
#define CU_STREAM_NON_BLOCKING 0x1u
#define CU_CAPTURE_THREAD_LOCAL 1
#define CU_EVENT_DISABLE_TIMING 0x2u
#define CU_HOST_DEVICEMAP 0x2u
#define CU_ATTRIBUTE_CLOCK_KHZ 13
#define CU_ATTRIBUTE_MULTIPROCESSORS 16

/* function, exported name, parameters */
#define GSLOAD_CUDA(X) \
	X(init, "cuInit", (unsigned int flags)) \
	X(device_count, "cuDeviceGetCount", (int *count)) \
	X(device_get, "cuDeviceGet", (cu_device * device, int ordinal)) \
	X(device_name, "cuDeviceGetName", (char *name, int size, cu_device device)) \
	X(device_attribute, "cuDeviceGetAttribute", (int *value, int what, cu_device device)) \
	X(context_create, "cuCtxCreate_v2", \
	  (cu_handle * context, unsigned int flags, cu_device device)) \
	X(context_destroy, "cuCtxDestroy_v2", (cu_handle context)) \
	X(context_current, "cuCtxSetCurrent", (cu_handle context)) \
	X(context_synchronize, "cuCtxSynchronize", (void)) \
	X(module_load, "cuModuleLoadData", (cu_handle * module, const void *image)) \
	X(module_function, "cuModuleGetFunction", \
	  (cu_handle * function, cu_handle module, const char *name)) \
	X(launch, "cuLaunchKernel", \
	  (cu_handle function, unsigned int gx, unsigned int gy, unsigned int gz, unsigned int bx, \
	   unsigned int by, unsigned int bz, unsigned int shared, cu_handle stream, \
	   void **parameters, void **extra)) \
	X(capture_begin, "cuStreamBeginCapture_v2", (cu_handle stream, int mode)) \
	X(capture_end, "cuStreamEndCapture", (cu_handle stream, cu_handle * graph)) \
	X(graph_instantiate, "cuGraphInstantiateWithFlags", \
	  (cu_handle * executable, cu_handle graph, unsigned long long flags)) \
	X(graph_launch, "cuGraphLaunch", (cu_handle executable, cu_handle stream)) \
	X(graph_exec_destroy, "cuGraphExecDestroy", (cu_handle executable)) \
	X(graph_destroy, "cuGraphDestroy", (cu_handle graph)) \
	X(stream_create, "cuStreamCreate", (cu_handle * stream, unsigned int flags)) \
	X(stream_synchronize, "cuStreamSynchronize", (cu_handle stream)) \
	X(event_create, "cuEventCreate", (cu_handle * event, unsigned int flags)) \
	X(event_record, "cuEventRecord", (cu_handle event, cu_handle stream)) \
	X(event_synchronize, "cuEventSynchronize", (cu_handle event)) \
	X(event_destroy, "cuEventDestroy_v2", (cu_handle event)) \
	X(copy_to_gpu, "cuMemcpyHtoDAsync_v2", \
	  (cu_address to, const void *from, size_t size, cu_handle stream)) \
	X(memory_alloc, "cuMemAlloc_v2", (cu_address * address, size_t size)) \
	X(host_alloc, "cuMemHostAlloc", (void **memory, size_t size, unsigned int flags)) \
	X(host_address, "cuMemHostGetDevicePointer_v2", \
	  (cu_address * address, void *memory, unsigned int flags)) \
	X(error_name, "cuGetErrorName", (cu_result error, const char **name))

struct gsload_cuda {
#define X(field, name, parameters) cu_result(*field) parameters;
	GSLOAD_CUDA(X)
#undef X
	cu_handle context, function, hold, stream, hold_stream;
	cu_address out;
	char name[96];
	int multiprocessors, clock_khz;
};

/* Loads libcuda, makes @contexts contexts on GPU @ordinal and loads the kernels into the first,
 * which is then current. 0, or -1 after one line on stderr. */
int gsload_cuda_open(struct gsload_cuda *c, int ordinal, unsigned int contexts);
/* What gs_stream needs besides: its kernel and @bytes of memory. */
void gsload_cuda_stream(struct gsload_cuda *c, size_t bytes, cu_handle *ret_function,
			cu_address *ret_at);
/* Ends the program with one line when a call failed. */
void gsload_check(const struct gsload_cuda *c, cu_result r, const char *what);

#endif /* GPUSCHED_LOAD_GSLOAD_CUDA_H */
