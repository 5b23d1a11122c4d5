// SPDX-License-Identifier: MIT
/* op_names.c - the words for operations on a TSG */
#include "rm/way.h"

static const char *const op_names[] = {
#define X(sym, name) [GS_RM_##sym] = name,
	GS_RM_OPS(X)
#undef X
};

const char *gs_rm_op_name(enum gs_rm_op op)
{
	return op < GS_RM_OP_MAX ? op_names[op] : NULL;
}
