/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "sim/fuse_priv.h"

#define INO_ROOT 1
#define INO_STATE 5
#define INO_FAULTS 6
#define INO_XID 7
#define INO_GPU0 16
#define FOREVER 3600.0

static const char *const fixed_names[] = { "nvidiactl",  "nvidia-uvm", "nvidia-uvm-tools",
					   "state.json", "faults",     "xid" };
#define FIRST_FIXED 2

/* ---- files ---------------------------------------------------------------------------------- */

static struct sim_server *server(fuse_req_t req)
{
	return fuse_req_userdata(req);
}

static bool name_of(const struct sim_server *s, fuse_ino_t ino, char ret[32])
{
	if (ino >= FIRST_FIXED && ino - FIRST_FIXED < GS_COUNT(fixed_names)) {
		snprintf(ret, 32, "%s", fixed_names[ino - FIRST_FIXED]);
		return true;
	}
	if (ino >= INO_GPU0 && ino - INO_GPU0 < s->config->rm.gpus) {
		snprintf(ret, 32, "nvidia%u", (unsigned int)(ino - INO_GPU0));
		return true;
	}
	return false;
}

static fuse_ino_t ino_after(const struct sim_server *s, fuse_ino_t ino)
{
	char name[32];

	for (ino++; ino < INO_GPU0 + SIM_MAX_GPUS; ino++)
		if (name_of(s, ino, name))
			return ino;
	return 0;
}

static bool attributes(const struct sim_server *s, fuse_ino_t ino, struct stat *st)
{
	char name[32];

	memset(st, 0, sizeof(*st));
	st->st_ino = ino;
	st->st_nlink = ino == INO_ROOT ? 2 : 1;
	st->st_mode = ino == INO_ROOT    ? S_IFDIR | 0755
		      : ino == INO_STATE ? S_IFREG | 0444
		      : ino == INO_XID   ? S_IFREG | 0600
					 : S_IFREG | 0666;
	return ino == INO_ROOT || name_of(s, ino, name);
}

static void on_lookup(fuse_req_t req, fuse_ino_t parent, const char *name)
{
	struct sim_server *s = server(req);
	struct fuse_entry_param e = { .attr_timeout = FOREVER, .entry_timeout = FOREVER };
	char n[32];

	for (fuse_ino_t i = ino_after(s, INO_ROOT); parent == INO_ROOT && i; i = ino_after(s, i))
		if (name_of(s, i, n) && !strcmp(n, name)) {
			e.ino = i;
			attributes(s, i, &e.attr);
			fuse_reply_entry(req, &e);
			return;
		}
	fuse_reply_err(req, ENOENT);
}

static void on_getattr(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct stat st;

	if (attributes(server(req), ino, &st))
		fuse_reply_attr(req, &st, FOREVER);
	else
		fuse_reply_err(req, ENOENT);
}

static void on_setattr(fuse_req_t req, fuse_ino_t ino, struct stat *attr, int to_set,
		       struct fuse_file_info *fi)
{
	on_getattr(req, ino, fi);
}

static void on_readdir(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		       struct fuse_file_info *fi)
{
	struct sim_server *s = server(req);
	char buf[4096], name[32];
	size_t used = 0;
	struct stat st;

	if (size > sizeof(buf))
		size = sizeof(buf);
	for (fuse_ino_t i = ino_after(s, off ? (fuse_ino_t)off : INO_ROOT); i;
	     i = ino_after(s, i)) {
		size_t n;

		attributes(s, i, &st);
		name_of(s, i, name);
		n = fuse_add_direntry(req, buf + used, size - used, name, &st, (off_t)i);
		if (n > size - used)
			break;
		used += n;
	}
	fuse_reply_buf(req, buf, used);
}

static int open_device(struct sim_server *s, fuse_req_t req, fuse_ino_t ino, struct handle *h)
{
	static const enum sim_node nodes[] = { SIM_NODE_CTL, SIM_NODE_UVM, SIM_NODE_UVM_TOOLS };
	struct sim_caller c;

	sim_caller_fill(&c, req, true);
	if (ino >= INO_GPU0)
		return sim_rm_open(s->rm, SIM_NODE_GPU, (unsigned int)(ino - INO_GPU0), &c,
				   &h->file);
	return sim_rm_open(s->rm, nodes[ino - FIRST_FIXED], 0, &c, &h->file);
}

static void on_open(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct sim_server *s = server(req);
	struct handle *h = calloc(1, sizeof(*h));
	int r = 0;

	if (!h) {
		fuse_reply_err(req, ENOMEM);
		return;
	}
	if (ino == INO_STATE) {
		h->text = sim_rm_state_json(s->rm);
		h->size = h->text ? strlen(h->text) : 0;
		r = h->text ? 0 : -ENOMEM;
		fi->direct_io = 1;
	} else if (ino == INO_FAULTS) {
		fi->direct_io = 1;
	} else if (ino == INO_XID) {
		fi->direct_io = 1;
		r = fuse_req_ctx(req)->uid ? -EACCES : 0;
	} else {
		r = open_device(s, req, ino, h);
	}
	if (r < 0) {
		free(h);
		fuse_reply_err(req, -r);
		return;
	}
	fi->fh = (uintptr_t)h;
	fuse_reply_open(req, fi);
}

