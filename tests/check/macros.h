/* SPDX-License-Identifier: MIT */
/*
 * macros.h - define macros of headers that cppcheck does not read
 *
 * The loops here leave out the pointer arithmetic of the real macros, which is not this project's
 * code to check.
 */
#define HASH_ITER(hh, head, e, next) for ((e) = (next) = (head); (e); (e) = (next))
#define DL_FOREACH(head, e) for ((e) = (head); (e); (e) = (e)->next)
#define DL_FOREACH_SAFE(head, e, after) for ((e) = (after) = (head); (e); (e) = (after))
#define json_array_foreach(array, i, v) for ((i) = 0; ((v) = json_array_get(array, i)); (i)++)
#define json_object_foreach(object, k, v) \
	for ((k) = json_object_iter_key(object); (k); (v) = json_object_get(object, k))
#define LIBBPF_OPTS(type, name, ...) struct type name = { __VA_ARGS__ }
#define bpf_object__for_each_program(p, object) \
	for ((p) = NULL; ((p) = bpf_object__next_program(object, p));)
#define SPANK_PLUGIN(name, version) extern const char plugin_type[]
