// SPDX-License-Identifier: MIT
/* fuzz_xid.c - the reader of the driver's lines in the kernel's log, on any bytes */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rm/xid.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct gs_xid x;

	if (!gs_xid_read((const char *)data, n, &x))
		return 0;
	/* a report is about a GPU, or says that one is lost; a name comes with its pid */
	if ((!x.located && !x.reset) || (!x.number && !x.reset) || (x.name[0] && !x.pid) ||
	    strnlen(x.name, sizeof(x.name)) == sizeof(x.name))
		abort();
	return 0;
}