static void on_release(fuse_req_t req, fuse_ino_t ino, struct fuse_file_info *fi)
{
	struct sim_server *s = server(req);
	struct handle *h = (struct handle *)(uintptr_t)fi->fh;

	if (h->file) {
		sim_rm_release(s->rm, h->file);
		sim_rings_detach(s->rings, h->file);
	}
	for (unsigned int i = 0; i < h->ndoorbells; i++) {
		/*
		 * remove it by name: the client may still hold the doorbell open, and the kernel
		 * would go on watching it
		 */
		epoll_ctl(s->epoll, EPOLL_CTL_DEL, h->doorbells[i], NULL);
		close(h->doorbells[i]);
	}
	free(h->doorbells);
	free(h->text);
	free(h);
	fuse_reply_err(req, 0);
}

static void on_read(fuse_req_t req, fuse_ino_t ino, size_t size, off_t off,
		    struct fuse_file_info *fi)
{
	struct handle *h = (struct handle *)(uintptr_t)fi->fh;

	if (!h->text)
		fuse_reply_err(req, EINVAL);
	else if ((size_t)off >= h->size)
		fuse_reply_buf(req, NULL, 0);
	else
		fuse_reply_buf(req, h->text + off, size < h->size - off ? size : h->size - off);
}

/* A test writes which controls fail from now on, or asks for an error in the kernel's log. */
static void on_write(fuse_req_t req, fuse_ino_t ino, const char *buf, size_t size, off_t off,
		     struct fuse_file_info *fi)
{
	char line[256];
	int r = -EINVAL;

	snprintf(line, sizeof(line), "%.*s", (int)(size < sizeof(line) ? size : sizeof(line)), buf);
	if (ino == INO_XID)
		r = sim_klog_asked(&server(req)->klog, line);
	else if (ino == INO_FAULTS && !sim_rm_faults(server(req)->rm, buf, size, NULL))
		r = 0;
	if (r)
		fuse_reply_err(req, -r);
	else
		fuse_reply_write(req, size);
}

static void on_ioctl(fuse_req_t req, fuse_ino_t ino, unsigned int cmd, void *arg,
		     struct fuse_file_info *fi, unsigned int flags, const void *in, size_t in_size,
		     size_t out_size)
{
	struct handle *h = (struct handle *)(uintptr_t)fi->fh;

	if (!h->file)
		fuse_reply_err(req, ENOTTY);
	else
		sim_call_start(server(req), req, h, cmd, in, in_size, out_size);
}

static const struct fuse_lowlevel_ops ops = {
	.lookup = on_lookup,
	.getattr = on_getattr,
	.setattr = on_setattr,
	.readdir = on_readdir,
	.open = on_open,
	.release = on_release,
	.read = on_read,
	.write = on_write,
	.ioctl = on_ioctl,
};

/* ---- time ----------------------------------------------------------------------------------- */

static uint64_t next_event(const struct sim_server *s)
{
	uint64_t next = sim_model_next(s->model), other = sim_rings_next(s->rings);

	if (other < next)
		next = other;
	other = sim_rm_next(s->rm);
	if (other < next)
		next = other;
	other = sim_calls_next(s);
	return other < next ? other : next;
}

/* Waits for the next event, a request or a signal. Returns as epoll_wait() does. */
static int sleep_until(const struct sim_server *s, uint64_t next, struct epoll_event *ev, int max)
{
	uint64_t now = gs_now_ns(), real;
	struct timespec rest = { 0 };

	if (next == UINT64_MAX)
		return epoll_wait(s->epoll, ev, max, -1);
	real = sim_ring_clock_to_real(&s->clock, next);
	if (real > now) {
		rest.tv_sec = (time_t)((real - now) / NS_PER_S);
		rest.tv_nsec = (long)((real - now) % NS_PER_S);
	}
	return epoll_pwait2(s->epoll, ev, max, &rest, NULL);
}

/* Handles all events up to now, in order. Returns when the next one is. */
static uint64_t step(struct sim_server *s)
{
	uint64_t now = sim_ring_clock_now(&s->clock), next;

	if (now < sim_model_now(s->model))
		now = sim_model_now(s->model);
	sim_rings_run(s->rings, sim_model_now(s->model));
	while ((next = next_event(s)) <= now) {
		if (next < sim_model_now(s->model))
			next = sim_model_now(s->model);
		sim_model_advance(s->model, next);
		sim_rings_run(s->rings, next);
		sim_rm_run(s->rm, next);
		sim_calls_run(s, next);
	}
	sim_model_advance(s->model, now);
	sim_rings_run(s->rings, now);
	return next_event(s);
}

/* ---- loop ----------------------------------------------------------------------------------- */

