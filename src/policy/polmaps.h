/* SPDX-License-Identifier: MIT */
/*
 * polmaps.h - lets root read and write the maps of the running policy
 *
 * The stock host pins these maps in a folder of root next to the table's pins, and removes the pins
 * with the policy. Keys and values are printed and parsed by the types in the policy's BTF.
 */
#ifndef GPUSCHED_POLICY_POLMAPS_H
#define GPUSCHED_POLICY_POLMAPS_H

#include <bpf/libbpf.h>
#include <jansson.h>
#include <stdbool.h>

#include "basic/error.h"

/* Removes all earlier pins, and pins the policy's own maps, which are some of the maps of @obj. */
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
/*
 * True if it is certain that the policy's code in the file @object does not use the map after its
 * start.
 */
bool gs_polmap_is_unused(const char *object, const char *map);
/* Calls @fn for each map, sorted by name, and closes the map afterwards. */
int gs_polmaps_each(void (*fn)(const struct gs_polmap *m, void *user), void *user,
		    struct gs_error *err);

/*
 * Returns @data as text; malloc'd, NULL: out of memory. gs_polmap_parse() can read the text, except
 * arrays and structures within structures, which are in [] and {}.
 */
char *gs_polmap_text(const struct gs_polmap *m, bool key, const void *data);
json_t *gs_polmap_json(const struct gs_polmap *m, bool key, const void *data);
/*
 * Opens the map in which a policy reports on its TSGs. The map is called NAME_tsgs after the
 * policy, its keys are TSG ids, and the member "says" of a value is the report. gs_polmap_says()
 * returns a report as JSON; fields that are 0 give null. -ENOENT if there is no such map.
 */
int gs_polmap_open_says(const char *name, struct gs_polmap *ret);
json_t *gs_polmap_says(const struct gs_polmap *m, uint64_t id);
/*
 * Parses text into a key or a value. A number is decimal, hexadecimal (0x), or an enumerator's
 * name. A structure is FIELD=NUMBER,... and fields that are not named keep their value in @inout.
 * -EINVAL with the reason.
 */
int gs_polmap_parse(const struct gs_polmap *m, bool key, const char *text, void *inout,
		    struct gs_error *err);

#endif /* GPUSCHED_POLICY_POLMAPS_H */
