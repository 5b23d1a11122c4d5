// SPDX-License-Identifier: MIT
/* host.c - checks the kernel, this process's rights, and the needs of the simulated GPU */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/error.h"
#include "basic/json_sheet.h"
#include "config/config.h"
#include "gate/gate.h"
#include "gpusched/gpusched.h"
#include "launch/launch.h"
#include "local/ask.h"
#include "local/local.h"
#include "probe/probe.h"
#include "rm/way.h"
#include "table/table.h"
#include "taps/taps.h"

static void good(struct gs_probe *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void good(struct gs_probe *k, const char *format, ...)
{
	va_list ap;

	k->ok = true;
	va_start(ap, format);
	vsnprintf(k->detail, sizeof(k->detail), format, ap);
	va_end(ap);
}

static void bad(struct gs_probe *k, const char *remedy, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
static void bad(struct gs_probe *k, const char *remedy, const char *format, ...)
{
	va_list ap;

	k->ok = false;
	va_start(ap, format);
	vsnprintf(k->detail, sizeof(k->detail), format, ap);
	va_end(ap);
	snprintf(k->remedy, sizeof(k->remedy), "%s", remedy);
}

static const struct {
	unsigned int cap;
	const char *name;
} needed_caps[] = {
	{ CAP_SYS_ADMIN, "CAP_SYS_ADMIN" }, { CAP_SYS_PTRACE, "CAP_SYS_PTRACE" },
	{ CAP_SYS_NICE, "CAP_SYS_NICE" },   { CAP_BPF, "CAP_BPF" },
	{ CAP_PERFMON, "CAP_PERFMON" },
};

void gs_probe_host_root(struct gs_probe *k)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = {};
	char missing[160] = "";
	size_t at = 0;

	if (syscall(SYS_capget, &head, data)) {
		bad(k, "run it as root", "capabilities cannot be read: %s", strerror(errno));
		return;
	}
	for (size_t i = 0; i < GS_COUNT(needed_caps); i++) {
		unsigned int cap = needed_caps[i].cap;

		if (!(data[cap / 32].effective & (1u << (cap % 32))))
			at += (size_t)snprintf(missing + at, sizeof(missing) - at, "%s%s",
					       at ? ", " : "", needed_caps[i].name);
	}
	if (at)
		bad(k, "run it as root (in a container: with --privileged)", "uid %d without %s",
		    geteuid(), missing);
	else
		good(k, "uid %d with the capabilities needed", geteuid());
}

void gs_probe_host_btf(struct gs_probe *k)
{
	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		good(k, "the kernel has type information");
	else
		bad(k, "use a kernel built with CONFIG_DEBUG_INFO_BTF (Debian's and Ubuntu's are)",
		    "/sys/kernel/btf/vmlinux: %s", strerror(errno));
}

/* The driver tells of its errors there, and nowhere else. */
void gs_probe_host_kmsg(struct gs_probe *k)
{
	CLEANUP_FD int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) >= 0)
		good(k, "the kernel's log can be read: the driver's errors (Xids) are seen");
	else
		bad(k,
		    "run it as root with CAP_SYSLOG; in a container, give it /dev/kmsg; without "
		    "that no program goes into quarantine after an Xid",
		    "the kernel's log cannot be read: %s", strerror(errno));
}

static int silent(enum libbpf_print_level level, const char *format, va_list ap)
{
	return 0;
}

void gs_probe_host_bpf(struct gs_probe *k)
{
	/* r0 = 0; exit */
	static const struct bpf_insn prog[] = { { .code = 0xb7 }, { .code = 0x95 } };
	libbpf_print_fn_t before = libbpf_set_print(silent);
	CLEANUP_FD int fd = -1;

	fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, "gs_probe", "GPL", prog, GS_COUNT(prog),
			   NULL);
	libbpf_set_print(before);
	if (fd >= 0)
		good(k, "BPF programs for tracepoints load");
	else if (fd == -EPERM)
		bad(k,
		    "run it as root; in a container with CAP_BPF and CAP_PERFMON and bpf() allowed",
		    "the kernel refuses BPF programs: %s", strerror(-fd));
	else
		bad(k, "use a kernel built with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS",
		    "no BPF program loads: %s", strerror(-fd));
}

void gs_probe_host_references(struct gs_probe *k)
{
	if (gs_taps_see_references())
		good(k, "a TSG is listed until its file is closed; where no process holds it (in a "
			"message, a ring, a mapping) nobody can call it");
	else
		bad(k,
		    "nothing: such a TSG is listed again at the first call that "
		    "uses "
		    "it",
		    "a TSG whose file no process holds (in a message, a ring, a mapping) is not "
		    "seen");
}

void gs_probe_host_bpffs(struct gs_probe *k)
{
	char path[256], *slash;
	struct statfs fs;

	snprintf(path, sizeof(path), "%s", gs_env()->bpffs);
	slash = strrchr(path, '/');
	if (slash)
		*slash = '\0';
	if (!statfs(path, &fs) && (unsigned long)fs.f_type == (unsigned long)BPF_FS_MAGIC)
		good(k, "%s", path);
	else
		bad(k, "mount -t bpf bpf /sys/fs/bpf (observe on does it where it may)",
		    "%s is not a bpf file system", path);
}

