// SPDX-License-Identifier: GPL-2.0-only
/*
 * The whole module on kernels before 6.12: it only says why it does nothing. A build that failed
 * would not do, since Debian 12's dkms would then fail the installation of that kernel.
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
