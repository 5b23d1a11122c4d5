// SPDX-License-Identifier: MIT
/* holders.c - which processes hold NVIDIA files, by the task_file iterator */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "observe/priv.h"

struct holders {
	struct gs_holder *all;
	size_t n, size;
};

static void holders_free(struct holders *h)
{
	free(h->all);
}

static int add(struct holders *h, const struct gs_holder_rec *rec)
{
	struct gs_holder *at;

	if (h->n == h->size) {
		size_t size = h->size ? 2 * h->size : 64;

		at = reallocarray(h->all, size, sizeof(*at));
		if (!at)
			return -ENOMEM;
		h->all = at;
		h->size = size;
	}
	at = &h->all[h->n++];
	*at = (struct gs_holder){
		.file = rec->file,
		.start_ns = rec->start_ns,
		.pid = rec->pid,
		.fd = rec->fd,
		.uid = rec->uid,
		.control = rec->control,
	};
	memcpy(at->comm, rec->comm, sizeof(at->comm));
	at->comm[sizeof(at->comm) - 1] = 0;
	return 0;
}

/* The iterator hands out whole records, but a read may end inside one. */
static int drain(int fd, struct holders *h)
{
	char buf[64 * sizeof(struct gs_holder_rec)];
	struct gs_holder_rec rec;
	size_t have = 0, at;
	ssize_t n;
	int r;

	for (;;) {
		n = read(fd, buf + have, sizeof(buf) - have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		have += n;
		for (at = 0; at + sizeof(rec) <= have; at += sizeof(rec)) {
			memcpy(&rec, buf + at, sizeof(rec));
			if (!rec.pid) /* outside the table's pid namespace */
				continue;
			r = add(h, &rec);
			if (r < 0)
				return r;
		}
		memmove(buf, buf + at, have - at);
		have -= at;
	}
}

int gs_holders_of(struct gs_observe *o, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err)
{
	union bpf_iter_link_info info = { .task = { .pid = pid } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	CLEANUP(holders_free) struct holders h = {};
	CLEANUP_FD int link = -1, iter = -1;
	int r;

	link = bpf_link_create(o->fd[GS_PIN_iter_holders], 0, BPF_TRACE_ITER, pid ? &opts : NULL);
	if (link < 0) {
		if (pid && errno == ESRCH) {
			*ret = NULL;
			*ret_n = 0;
			return 0;
		}
		return gs_fail(err, -errno, "cannot walk open files: %s", strerror(errno));
	}
	iter = bpf_iter_create(link);
	if (iter < 0)
		return gs_fail(err, -errno, "cannot walk open files: %s", strerror(errno));
	r = drain(iter, &h);
	if (r < 0)
		return gs_fail(err, r, "cannot read the list of open files: %s", strerror(-r));
	*ret = TAKE_PTR(h.all);
	*ret_n = h.n;
	return 0;
}

int gs_holders_read(struct gs_observe *o, struct gs_holder **ret, size_t *ret_n,
		    struct gs_error *err)
{
	return gs_holders_of(o, 0, ret, ret_n, err);
}
