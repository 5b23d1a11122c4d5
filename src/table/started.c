// SPDX-License-Identifier: MIT
/* started.c - loads the iterator of started.bpf.c once, and asks it about one process */
#include "table/started.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "started.skel.h"
#include "table/hush.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int prog = -ENOTSUP; /* descriptor of the iterator program, or a negative errno */

static void skel_destroy(struct started_bpf **skel)
{
	started_bpf__destroy(*skel);
}

static void load(void)
{
	CLEANUP(skel_destroy) struct started_bpf *skel = NULL;
	int r;

	gs_hush_begin(NULL, 0);
	skel = started_bpf__open();
	r = skel ? started_bpf__load(skel) : -errno;
	gs_hush_end();
	if (!r)
		r = fcntl(bpf_program__fd(skel->progs.iter_started), F_DUPFD_CLOEXEC, 0);
	prog = r == -1 ? -errno : r;
}

int gs_started(pid_t pid, uint64_t *ret_ns)
{
	union bpf_iter_link_info info = { .task = { .tid = (uint32_t)pid } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	CLEANUP_FD int link = -1, iter = -1;
	uint64_t ns;
	ssize_t n;

	if (pid <= 0)
		return -ESRCH;
	pthread_once(&once, load);
	if (prog < 0)
		return prog;
	link = bpf_link_create(prog, 0, BPF_TRACE_ITER, &opts);
	if (link < 0)
		return link;
	iter = bpf_iter_create(link);
	if (iter < 0)
		return iter;
	do
		n = read(iter, &ns, sizeof(ns));
	while (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n != sizeof(ns))
		return n < 0 ? -errno : -ESRCH;
	*ret_ns = ns;
	return 0;
}

enum gs_still gs_started_still(pid_t pid, uint64_t start_ns)
{
	uint64_t now_ns = 0;
	int r = gs_started(pid, &now_ns);

	return gs_process_still(r, now_ns, start_ns);
}
