// SPDX-License-Identifier: GPL-2.0-only
/*
 * For kernels before 6.12, the module is only this: it says why it does nothing. If the build
 * failed, Debian 12's dkms would make the installation of that kernel fail.
 */
#include <linux/errno.h>
#include <linux/module.h>

static int __init gpusched_init(void)
{
	pr_err("gpusched: needs Linux 6.12 or later, for struct_ops of modules\n");
	return -EOPNOTSUPP;
}

module_init(gpusched_init);
MODULE_DESCRIPTION("GPU scheduling policies in BPF: not for this kernel");
MODULE_LICENSE("GPL");
