/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Compiles only if the BPF side has the layout of ABI version 1; tests/unit/test_policy_object.c.
 */
#include "gpusched/policy.bpf.h"
#include "abi_v1.h"

GPUSCHED_POLICY(abi_layout, 0, 100, 0);

_Static_assert(GPUSCHED_ABI_VERSION == 1, "another version needs another list");
#define FIELD(type, field, offset, size) \
	_Static_assert(__builtin_offsetof(struct type, field) == (offset), #type "." #field); \
	_Static_assert(sizeof(((struct type *)0)->field) == (size), #type "." #field);
GPUSCHED_ABI_V1(FIELD)
#define SIZE(type, size) _Static_assert(sizeof(struct type) == (size), #type);
GPUSCHED_ABI_V1_SIZES(SIZE)
#define VALUE(name, value) _Static_assert((name) == (value), #name);
GPUSCHED_ABI_V1_VALUES(VALUE)

GPUSCHED_TASK_INIT(t)
{
	return 0;
}
