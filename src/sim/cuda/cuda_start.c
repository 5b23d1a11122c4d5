/* SPDX-License-Identifier: MIT */
/*
 * cuda_start.c - does what a program does in cuInit
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "rm/branches.h"
#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/cuda/cuda_ring.h"
#include "sim/rm_abi.h"

#define UVM_INITIALIZE 0x30000001u
#define GID_BINARY 2u

static CUresult check_version(void)
{
	struct sim_version v = { .cmd = '2' };
	uint64_t params = 0;

	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_CHECK_VERSION, v), &v) < 0 || !v.reply)
		return CUDA_ERROR_SYSTEM_DRIVER_MISMATCH;
	cu.branch = (unsigned int)strtoul(v.text, NULL, 10);
	ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_SYS_PARAMS, params), &params);
	return CUDA_SUCCESS;
}

static CUresult make_client(void)
{
	struct sim_os_alloc64 os = { .cls = SIM_CLASS_ROOT_CLIENT };

	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_ALLOC, os), &os) < 0 || os.status)
		return CUDA_ERROR_OPERATING_SYSTEM;
	cu.client = os.object;
	return CUDA_SUCCESS;
}

/* Reads a GPU's name and UUID through a temporary device and subdevice. */
static void read_names(struct cu_device *d)
{
	uint32_t dev[SIM_DEVICE_PARAMS_SIZE / 4] = { d->instance }, sub = 0, h = cu_rm_handle();
	uint32_t hs = cu_rm_handle();
	uint8_t name[132] = { 0 };
	struct sim_ctrl_gid gid = { .flags = GID_BINARY };

	if (cu_rm_alloc(cu.client, h, SIM_CLASS_DEVICE, dev, sizeof(dev)))
		return;
	if (!cu_rm_alloc(h, hs, SIM_CLASS_SUBDEVICE, &sub, sizeof(sub))) {
		if (!cu_rm_control(hs, SIM_CTRL_SUB_NAME_STRING, name, nv_branch(cu.branch)->name))
			snprintf(d->name, sizeof(d->name), "%.63s", (char *)name + 4);
		if (!cu_rm_control(hs, SIM_CTRL_SUB_GID_INFO, &gid, sizeof(gid)))
			memcpy(d->uuid, gid.data, sizeof(d->uuid));
	}
	cu_rm_free(cu.client, h);
}

/*
 * The number of the device that one entry of $CUDA_VISIBLE_DEVICES names. The entry is a number, or
 * the beginning of a UUID. -1: no such device.
 */
static int device_named(const char *name, size_t len, const struct cu_device *all, int n)
{
	char text[48], *end;
	long v = strtol(name, &end, 10);

	if (end == name + len && len)
		return v >= 0 && v < n ? (int)v : -1;
	for (int i = 0; i < n; i++) {
		const uint8_t *u = all[i].uuid;

		snprintf(text, sizeof(text),
			 "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
			 u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11],
			 u[12], u[13], u[14], u[15]);
		if (len > 4 && !strncmp(text, name, len))
			return i;
	}
	return -1;
}

/*
 * Makes the list of visible devices. The first invalid entry ends the list, as in the real library.
 */
static int visible(const struct cu_device *all, int n, int order[MAX_DEVICES])
{
	const char *list = getenv("CUDA_VISIBLE_DEVICES");
	int count = 0;

	if (!list) {
		for (int i = 0; i < n; i++)
			order[i] = i;
		return n;
	}
	while (*list && count < MAX_DEVICES) {
		size_t len = strcspn(list, ",");
		int i = device_named(list, len, all, n);

		if (i < 0)
			break;
		order[count++] = i;
		list += len + (list[len] == ',');
	}
	return count;
}

/* @ret_file: file for cu_ring_start(). */
static CUresult find_devices(int memfd, int *ret_file)
{
	struct sim_card cards[32] = { 0 };
	uint32_t ids[32], probed[96];
	struct cu_device all[MAX_DEVICES];
	int n = 0, order[MAX_DEVICES];
	CUresult r;

	if (ioctl(cu.ctl, _IOWR(SIM_IOC_MAGIC, SIM_ESC_CARD_INFO, cards), cards) < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	cu_rm_control(cu.client, SIM_CTRL_GPU_PROBED_IDS, probed, nv_branch(cu.branch)->probed);
	if (cu_rm_control(cu.client, SIM_CTRL_GPU_ATTACHED_IDS, ids, sizeof(ids)))
		return CUDA_ERROR_OPERATING_SYSTEM;
	for (int i = 0; i < 32 && n < MAX_DEVICES; i++) {
		struct sim_ctrl_id_info info = { .gpu_id = cards[i].gpu_id };

		if (!cards[i].valid ||
		    cu_rm_control(cu.client, SIM_CTRL_GPU_ID_INFO_V2, &info, sizeof(info)))
			continue;
		all[n] = (struct cu_device){
			.minor = (int)cards[i].minor,
			.gpu_id = cards[i].gpu_id,
			.instance = info.device,
			.bus = cards[i].bus,
			.fd = -1,
		};
		read_names(&all[n++]);
	}
	r = cu_mps_begin(all, &n, memfd, ret_file);
	if (r)
		return r;
	cu.ndev = visible(all, n, order);
	for (int i = 0; i < cu.ndev; i++)
		cu.dev[i] = all[order[i]];
	return cu.ndev ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

/*
 * Runs in a forked child: like the real library, refuses all use of the parent's objects. Makes a
 * new lock, since another thread of the parent may have held the old one.
 */
static void in_child(void)
{
	pthread_mutex_init(&cu.lock, NULL);
	cu.up = false;
	cu.failed = CUDA_ERROR_NOT_INITIALIZED;
	cu_checkpoint_in_child();
}

static CUresult start(void)
{
	uint64_t uvm[2] = { 0 };
	int memfd = -1, file = -1; /* @memfd: our ring; @file: file on which the ring works */
	CUresult r;

	cu.ctl = cu_rm_open("/dev/nvidiactl");
	if (cu.ctl < 0)
		return CUDA_ERROR_NO_DEVICE;
	r = check_version();
	if (!r)
		r = make_client();
	if (!r)
		r = cu_ring_make(&memfd);
	if (!r)
		r = find_devices(memfd, &file);
	if (r)
		return r;
	cu.uvm = cu_rm_open("/dev/nvidia-uvm");
	if (cu.uvm >= 0)
		ioctl(cu.uvm, UVM_INITIALIZE, uvm);
	r = cu_ring_start(memfd, file);
	if (r)
		return r;
	if (cu.mps < 0)
		cu_checkpoint_start();
	pthread_atfork(NULL, NULL, in_child);
	return CUDA_SUCCESS;
}

/* The caller holds the lock. */
CUresult cu_start(void)
{
	if (cu.up || cu.failed)
		return cu.failed;
	cu.failed = start();
	if (cu.failed && cu.ctl >= 0) {
		close(cu.ctl);
		cu.ctl = -1;
	}
	cu.up = !cu.failed;
	return cu.failed;
}
