/* SPDX-License-Identifier: MIT */
/*
 * cuda.h - declares the part of the CUDA driver API that we use
 *
 * We declare it ourselves, and do not use the toolkit's cuda.h, so that no toolkit is needed to
 * build. Nothing is linked: our code looks the functions up in the process's own libcuda.so.1, the
 * system's or the simulated GPU's stand-in. Every libcuda since 11.8 has all functions that are not
 * OPTIONAL.
 */
#ifndef GPUSCHED_BASIC_CUDA_H
#define GPUSCHED_BASIC_CUDA_H

#include <stddef.h>

typedef int cu_result;
typedef int cu_device;
typedef void *cu_handle;
typedef unsigned long long cu_address;

#define CU_NOT_READY 600
#define CU_SCHED_SPIN 0x01u
#define CU_MAP_HOST 0x08u
#define CU_STREAM_NON_BLOCKING 0x1u
#define CU_CAPTURE_THREAD_LOCAL 1
#define CU_CAPTURE_RELAXED 2
#define CU_EVENT_BLOCKING_SYNC 0x1u
#define CU_EVENT_DISABLE_TIMING 0x2u
#define CU_HOST_DEVICEMAP 0x2u
#define CU_ATTRIBUTE_CLOCK_KHZ 13
#define CU_ATTRIBUTE_MULTIPROCESSORS 16

/* Field, exported name, parameters. */
#define CUDA_FUNCTIONS(X, OPTIONAL) \
	X(init, "cuInit", (unsigned int flags)) \
	X(device_count, "cuDeviceGetCount", (int *count)) \
	X(device_get, "cuDeviceGet", (cu_device * device, int ordinal)) \
	X(device_name, "cuDeviceGetName", (char *name, int size, cu_device device)) \
	X(device_uuid, "cuDeviceGetUuid", (unsigned char *uuid, cu_device device)) \
	X(device_attribute, "cuDeviceGetAttribute", (int *value, int what, cu_device device)) \
	X(context_create, "cuCtxCreate_v2", \
	  (cu_handle * context, unsigned int flags, cu_device device)) \
	X(context_destroy, "cuCtxDestroy_v2", (cu_handle context)) \
	X(context_get, "cuCtxGetCurrent", (cu_handle * context)) \
	X(context_set, "cuCtxSetCurrent", (cu_handle context)) \
	X(context_push, "cuCtxPushCurrent_v2", (cu_handle context)) \
	X(context_pop, "cuCtxPopCurrent_v2", (cu_handle * context)) \
	OPTIONAL(context_id, "cuCtxGetId", (cu_handle context, unsigned long long *id)) \
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
	OPTIONAL(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode)) \
	X(graph_instantiate, "cuGraphInstantiateWithFlags", \
	  (cu_handle * executable, cu_handle graph, unsigned long long flags)) \
	X(graph_launch, "cuGraphLaunch", (cu_handle executable, cu_handle stream)) \
	X(graph_exec_destroy, "cuGraphExecDestroy", (cu_handle executable)) \
	X(graph_destroy, "cuGraphDestroy", (cu_handle graph)) \
	X(stream_create, "cuStreamCreate", (cu_handle * stream, unsigned int flags)) \
	X(stream_create_priority, "cuStreamCreateWithPriority", \
	  (cu_handle * stream, unsigned int flags, int priority)) \
	X(stream_destroy, "cuStreamDestroy_v2", (cu_handle stream)) \
	X(stream_query, "cuStreamQuery", (cu_handle stream)) \
	X(stream_synchronize, "cuStreamSynchronize", (cu_handle stream)) \
	X(event_create, "cuEventCreate", (cu_handle * event, unsigned int flags)) \
	X(event_record, "cuEventRecord", (cu_handle event, cu_handle stream)) \
	X(event_query, "cuEventQuery", (cu_handle event)) \
	X(event_synchronize, "cuEventSynchronize", (cu_handle event)) \
	X(event_destroy, "cuEventDestroy_v2", (cu_handle event)) \
	X(copy_to_gpu, "cuMemcpyHtoDAsync_v2", \
	  (cu_address to, const void *from, size_t size, cu_handle stream)) \
	X(memory_alloc, "cuMemAlloc_v2", (cu_address * address, size_t size)) \
	X(host_alloc, "cuMemHostAlloc", (void **memory, size_t size, unsigned int flags)) \
	X(host_address, "cuMemHostGetDevicePointer_v2", \
	  (cu_address * address, void *memory, unsigned int flags)) \
	X(error_name, "cuGetErrorName", (cu_result error, const char **name))

/* Members of a struct, one per function. */
#define CUDA_MEMBER(field, name, parameters) cu_result(*field) parameters;

#endif /* GPUSCHED_BASIC_CUDA_H */
