/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the running policy's maps, pinned while it runs, for root to read and write
 *
 * The stock host pins them in a folder of root beside the table's pins, and removes them with the
 * policy. Keys and values are printed and parsed by the types in the policy's own BTF.
 */
#ifndef GPUSCHED_POLICY_MAPS_H
#define GPUSCHED_POLICY_MAPS_H

#include <bpf/libbpf.h>
#include <jansson.h>

#include "basic/error.h"

/* Pins the policy's own maps among those of @obj, and removes all earlier pins. */
int gs_polmaps_pin(struct bpf_object *obj);

struct gs_polmap {
	int fd;
	char name[64], path[400];
	const char *kind; /* "hash", "array" */
	unsigned int key_size, value_size, max_entries;
	unsigned int key_type, value_type; /* types in @btf */
	struct btf *btf;
};
/*
 * -ENOENT: no policy runs, or it has no such map (@err lists its maps). -EACCES, -EPERM: not root.
 */
int gs_polmap_open(const char *name, struct gs_polmap *ret, struct gs_error *err);
void gs_polmap_close(struct gs_polmap *m);
/* Calls @fn for each map, in the order of names; the map is closed after @fn. */
int gs_polmaps_each(void (*fn)(const struct gs_polmap *m, void *user), void *user,
		    struct gs_error *err);

/*
 * Malloc'd; NULL: out of memory. The text can be read by gs_polmap_parse(), except arrays and
 * structures within structures, which are in [] and {}.
 */
char *gs_polmap_text(const struct gs_polmap *m, bool key, const void *data);
json_t *gs_polmap_json(const struct gs_polmap *m, bool key, const void *data);
/*
 * A policy @name may report on its TSGs in a map NAME_tsgs, by TSG id: the report is the member
 * "says" of each value. -ENOENT: it has no such map. Fields of "says" that are 0 give null.
 */
int gs_polmap_says_open(const char *name, struct gs_polmap *ret);
json_t *gs_polmap_says(const struct gs_polmap *m, uint64_t id);
/*
 * Parses text into a key or a value: a number (decimal, 0x, or an enumerator's name), or for a
 * structure FIELD=NUMBER,... Fields that are not named keep their value in @inout. -EINVAL with the
 * reason.
 */
int gs_polmap_parse(const struct gs_polmap *m, bool key, const char *text, void *inout,
		    struct gs_error *err);

#endif /* GPUSCHED_POLICY_MAPS_H */
