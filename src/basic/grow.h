/* SPDX-License-Identifier: MIT */
/*
 * grow.h - grows an array by doubling it
 */
#ifndef GPUSCHED_BASIC_GROW_H
#define GPUSCHED_BASIC_GROW_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

static inline void *gs_grown(void *array, size_t *inout_room, size_t need, size_t size)
{
	size_t room = *inout_room ? *inout_room : 64;

	if (need <= *inout_room)
		return array;
	while (room < need)
		room *= 2;
	array = reallocarray(array, room, size);
	if (array)
		*inout_room = room;
	return array;
}

/*
 * Makes room for @need elements (1 or more) in @array, which now has room for @room. On -ENOMEM
 * nothing changes.
 */
#define GS_GROW(array, room, need) \
	({ \
		void *grown_ = gs_grown((array), &(room), (need), sizeof(*(array))); \
		if (grown_) \
			(array) = grown_; \
		grown_ ? 0 : -ENOMEM; \
	})

#endif /* GPUSCHED_BASIC_GROW_H */
