// SPDX-License-Identifier: MIT
/* holders.c - which processes hold NVIDIA files, by the task_file iterator */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "table/priv.h"
#include "taps/holders.h"
#include "taps/taps.h"

struct holders {
	struct gs_holder *all;
	size_t n, size;
};

static void holders_free(struct holders *h)
{
	free(h->all);
}

static int by_file(const void *x, const void *y)
{
	const struct gs_holder *a = x, *b = y;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return a->fd < b->fd ? -1 : a->fd > b->fd;
}

/* A process may have as many descriptors of one file as it likes: the first of them will do. */
static void keep_first(struct holders *h)
{
	size_t kept = 0;

	if (!h->n) /* no array */
		return;
	qsort(h->all, h->n, sizeof(*h->all), by_file);
	for (size_t i = 0; i < h->n; i++)
		if (!kept || h->all[i].file != h->all[kept - 1].file ||
		    h->all[i].pid != h->all[kept - 1].pid)
			h->all[kept++] = h->all[i];
	h->n = kept;
}

static int add(struct holders *h, const struct gs_holder_rec *rec)
{
	bool was_full = h->n == h->size;
	struct gs_holder *at;

	if (was_full)
		keep_first(h);
	if (was_full && h->n >= h->size / 2) {
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

int gs_holders_of(struct gs_table *t, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err)
{
	union bpf_iter_link_info info = { .task = { .pid = pid } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	CLEANUP(holders_free) struct holders h = {};
	CLEANUP_FD int link = -1, iter = -1;
	int r;

	link = bpf_link_create(t->fd[GS_PIN_iter_holders], 0, BPF_TRACE_ITER, pid ? &opts : NULL);
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
	keep_first(&h);
	*ret_n = h.n;
	*ret = TAKE_PTR(h.all);
	return 0;
}

const struct gs_holder *gs_holder_find(const struct gs_holder *all, size_t n, uint64_t file,
				       pid_t pid)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t at = from + (to - from) / 2;

		if (all[at].file < file || (all[at].file == file && all[at].pid < pid))
			from = at + 1;
		else
			to = at;
	}
	if (from == n || all[from].file != file || (pid && all[from].pid != pid))
		return NULL;
	return &all[from];
}

void gs_holders_sort(struct gs_holder *all, size_t n)
{
	if (n)
		qsort(all, n, sizeof(*all), by_file);
}

int gs_holders_read(struct gs_table *t, struct gs_holder **ret, size_t *ret_n, struct gs_error *err)
{
	return gs_holders_of(t, 0, ret, ret_n, err);
}
