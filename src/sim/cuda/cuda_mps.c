/* SPDX-License-Identifier: MIT */
/*
 * cuda_mps.c - connects a program to the stand-in for the MPS server
 *
 * If no server answers in $CUDA_MPS_PIPE_DIRECTORY, the program silently runs without MPS, as with
 * the real library. With a server, it sees only the server's devices, numbered anew. Its kernels go
 * to channels of the server's TSG. Copies take no time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_ring.h"
#include "sim/cuda/mps_wire.h"

static int connect_server(void)
{
	const char *dir = getenv("CUDA_MPS_PIPE_DIRECTORY");
	struct mps_message m = { .op = MPS_TEXT, .pid = getpid(), .text = "client" };
	int control, r;

	dir = dir && *dir ? dir : MPS_DEFAULT_DIR;
	control = mps_socket(dir, "control", 0);
	if (control < 0)
		return -1;
	/* this request makes the control daemon start a server */
	r = mps_send(control, &m, -1) || mps_receive(control, &m, NULL);
	close(control);
	return r ? -1 : mps_socket(dir, "server", 0);
}

/* Keeps only the devices that the server has, in the server's order. */
static int keep(struct cu_device *dev, int n, const struct mps_message *m)
{
	struct cu_device all[MAX_DEVICES];
	int kept = 0;

	memcpy(all, dev, (size_t)n * sizeof(*dev));
	for (uint32_t k = 0; k < m->n && k < MPS_DEVICES; k++)
		for (int i = 0; i < n; i++)
			if (!memcmp(all[i].uuid, m->device[k], 16))
				dev[kept++] = all[i];
	return kept;
}

CUresult cu_mps_begin(struct cu_device *dev, int *inout_n, int ring_memfd, int *ret_file)
{
	struct mps_message m = { .op = MPS_HELLO, .pid = getpid() };
	int sock = connect_server();

	if (sock < 0)
		return CUDA_SUCCESS;
	/* waits for ever if the server hangs */
	if (mps_send(sock, &m, ring_memfd) || mps_receive(sock, &m, ret_file) || *ret_file < 0) {
		close(sock);
		return CUDA_ERROR_MPS_CONNECTION_FAILED;
	}
	*inout_n = keep(dev, *inout_n, &m);
	cu.mps = sock;
	cu.mps_client = m.client;
	return CUDA_SUCCESS;
}

int cu_mps_channels(const struct cu_device *dev, struct tsg *t)
{
	struct mps_message m = { .op = MPS_CONTEXT, .pid = getpid() };

	memcpy(m.device[0], dev->uuid, 16);
	if (mps_send(cu.mps, &m, -1) || mps_receive(cu.mps, &m, NULL) || m.n > GR_CHANNELS)
		return -1;
	t->engine = 1;
	for (uint32_t i = 0; i < m.n; i++) {
		t->ch[i].handle = m.channel[i];
		if (cu_slot_get(&t->ch[i]))
			return -1;
		t->n++;
	}
	return t->n ? 0 : -1;
}

void cu_mps_put(const struct tsg *t)
{
	struct mps_message m = { .op = MPS_FREE, .pid = getpid(), .n = t->n };

	for (unsigned int i = 0; i < t->n; i++)
		m.channel[i] = t->ch[i].handle;
	mps_send(cu.mps, &m, -1);
}

bool cu_mps_alive(void)
{
	struct pollfd p = { .fd = cu.mps };

	return cu.mps < 0 || poll(&p, 1, 0) == 0;
}

CUresult cu_mps_bad_access(void)
{
	struct mps_message m = { .op = MPS_BAD, .pid = getpid() };

	if (cu.mps >= 0)
		mps_send(cu.mps, &m, -1);
	__atomic_store_n(&cu.ring->fault, CUDA_ERROR_LAUNCH_FAILED, __ATOMIC_SEQ_CST);
	return CUDA_SUCCESS; /* a launch succeeds; the next call that waits returns the error */
}