void gs_probe_host_pidfd(struct gs_probe *k)
{
	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	CLEANUP_FD int fd = -1;

	if (pidfd >= 0)
		fd = (int)syscall(SYS_pidfd_getfd, pidfd, pidfd, 0);
	if (fd >= 0 && gs_rm_borrow_unreachable_here())
		good(k, "descriptors can be borrowed from a process whose main thread lives: for "
			"others, Linux 6.9 is needed");
	else if (fd >= 0)
		good(k, "descriptors can be borrowed from a process");
	else
		bad(k, "use Linux 5.6 or later, and allow pidfd_getfd in the container's profile",
		    "pidfd_getfd: %s", strerror(errno));
}

void gs_probe_host_fuse(struct gs_probe *k)
{
	CLEANUP_FD int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);

	if (fd >= 0)
		good(k, "/dev/fuse opens");
	else
		bad(k,
		    errno == EACCES || errno == EPERM
			    ? "run it as root"
			    : "modprobe fuse; in a container: --device /dev/fuse",
		    "/dev/fuse: %s", strerror(errno));
}

/* Tries, in a child process, to make a private mount namespace and to mount a file system there. */
void gs_probe_host_namespace(struct gs_probe *k)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0) {
		if (unshare(CLONE_NEWNS))
			_exit(errno);
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(errno);
		if (mount("probe", "/tmp", "tmpfs", 0, NULL))
			_exit(errno);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		bad(k, "free some memory or processes", "fork: %s", strerror(errno));
	else if (WEXITSTATUS(status))
		bad(k, "run it as root (in a container: with --privileged)",
		    "no private mount namespace: %s", strerror(WEXITSTATUS(status)));
	else
		good(k, "private mount namespaces work");
}

void gs_probe_host_gate(struct gs_probe *k)
{
	struct gs_error why = { 0 };

	if (gs_gate_there())
		good(k, "holds stop a process before the driver sees its call");
	else if (!gs_gate_probe(&why))
		good(k, "holds can stop a process before the driver sees its call");
	else
		bad(k,
		    "nothing: a policy's hold suspends TSGs instead, and policies "
		    "that deny are refused",
		    "no gate: %s", why.text);
}

void gs_probe_host_config(struct gs_probe *k)
{
	struct gs_declared made = { NULL };
	struct gs_config *c = NULL;
	struct gs_error err = { 0 };
	const struct gs_texts *left;

	if (gs_config_load_start(NULL, &c, &err) ||
	    gs_config_declare(c, GS_NAMING_KEEP, &made, &err)) {
		bad(k, "mend it: the daemon does not start without it", "%s", err.text);
		gs_config_free(c);
		return;
	}
	left = c->left_out.n ? &c->left_out : &made.waiting;
	if (left->n)
		bad(k, "mend the line: gpuschedd --check-config says whether all is well", "%s: %s",
		    left->at[0], left->text[0]);
	else
		good(k, "gpusched.conf has no mistake");
	gs_config_declared_done(&made);
	gs_config_free(c);
}

/*
 * True if users' programs may be probed for launches, according to the running daemon, or without
 * one according to the configuration.
 */
static bool users_are_trusted(void)
{
	CLEANUP(gs_closep) struct gpusched *g = NULL;
	CLEANUP_JSON json_t *st = NULL;
	CLEANUP_FREE char *answer = NULL;
	const char *why;

	if (!gs_probe_daemon_mute(&why) && !gs_local_open(GS_LOCAL_READ_ONLY, &g) &&
	    !gpusched_request(g, "observe_launches", NULL, &answer))
		st = json_loads(answer, 0, NULL);
	return json_is_true(json_object_get(st, "trusted"));
}

void gs_probe_host_uprobes(struct gs_probe *k)
{
	struct gs_error why = { 0 };

	if (access("/sys/bus/event_source/devices/uprobe/type", R_OK))
		bad(k,
		    "use a kernel built with CONFIG_UPROBE_EVENTS; launches are not counted "
		    "without",
		    "no uprobes");
	else if (gs_launches_allowed(users_are_trusted(), &why))
		bad(k, "nothing: launches are not counted", "%s", why.text);
	else
		good(k, "launches can be counted");
}

void gs_probe_host_sim_missing(char *ret, size_t size)
{
	static const struct {
		const char *name;
		void (*fn)(struct gs_probe *k);
	} needs[] = {
		{ "root", gs_probe_host_root },
		{ "BTF", gs_probe_host_btf },
		{ "BPF", gs_probe_host_bpf },
		{ "FUSE", gs_probe_host_fuse },
		{ "mount namespaces", gs_probe_host_namespace },
	};
	/* inside a simulation (sim shell), only root matters: the others passed when it began */
	size_t n = gs_env()->sim ? 1 : GS_COUNT(needs), at = 0;

	ret[0] = '\0';
	for (size_t i = 0; i < n; i++) {
		struct gs_probe k = {};

		needs[i].fn(&k);
		if (!k.ok && at < size)
			at += (size_t)snprintf(ret + at, size - at, "%s%s (%s)",
					       at ? "; " : "missing here: ", needs[i].name,
					       k.detail);
	}
}

int gs_probe_host_need_gpu(const char *verb, struct gs_error *err)
{
	struct gs_probe root = {}, driver = {};

	gs_probe_host_root(&root);
	gs_probe_gpu_driver(&driver);
	if (!root.ok)
		return gs_fail(err, -EPERM, "%s: %s: %s", verb, root.detail, root.remedy);
	if (!driver.ok)
		return gs_fail(err, -ENODEV, "%s: driver %s: %s", verb, driver.detail,
			       driver.remedy);
	return 0;
}
