// SPDX-License-Identifier: GPL-2.0-only
/* file.c - provides /dev/nvidiactl (195:255), and RM's objects in debugfs nvidia-standin/state */
#include <linux/cdev.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "standin.h"

/* These functions are in the miniature tree. */
int nvidia_ioctl(nv_linux_file_private_t *file, int nr, void *arg, unsigned long size);
void nvidia_close_callback(nv_linux_file_private_t *file);

#define ARG_MAX_SIZE (NV_MAX_CARDS * sizeof(struct nv_card))

/* Handles ioctls that kernel-open answers itself, without RM. False: it is not one of these. */
static bool answered_here(unsigned int nr, void *arg, unsigned int size)
{
	static const struct nv_card card = { .valid = 1, .gpu_id = STANDIN_GPU_ID };
	struct nv_version *version = arg;

	if (nr == NV_ESC_VERSION && size == sizeof(*version))
		strscpy(version->version, "580.00 standin", sizeof(version->version));
	else if (nr == NV_ESC_CARD_INFO && size >= sizeof(card))
		memcpy(arg, &card, sizeof(card));
	else
		return false;
	return true;
}

static int file_open(struct inode *inode, struct file *file)
{
	file->private_data = kzalloc(sizeof(struct standin_file), GFP_KERNEL);
	return file->private_data ? 0 : -ENOMEM;
}

static int file_release(struct inode *inode, struct file *file)
{
	struct standin_file *f = file->private_data;

	nvidia_close_callback(&f->nv);
	kfree(f);
	return 0;
}

static long file_ioctl(struct file *file, unsigned int cmd, unsigned long address)
{
	struct standin_file *f = file->private_data;
	void __user *user = (void __user *)address;
	unsigned int size = _IOC_SIZE(cmd);
	void *arg;
	int r = 0;

	if (_IOC_TYPE(cmd) != NV_IOCTL_TYPE || size > ARG_MAX_SIZE)
		return -EINVAL;
	arg = memdup_user(user, size);
	if (IS_ERR(arg))
		return PTR_ERR(arg);
	if (!answered_here(_IOC_NR(cmd), arg, size))
		r = nvidia_ioctl(&f->nv, _IOC_NR(cmd), arg, size);
	if (copy_to_user(user, arg, size))
		r = -EFAULT;
	kfree(arg);
	return r;
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = file_open,
	.release = file_release,
	.unlocked_ioctl = file_ioctl,
};

static int state_show(struct seq_file *m, void *unused)
{
	mutex_lock(&rm_lock);
	gsp_show(m);
	mutex_unlock(&rm_lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(state);

static struct cdev cdev;
static struct class *class;
static struct dentry *debugfs;

static int __init standin_init(void)
{
	dev_t number = MKDEV(NV_MAJOR, NV_CTL_MINOR);
	struct device *device;
	int r = register_chrdev_region(number, 1, "nvidiactl");

	if (r)
		return r;
	cdev_init(&cdev, &fops);
	r = cdev_add(&cdev, number, 1);
	if (r)
		goto no_cdev;
	class = class_create("nvidia");
	r = PTR_ERR_OR_ZERO(class);
	if (r)
		goto no_class;
	device = device_create(class, NULL, number, NULL, "nvidiactl");
	r = PTR_ERR_OR_ZERO(device);
	if (r)
		goto no_device;
	debugfs = debugfs_create_dir("nvidia-standin", NULL);
	debugfs_create_file("state", 0400, debugfs, NULL, &state_fops);
	gsp_debugfs(debugfs);
	rm_debugfs(debugfs);
	return 0;

no_device:
	class_destroy(class);
no_class:
	cdev_del(&cdev);
no_cdev:
	unregister_chrdev_region(number, 1);
	return r;
}

static void __exit standin_exit(void)
{
	debugfs_remove(debugfs);
	device_destroy(class, MKDEV(NV_MAJOR, NV_CTL_MINOR));
	class_destroy(class);
	cdev_del(&cdev);
	unregister_chrdev_region(MKDEV(NV_MAJOR, NV_CTL_MINOR), 1);
}

module_init(standin_init);
module_exit(standin_exit);
MODULE_DESCRIPTION("stands in for the NVIDIA driver in tests of gpusched.ko");
MODULE_LICENSE("GPL");
