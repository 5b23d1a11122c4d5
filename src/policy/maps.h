/* SPDX-License-Identifier: MIT */
/*
 * maps.h - the running policy's maps, pinned while it runs: root looks into them and writes
 *
 * The stock host pins them in a folder of root's beside the table's pins. They go with the policy.
 * Keys and values are shown and read by the types in the policy's own BTF.
 */
#ifndef GPUSCHED_POLICY_MAPS_H
#define GPUSCHED_POLICY_MAPS_H

#include <bpf/libbpf.h>
#include <jansson.h>

#include "basic/error.h"

/* Pins the maps of @obj that are the policy's own, instead of all that was pinned. */
int gs_polmaps_pin(struct bpf_object *obj);

struct gs_polmap {
	int fd;
	char name[64], path[400];
	const char *kind; /* "hash", "array" */
	unsigned int key_size, value_size, max_entries;
	unsigned int key_type, value_type; /* in @btf */
	struct btf *btf;
};
/* -ENOENT: no policy runs, or it has no such map (says which there are). -EACCES, -EPERM: not root. */
int gs_polmap_open(const char *name, struct gs_polmap *ret, struct gs_error *err);
void gs_polmap_close(struct gs_polmap *m);
/* All of them, in order of their names; each is closed again after @fn. */
int gs_polmaps_each(void (*fn)(const struct gs_polmap *m, void *user), void *user,
		    struct gs_error *err);

/*
 * Malloc'd, NULL: ENOMEM. Text is as gs_polmap_parse() reads it, but for arrays and structures within
 * structures: they are in [] and {}.
 */
char *gs_polmap_text(const struct gs_polmap *m, bool key, const void *data);
json_t *gs_polmap_json(const struct gs_polmap *m, bool key, const void *data);
/*
 * The word of policy @name on its TSGs: member "says" of the values of its map NAME_tsgs, by a
 * TSG's id. -ENOENT: it has none. Members that are 0 are null.
 */
int gs_polmap_says_open(const char *name, struct gs_polmap *ret);
json_t *gs_polmap_says(const struct gs_polmap *m, uint64_t id);
/*
 * Text into a key or a value: a number (decimal, 0x, or an enumerator's name), or for a structure
 * FIELD=NUMBER,... Fields that are not named stay as @inout has them. -EINVAL with the reason.
 */
int gs_polmap_parse(const struct gs_polmap *m, bool key, const char *text, void *inout,
		    struct gs_error *err);

#endif /* GPUSCHED_POLICY_MAPS_H */
