// SPDX-License-Identifier: MIT
/* holders.c - finds which processes hold NVIDIA files, with the task_file iterator */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "table/priv.h"
#include "taps/holders.h"
#include "taps/taps.h"

/* An open iterator and its read buffer. A read() may end in the middle of a record. */
struct walk {
	int fd;
	char buf[64 * sizeof(struct gs_holder_rec)];
	size_t have;
};

struct list {
	struct gs_holder *all;
	size_t n, size;
};

static void list_free(struct list *h)
{
	free(h->all);
}

static void walk_end(struct walk *w)
{
	if (w->fd >= 0)
		close(w->fd);
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

/*
 * Keeps only the first descriptor per file and process, since a process may have any number of
 * them.
 */
static void keep_first(struct list *h)
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

static int add(const struct gs_holder_rec *rec, void *user)
{
	struct list *h = user;
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

/* Calls @fn for each record until it returns non-zero, and returns that value; 0 at the end. */
static int drain(struct walk *w, int (*fn)(const struct gs_holder_rec *rec, void *user), void *user)
{
	struct gs_holder_rec rec;
	size_t at;
	ssize_t n;
	int r;

	for (;;) {
		n = read(w->fd, w->buf + w->have, sizeof(w->buf) - w->have);
		if (n < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (n <= 0)
			return n < 0 ? -errno : 0;
		w->have += (size_t)n;
		for (at = 0; at + sizeof(rec) <= w->have; at += sizeof(rec)) {
			memcpy(&rec, w->buf + at, sizeof(rec));
			if (!rec.pid) /* the process is outside the table's pid namespace */
				continue;
			r = fn(&rec, user);
			if (r)
				return r;
		}
		memmove(w->buf, w->buf + at, w->have - at);
		w->have -= at;
	}
}

/* @pid 0: all processes. -ESRCH: the process is gone. */
static int begin(struct gs_table *t, pid_t pid, struct walk *ret)
{
	union bpf_iter_link_info info = { .task = { .pid = pid } };
	LIBBPF_OPTS(bpf_link_create_opts, opts, .iter_info = &info, .iter_info_len = sizeof(info));
	CLEANUP_FD int link =
		bpf_link_create(t->fd[GS_PIN_iter_holders], 0, BPF_TRACE_ITER, pid ? &opts : NULL);

	ret->have = 0;
	ret->fd = link < 0 ? -1 : bpf_iter_create(link);
	return ret->fd < 0 ? -errno : 0;
}

int gs_holders_add(struct gs_table *t, pid_t pid, struct gs_holder **inout, size_t *inout_n,
		   struct gs_error *err)
{
	CLEANUP(list_free) struct list h = {};
	struct walk w CLEANUP(walk_end) = { .fd = -1 };
	struct gs_holder *all;
	int r = begin(t, pid, &w);

	if (pid && r == -ESRCH)
		return 0;
	if (r)
		return gs_fail(err, r, "cannot walk open files: %s", strerror(-r));
	r = drain(&w, add, &h);
	if (r)
		return gs_fail(err, r, "cannot read the list of open files: %s", strerror(-r));
	keep_first(&h);
	if (!h.n)
		return 0;
	all = reallocarray(*inout, *inout_n + h.n, sizeof(*all));
	if (!all)
		return -ENOMEM;
	memcpy(all + *inout_n, h.all, h.n * sizeof(*all));
	*inout = all;
	*inout_n += h.n;
	return 0;
}

struct search {
	uint64_t file;
	int fd;
};

static int is_it(const struct gs_holder_rec *rec, void *user)
{
	struct search *s = user;

	if (rec->file != s->file)
		return 0;
	s->fd = (int)rec->fd;
	return 1;
}

int gs_holders_find_fd(void *table, pid_t pid, uint64_t file)
{
	struct search s = { .file = file, .fd = -EBADF };
	struct walk w CLEANUP(walk_end) = { .fd = -1 };
	int r = begin(table, pid, &w);

	if (!r)
		r = drain(&w, is_it, &s);
	return r < 0 ? r : s.fd;
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

int gs_holders_of(struct gs_table *t, pid_t pid, struct gs_holder **ret, size_t *ret_n,
		  struct gs_error *err)
{
	*ret = NULL;
	*ret_n = 0;
	return gs_holders_add(t, pid, ret, ret_n, err);
}
