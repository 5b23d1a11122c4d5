/* SPDX-License-Identifier: MIT */
/* rm_memory.h - manages a GPU's memory, which is only counted, and deviceless memory */
#ifndef GPUSCHED_SIM_RM_MEMORY_H
#define GPUSCHED_SIM_RM_MEMORY_H

#include "sim/rm_object.h"

#define SIM_GPU_MEMORY (141ull << 30)   /* memory that programs can have, in bytes */
#define SIM_GPU_RESERVED (600ull << 20) /* memory that RM itself uses, in addition */
uint32_t sim_memory_local_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
				const struct sim_caller *c);
void sim_memory_local_free(struct sim_rm *rm, struct sim_object *o);
/* Makes @o another handle to @src's memory. The memory is freed with the last handle. */
void sim_memory_local_dup(struct sim_object *o, const struct sim_object *src);
/* Returns how many bytes of GPU memory the object has; @ret: whether it owns or shares them. */
enum sim_share { SIM_SHARE_NONE, SIM_SHARE_OWN, SIM_SHARE_OTHERS };
uint64_t sim_memory_local_bytes(const struct sim_object *o, enum sim_share *ret);
/* the functions below are for deviceless memory */
uint32_t sim_memory_alloc(struct sim_rm *rm, struct sim_object *o, uint64_t params,
			  const struct sim_caller *c);
void sim_memory_free(struct sim_rm *rm, struct sim_object *o);
uint32_t sim_memory_map(struct sim_object *o, const struct sim_os_map *os,
			const struct sim_caller *c);
uint32_t sim_memory_unmap(struct sim_object *o);
size_t sim_memory_size(const struct sim_memory *m);
bool sim_memory_user_read_only(const struct sim_memory *m);
/* Writes into the memory and its mapping. Skips the part beyond their ends. */
void sim_memory_write(struct sim_memory *m, size_t at, const void *from, size_t n);
/* Writes a value so that a reader that sees it also sees all earlier writes. */
void sim_memory_publish(struct sim_memory *m, size_t at, uint32_t value);

#endif /* GPUSCHED_SIM_RM_MEMORY_H */
