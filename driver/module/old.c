// SPDX-License-Identifier: GPL-2.0-only
/*
 * old.c - replaces the whole module on kernels before 6.12, and only says why it does nothing
 *
 * A build error would be worse: on Debian 12, dkms would then fail the installation of such a
 * kernel.
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
