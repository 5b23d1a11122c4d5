/* SPDX-License-Identifier: MIT */
/*
 * adopt.h - finds the objects of an RM client by trying handles; pure, without I/O
 */
#ifndef GPUSCHED_TAPS_ADOPT_H
#define GPUSCHED_TAPS_ADOPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpusched/abi.h"

#define GS_CMD_HANDLE_INFO 0xd02u
#define GS_CMD_CHILD_HANDLE 0xd05u
/*
 * Class ids inside the driver, equal in all branches. Query 0xd05 takes these ids; in older
 * branches it takes class numbers instead.
 */
#define GS_INTERNAL_DEVICE 0xe0ac20u
#define GS_INTERNAL_SUBDEVICE 0x4b01b3u
#define GS_INTERNAL_TSG 0x2b5b80u

#define GS_INDEX_PARENT 1u
#define GS_INDEX_CLASS 2u

struct gs_object {
	uint32_t handle, class_, parent;
};

struct gs_objects {
	struct gs_object *all;
	size_t n, size;
};

/* The queries that a scan needs. RM answers them, or a test. Each returns 0 or a negative errno. */
struct gs_object_source {
	/* 0xd02: @index is GS_INDEX_PARENT or GS_INDEX_CLASS */
	int (*query)(void *user, uint32_t client, uint32_t object, uint32_t index, uint32_t *ret);
	/* 0xd05: finds the first child of @parent that has @class_ */
	int (*child)(void *user, uint32_t client, uint32_t parent, uint32_t class_, uint32_t *ret);
	void *user;
};

/* Finds the objects that matter to a scheduler. free(ret->all) in any case. */
int gs_objects_scan(const struct gs_object_source *src, uint32_t client, struct gs_objects *ret);
/* Adds @handle and the objects below it. If @handle is a channel, adds its TSG as well. */
int gs_objects_near(const struct gs_object_source *src, uint32_t client, uint32_t handle,
		    struct gs_objects *s);
/* The handle of the first child of @parent that has @class_; 0: none. */
uint32_t gs_objects_child(const struct gs_objects *s, uint32_t parent, uint32_t class_);
bool gs_objects_has(const struct gs_objects *s, uint32_t class_);
/* The first compute or copy object under a channel of the TSG; NULL: none. */
const struct gs_object *gs_objects_engine(const struct gs_objects *s, uint32_t tsg);
void gs_objects_channels(const struct gs_objects *s, uint32_t tsg, struct gpusched_channels *ret);
/*
 * The kind of a TSG, from the engine objects under its channels. Compute wins over copy, since
 * compute contexts copy as well.
 */
enum gpusched_kind gs_objects_kind(const struct gs_objects *s, uint32_t tsg);

#endif /* GPUSCHED_TAPS_ADOPT_H */
