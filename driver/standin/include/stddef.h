/* SPDX-License-Identifier: GPL-2.0-only */
/* stddef.h - the miniature tree asks for the compiler's, which modules do not have */
#include <linux/stddef.h>
#include <linux/types.h>