static void serve_requests(struct sim_server *s)
{
	static struct fuse_buf buf; /* libfuse grows it once; it is used for all requests */

	while (!fuse_session_exited(s->session)) {
		int n = fuse_session_receive_buf(s->session, &buf);

		if (n == -EINTR)
			continue;
		if (n <= 0) {
			if (n != -EAGAIN)
				s->stop = true;
			return;
		}
		fuse_session_process_buf(s->session, &buf);
		step(s);
	}
	s->stop = true;
}

static void loop(struct sim_server *s, int sig)
{
	int fuse = fuse_session_fd(s->session);

	while (!s->stop) {
		struct epoll_event ev[16];
		int n;

		n = sleep_until(s, step(s), ev, GS_COUNT(ev));
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0)
			step(s);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.fd == fuse)
				serve_requests(s);
			else if (ev[i].data.fd == sig)
				s->stop = true;
		}
	}
}

static int watch(struct sim_server *s, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.fd = fd };

	return fd < 0 || epoll_ctl(s->epoll, EPOLL_CTL_ADD, fd, &ev) < 0 ? -errno : 0;
}

/* Raises our priority, so that the model's clock does not wait for CPU-bound programs. */
static void ask_priority(void)
{
	struct sched_param p = { .sched_priority = 10 }; /* above gsload's */

	sched_setscheduler(0, SCHED_RR | SCHED_RESET_ON_FORK, &p);
}

static void on_done(void *user, struct sim_channel *ch, uint64_t cookie, uint64_t ns)
{
	struct sim_server *s = user;

	sim_rings_done(s->rings, ch, cookie, ns);
}

static void on_switch(void *user, const struct sim_switch *sw)
{
	struct sim_server *s = user;

	sim_rm_switched(s->rm, sw);
}

static int make_parts(struct sim_server *s)
{
	const struct sim_model_ops mops = { .on_done = on_done, .on_switch = on_switch, .user = s };
	struct sim_rm_config rm = s->config->rm;
	int r = sim_rings_new(NULL, &s->clock, &s->rings);

	if (r < 0)
		return r;
	r = sim_model_new(&s->config->params, s->config->rm.gpus, s->config->seed, &mops,
			  &s->model);
	if (r < 0)
		return r;
	rm.copy_engines = s->config->params.copy_engines;
	if (!rm.mig && s->config->params.gr_engines > 1)
		rm.mig = s->config->params.gr_engines;
	r = sim_rm_new(&rm, s->model, &s->rm);
	if (r < 0)
		return r;
	sim_rings_bind(s->rings, s->model, s->rm);
	sim_rm_on_channel_gone(s->rm, sim_rings_channel_gone, s->rings);
	return 0;
}

static int mount_session(struct sim_server *s, struct gs_error *err)
{
	char *argv[] = { "gpusched-sim", "-o", "allow_other,fsname=gpusched-sim", NULL };
	struct fuse_args args = FUSE_ARGS_INIT(3, argv);
	int fd;

	s->session = fuse_session_new(&args, &ops, sizeof(ops), s);
	fuse_opt_free_args(&args);
	if (!s->session)
		return gs_fail(err, -ENOMEM, "cannot start a FUSE session");
	if (fuse_session_mount(s->session, s->config->mountpoint))
		return gs_fail(err, -ENOTSUP, "cannot mount FUSE on %s: is /dev/fuse usable here?",
			       s->config->mountpoint);
	fd = fuse_session_fd(s->session);
	return fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK) < 0 ? -errno : 0;
}

static int serve(struct sim_server *s, int ready_fd, struct gs_error *err)
{
	CLEANUP_FD int sig = -1;
	sigset_t mask;
	int r;

	sigemptyset(&mask);
	sigaddset(&mask, SIGTERM);
	sigaddset(&mask, SIGINT);
	sigprocmask(SIG_BLOCK, &mask, NULL);
	sig = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	r = mount_session(s, err);
	if (r < 0)
		return r;
	r = watch(s, sig);
	if (r == 0)
		r = watch(s, fuse_session_fd(s->session));
	if (r < 0)
		return gs_fail(err, r, "cannot watch the simulator's files");
	ask_priority();
	if (write(ready_fd, "R", 1) != 1)
		return gs_fail(err, -EPIPE, "whoever started the simulator is gone");
	close(ready_fd);
	loop(s, sig);
	return 0;
}

int sim_fuse_run(const struct sim_server_config *config, int ready_fd, struct gs_error *err)
{
	struct sim_server s = { .config = config };
	int r;

	s.clock.start_ns = gs_now_ns();
	s.clock.dilate = config->dilate;
	s.epoll = epoll_create1(EPOLL_CLOEXEC);
	sim_klog_open(&s.klog, config->mountpoint);
	r = make_parts(&s);
	if (r < 0)
		gs_fail(err, r, "cannot make the simulated GPU: %s", strerror(-r));
	else
		r = serve(&s, ready_fd, err);
	sim_calls_free(&s);
	if (s.session) {
		fuse_session_unmount(s.session);
		fuse_session_destroy(s.session);
	}
	sim_rm_free(s.rm);
	sim_model_free(s.model);
	sim_rings_free(s.rings);
	sim_klog_close(&s.klog);
	close(s.epoll);
	return r;
}
