/* SPDX-License-Identifier: GPL-2.0-only */
/* stddef.h - stands in for the compiler's stddef.h, which modules cannot include */
#include <linux/stddef.h>
#include <linux/types.h>
