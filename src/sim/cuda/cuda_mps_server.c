/* SPDX-License-Identifier: MIT */
/*
 * cuda_mps_server.c - simulates the MPS server: one TSG for all its clients' kernels
 *
 * It imitates failures seen with the real server. If a client is killed with work in flight, the
 * other clients fail. If there were none, later clients hang in cuInit while everything looks
 * healthy. After a bad access all clients fail. A client that was first terminated by command harms
 * nobody.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sim/cuda/cuda_priv.h"
#include "sim/cuda/cuda_rm.h"
#include "sim/cuda/mps_wire.h"

#define MAX_CLIENTS 128
#define MAX_OF_CLIENT 256 /* channels of one client */

struct client {
	int sock; /* socket to the client; -1: this slot is free */
	int pid;  /* 0: the client has not sent MPS_HELLO */
	struct sim_ring *ring;
	uint32_t channel[MAX_OF_CLIENT];
	unsigned int n;
	bool waits; /* its MPS_HELLO is not answered yet */
	bool terminated;
};

CUresult cuCtxCreate_v2(CUcontext *ret, unsigned int flags, CUdevice d);

static struct client clients[MAX_CLIENTS];
static CUcontext contexts[MAX_DEVICES];
static bool faulty; /* all calls fail until every present client has left */
static bool wedged; /* new clients hang for ever */

/* ---- clients that fail --------------------------------------------------------------------- */

static bool is_busy(const struct client *c)
{
	uint64_t done = 0;

	for (uint32_t i = 0; c->ring && i < SIM_RING_SLOTS; i++)
		done += __atomic_load_n(&c->ring->done[i], __ATOMIC_ACQUIRE);
	return c->ring && __atomic_load_n(&c->ring->head, __ATOMIC_ACQUIRE) != (uint32_t)done;
}

static void fail(struct client *c, CUresult why)
{
	if (!c->ring)
		return;
	__atomic_store_n(&c->ring->fault, (uint32_t)why, __ATOMIC_SEQ_CST);
	__atomic_add_fetch(&c->ring->seq, 1, __ATOMIC_SEQ_CST);
	syscall(SYS_futex, &c->ring->seq, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void free_channels(struct client *c)
{
	for (unsigned int i = 0; i < c->n; i++)
		cu_rm_free(contexts[0]->gr.handle, c->channel[i]);
	c->n = 0;
}

static unsigned int at_work(void)
{
	unsigned int n = 0;

	for (int i = 0; i < MAX_CLIENTS; i++)
		n += clients[i].sock >= 0 && clients[i].pid && !clients[i].waits;
	return n;
}

static void fail_all(void)
{
	faulty = true;
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (clients[i].sock >= 0 && !clients[i].waits)
			fail(&clients[i], CUDA_ERROR_LAUNCH_FAILED);
}

static void welcome(struct client *c)
{
	struct mps_message m = { .op = MPS_HELLO, .client = cu.client, .n = (uint32_t)cu.ndev };

	if (faulty || wedged)
		return;
	for (int i = 0; i < cu.ndev; i++)
		memcpy(m.device[i], cu.dev[i].uuid, 16);
	c->waits = false;
	mps_send(c->sock, &m, cu.ctl);
}

static void gone(struct client *c)
{
	bool busy = c->pid && !c->waits && !c->terminated && is_busy(c);

	free_channels(c);
	if (c->ring)
		munmap(c->ring, sizeof(*c->ring));
	close(c->sock);
	*c = (struct client){ .sock = -1 };
	if (busy && at_work())
		fail_all();
	else if (busy && !faulty)
		wedged = true;
	if (at_work())
		return;
	faulty = false;
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (clients[i].sock >= 0 && clients[i].waits)
			welcome(&clients[i]);
}

/* ---- requests of clients --------------------------------------------------------------------- */

static void hello(struct client *c, const struct mps_message *m, int memfd)
{
	void *p = memfd < 0 ? MAP_FAILED
			    : mmap(NULL, sizeof(struct sim_ring), PROT_READ | PROT_WRITE,
				   MAP_SHARED, memfd, 0);

	c->pid = m->pid;
	c->ring = p == MAP_FAILED ? NULL : p;
	c->waits = true;
	welcome(c);
}

static CUcontext context_of(const uint8_t uuid[16])
{
	for (int i = 0; i < cu.ndev; i++)
		if (!memcmp(cu.dev[i].uuid, uuid, 16))
			return contexts[i];
	return NULL;
}

static void make_channels(struct client *c, struct mps_message *m)
{
	CUcontext ctx = context_of(m->device[0]);
	struct tsg t = { 0 };

	m->n = 0;
	if (ctx && c->n + MPS_CHANNELS <= MAX_OF_CLIENT) {
		t.handle = ctx->gr.handle;
		t.engine = 1;
		while (t.n < MPS_CHANNELS && !cu_channel_make(&t, &t.ch[t.n], false)) {
			m->channel[t.n - 1] = t.ch[t.n - 1].handle;
			c->channel[c->n++] = t.ch[t.n - 1].handle;
		}
		m->n = t.n;
	}
	mps_send(c->sock, m, -1);
}

static void forget_channels(struct client *c, const struct mps_message *m)
{
	for (uint32_t k = 0; k < m->n && k < MPS_CHANNELS; k++)
		for (unsigned int i = 0; i < c->n; i++)
			if (c->channel[i] == m->channel[k]) {
				cu_rm_free(contexts[0]->gr.handle, c->channel[i]);
				c->channel[i] = c->channel[--c->n];
				break;
			}
}

/* ---- requests of the control daemon ---------------------------------------------------------- */

static void terminate(int pid, char *text, size_t size)
{
	snprintf(text, size, "Client %d not found\n", pid);
	for (int i = 0; i < MAX_CLIENTS; i++) {
		struct client *c = &clients[i];

		if (c->sock < 0 || c->pid != pid)
			continue;
		c->terminated = true;
		free_channels(c);
		fail(c, CUDA_ERROR_MPS_CLIENT_TERMINATED);
		text[0] = '\0';
	}
}

static void list(char *text, size_t size)
{
	size_t at = 0;

	text[0] = '\0';
	for (int i = 0; i < MAX_CLIENTS && at < size; i++)
		if (clients[i].sock >= 0 && clients[i].pid)
			at += (size_t)snprintf(text + at, size - at, "%d\n", clients[i].pid);
}

static void command(struct client *c, struct mps_message *m)
{
	int pid;

	if (!strcmp(m->text, "get_client_list"))
		list(m->text, sizeof(m->text));
	else if (!strcmp(m->text, "get_server_status"))
		snprintf(m->text, sizeof(m->text), "%s\n", faulty ? "FAULT" : "ACTIVE");
	else if (sscanf(m->text, "terminate_client %d", &pid) == 1)
		terminate(pid, m->text, sizeof(m->text));
	else if (!strcmp(m->text, "quit"))
		exit(0);
	mps_send(c->sock, m, -1);
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void serve(struct client *c)
{
	struct mps_message m;
	int fd;

	if (mps_receive(c->sock, &m, &fd)) {
		gone(c);
		return;
	}
	if (m.op == MPS_TEXT)
		command(c, &m);
	else if (m.op == MPS_HELLO)
		hello(c, &m, fd);
	else if (m.op == MPS_CONTEXT)
		make_channels(c, &m);
	else if (m.op == MPS_FREE)
		forget_channels(c, &m);
	else if (m.op == MPS_BAD)
		fail_all();
	if (fd >= 0)
		close(fd);
}

static void take(int sock)
{
	for (int i = 0; i < MAX_CLIENTS; i++)
		if (clients[i].sock < 0) {
			clients[i].sock = sock;
			return;
		}
	close(sock);
}

/* Serves clients and the control daemon until it is told to end. */
API int cuSimMpsServe(const char *dir)
{
	struct pollfd p[1 + MAX_CLIENTS];
	int at = mps_socket(dir, "server", 1);

	for (int i = 0; i < MAX_CLIENTS; i++)
		clients[i].sock = -1;
	for (int i = 0; i < cu.ndev; i++)
		if (cuCtxCreate_v2(&contexts[i], 0, i))
			return 1;
	for (;;) {
		p[0] = (struct pollfd){ .fd = at, .events = POLLIN };
		for (int i = 0; i < MAX_CLIENTS; i++)
			p[1 + i] = (struct pollfd){ .fd = clients[i].sock, .events = POLLIN };
		if (at < 0 || poll(p, 1 + MAX_CLIENTS, -1) < 0)
			return 1;
		for (int i = 0; i < MAX_CLIENTS; i++)
			if (p[1 + i].revents)
				serve(&clients[i]);
		if (p[0].revents)
			take(accept4(at, NULL, NULL, SOCK_CLOEXEC));
	}
}
