// SPDX-License-Identifier: MIT
/*
 * build.c - compiles a policy's source with clang, and writes a skeleton for a new one
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/file.h"
#include "basic/log.h"
#include "policy/build.h"
#include "policy/foreign.h"
#include "policy/priv.h"

/* Exit statuses of the child if it could not run the compiler, as in a shell. */
#define NO_SUCH_TOOL 127
#define NO_START 126

/* Longest time for a compiler, which usually needs less than a second for a policy. */
#define TOOL_LIMIT_S 60
unsigned int gs_policy_build_limit_s = TOOL_LIMIT_S;

static struct {
	pthread_mutex_t lock;
	pid_t group; /* process group of the compiler; 0: none runs */
	bool forbidden;
} under_way = { .lock = PTHREAD_MUTEX_INITIALIZER };

void gs_policy_build_forbid(bool on)
{
	pthread_mutex_lock(&under_way.lock);
	under_way.forbidden = on;
	if (on && under_way.group)
		kill(-under_way.group, SIGKILL);
	pthread_mutex_unlock(&under_way.lock);
}

/* Runs in the child, in a new process group. The kernel kills the child if we die. */
static _Noreturn void exec_tool(char *const argv[], int err_fd)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (null >= 0)
		dup2(null, 0);
	dup2(err_fd, 2);
	execvp(argv[0], argv);
	_exit(errno == ENOENT ? NO_SUCH_TOOL : NO_START);
}

/*
 * Reads the tool's output into @out. Returns true when the tool has ended, or false if it still
 * runs at @end_ns.
 */
static bool listen_to_tool(int rd, int pidfd, uint64_t end_ns, char *out, size_t size)
{
	struct pollfd fds[] = { { .fd = rd, .events = POLLIN }, { .fd = pidfd, .events = POLLIN } };
	size_t at = 0;

	for (;;) {
		uint64_t now = gs_now_ns();
		char waste[512];
		bool full = at + 1 >= size;
		ssize_t n;

		if (now >= end_ns)
			return false;
		if (poll(fds, 2, (int)((end_ns - now) / NS_PER_MS) + 1) < 0) {
			if (errno != EINTR)
				return false;
			continue;
		}
		if (!fds[0].revents && fds[1].revents)
			return true;
		if (!fds[0].revents)
			continue;
		n = read(rd, full ? waste : out + at, full ? sizeof(waste) : size - 1 - at);
		if (n > 0)
			at += full ? 0 : (size_t)n;
		else if (pidfd < 0)
			/* without pidfds, the tool counts as ended when it closes its output */
			return true;
		else
			fds[0].fd = -1;
	}
}

/*
 * Runs @argv and collects its stderr in @out. Returns its exit status or -errno. When the tool has
 * ended, or at the time limit (-ETIME), its whole process group is killed.
 */
static int run_tool(char *const argv[], char *out, size_t size)
{
	uint64_t end = gs_now_ns() + gs_policy_build_limit_s * NS_PER_S;
	CLEANUP_FD int rd = -1, wr = -1, pidfd = -1;
	int fds[2], status, r = 0;
	pid_t pid;

	memset(out, 0, size);
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rd = fds[0];
	wr = fds[1];
	pthread_mutex_lock(&under_way.lock);
	pid = under_way.forbidden ? -1 : fork();
	if (!pid)
		exec_tool(argv, wr);
	if (pid < 0)
		r = under_way.forbidden ? -EINTR : -errno;
	if (pid > 0) {
		setpgid(pid, pid); /* the child does so too, since either may be first */
		under_way.group = pid;
	}
	pthread_mutex_unlock(&under_way.lock);
	if (pid < 0)
		return r;
	close(TAKE_FD(wr));
	pidfd = pidfd_open(pid, 0);
	if (!listen_to_tool(rd, pidfd, end, out, size))
		r = -ETIME;
	/* The child is still unreaped, so no other process can have its number. */
	pthread_mutex_lock(&under_way.lock);
	kill(-pid, SIGKILL);
	under_way.group = 0;
	pthread_mutex_unlock(&under_way.lock);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (r)
		return r;
	if (!WIFEXITED(status))
		return -EINTR;
	r = WEXITSTATUS(status);
	return r == NO_SUCH_TOOL ? -ENOENT : r == NO_START ? -EACCES : r;
}

/* Reduces the compiler's output to its first complaint, on one line. */
static void first_error(char *text)
{
	char *line = strstr(text, "error:"), *end;

	if (!line)
		line = text;
	while (line > text && line[-1] != '\n')
		line--;
	end = strchr(line, '\n');
	if (end)
		*end = '\0';
	memmove(text, line, strlen(line) + 1);
}

/* Logs warnings: constructs that compile nevertheless. */
static void tell_warnings(char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strstr(line, "warning:"))
			gs_log(LOG_WARNING, "%s", line);
}

/* A source of another kind would fail with some compiler's error, or be built for nothing. */
static int refuse_foreign(const char *source, struct gs_error *err)
{
	CLEANUP_FREE unsigned char *text = NULL;
	const char *is;
	size_t len;
	int r = gs_read_file(source, GS_MAX_OBJECT, &text, &len, NULL);

	if (r < 0)
		return gs_fail(err, r, "%s: %s", source, strerror(-r));
	is = gs_foreign_source((const char *)text, len);
	return is ? gs_fail(err, -ENOEXEC, "%s has %s", source, is) : 0;
}

static int check_source(const char *source, const char *output, char *include, size_t size,
			struct gs_error *err)
{
	struct stat from, to;
	size_t n = strlen(source);

	if (n < 7 || strcmp(source + n - 6, ".bpf.c"))
		return gs_fail(err, -EINVAL, "'%s' is not a policy source: NAME.bpf.c", source);
	if (access(source, R_OK) < 0 || stat(source, &from) < 0)
		return gs_fail(err, -errno, "%s: %s", source, strerror(errno));
	if (!S_ISREG(from.st_mode))
		return gs_fail(err, -ENOEXEC, "%s: not a regular file", source);
	if (stat(output, &to) == 0 && to.st_dev == from.st_dev && to.st_ino == from.st_ino)
		return gs_fail(err, -EINVAL, "%s: the object would be written over its source",
			       output);
	if (refuse_foreign(source, err))
		return -ENOEXEC;
	if (gs_policy_path_include(include, size) < 0)
		return gs_fail(err, -ENOENT,
			       "gpusched/policy.bpf.h not found: install gpusched's "
			       "headers or set GPUSCHED_INCLUDE");
	return 0;
}

static int verdict(int r, const char *source, const char *tool, char *out, struct gs_error *err)
{
	if (r == -ENOENT)
		return gs_fail(err, -ENOENT, "%s is missing: apt-get install %s", tool, tool);
	if (r == -ETIME)
		return gs_fail(err, r, "%s: the compiler has not ended within %u s and was killed",
			       source, gs_policy_build_limit_s);
	if (r == -EINTR)
		return gs_fail(err, r, "%s: the compiler was called off", source);
	if (r < 0)
		return gs_fail(err, r, "%s cannot be started: %s", tool, strerror(-r));
	if (r > 0) {
		first_error(out);
		return gs_fail(err, -ENOEXEC, "%s does not compile: %.400s", source, out);
	}
	tell_warnings(out);
	return 0;
}

int gs_policy_build(const char *source, const char *output, struct gs_error *err)
{
	static const char *const compilers[] = { GS_CLANG, GS_CLANGS };
	char include[PATH_MAX], inc_arg[PATH_MAX + 2], def[PATH_MAX], out[8192] = "";
	int r;

	if (!output) {
		snprintf(def, sizeof(def), "%.*so", (int)strlen(source) - 1, source);
		output = def;
	}
	r = check_source(source, output, include, sizeof(include), err);
	if (r < 0)
		return r;
	snprintf(inc_arg, sizeof(inc_arg), "-I%s", include);
	r = -ENOENT;
	for (size_t i = 0; i < GS_COUNT(compilers) && r == -ENOENT; i++) {
		char *argv[] = { (char *)(uintptr_t)compilers[i],
				 "-g",
				 "-O2",
				 "-target",
				 "bpf",
				 "-mcpu=v3",
				 "-D__TARGET_ARCH_" GS_ARCH,
				 "-Wall",
				 "-Wextra",
				 inc_arg,
				 "-I/usr/include/" GS_MULTIARCH,
				 "-c",
				 (char *)(uintptr_t)source,
				 "-o",
				 (char *)(uintptr_t)output,
				 NULL };

		r = run_tool(argv, out, sizeof(out));
	}
	return verdict(r, source, GS_CLANG, out, err);
}

int gs_policy_build_native(const char *source, const char *output, struct gs_error *err)
{
	char include[PATH_MAX], inc_arg[PATH_MAX + 2], out[8192] = "";
	char *argv[] = { "cc",
			 "-std=gnu11",
			 "-g",
			 "-O2",
			 "-fPIC",
			 "-shared",
			 "-DGPUSCHED_NATIVE",
			 "-Wreturn-type", /* a missing return would give an undefined answer */
			 inc_arg,
			 "-x",
			 "c",
			 (char *)(uintptr_t)source,
			 "-o",
			 (char *)(uintptr_t)output,
			 NULL };
	int r = check_source(source, output, include, sizeof(include), err);

	if (r < 0)
		return r;
	snprintf(inc_arg, sizeof(inc_arg), "-I%s", include);
	return verdict(run_tool(argv, out, sizeof(out)), source, "gcc", out, err);
}

static const char skeleton[] =
	"/* SPDX-License-Identifier: MIT OR GPL-2.0-only */\n"
	"/*\n"
	" * %1$s - say in one line what it does\n"
	" *\n"
	" * Does: as it stands, gives TSGs of class be a short timeslice and leaves all others "
	"alone.\n"
	" * Good for: a start.\n"
	" * Known weaknesses: every policy has some; write down what you find.\n"
	" *\n"
	" * Build and try:  gpusched policy build %1$s.bpf.c\n"
	" *                 gpusched policy check %1$s.bpf.c\n"
	" *                 gpusched sim run lcbe-1be --policy ./%1$s.bpf.c -o slice_us=1\n"
	" *                 gpusched policy start ./%1$s.bpf.o -o slice_us=300\n"
	" */\n"
	"#include <gpusched/policy.bpf.h>\n"
	"\n"
	"/* name, tick every 100 ms (0: none), a round may take 100 ms, flags */\n"
	"GPUSCHED_POLICY(%1$s, 100000, 100, 0);\n"
	"GPUSCHED_ABOUT(\"say here what policy list shows\");\n"
	"GPUSCHED_CLASSES(\"lc be\"); /* on which it acts */\n"
	"\n"
	"/* gpusched policy start %1$s -o slice_us=300; read it like a variable */\n"
	"GPUSCHED_OPTION_RANGE(gs_u32, slice_us, 500, 1, 100000, \"timeslice of be TSGs, us\");\n"
	"\n"
	"/* a map of your own: TSGs met per class */\n"
	"GPUSCHED_MAP(%1$s_met, HASH, gs_u32, gs_u64, 64);\n"
	"\n"
	"/*\n"
	" * A TSG is seen for the first time, or its class changed. Only t->want and t->priv are "
	"read\n"
	" * back. The other callbacks (init exit schedule timeslice_set work_submit request_begin\n"
	" * request_end task_destroy tick_begin tick tick_end) are described in "
	"gpusched/policy.bpf.h;\n"
	" * each may be left out.\n"
	" */\n"
	"GPUSCHED_TASK_INIT(t)\n"
	"{\n"
	"\tgs_u64 none = 0, *met;\n"
	"\n"
	"\tmet = gpusched_lookup_or_add(%1$s_met, &t->class_id, &none);\n"
	"\tif (met)\n"
	"\t\tgpusched_add(met, 1);\n"
	"\n"
	"\tif (t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE)\n"
	"\t\tgpusched_want_timeslice(t, slice_us);\n"
	"\telse\n"
	"\t\tgpusched_want_default(t, GPUSCHED_ALL_SETTINGS);\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"/*\n"
	" * Every TSG, every tick period. gpusched_preempt(t) takes it off the GPU once, "
	"gpusched_find(id, &m)\n"
	" * is another one's record, gpusched_limit(t, &l) its limit, gpusched_wall_ns() the time "
	"of day,\n"
	" * gpusched_park(t, min) takes its process's memory out for so many minutes:\n"
	" * gpusched/policy.bpf.h has all of them.\n"
	" */\n"
	"GPUSCHED_TICK(t, round)\n"
	"{\n"
	"\tt->priv[0] = round->now_ns;\n"
	"\treturn 0;\n"
	"}\n";

int gs_policy_build_skeleton(const char *name, struct gs_error *err)
{
	CLEANUP_FILE FILE *f = NULL;
	char path[64];

	if (!gs_policy_path_ok(name))
		return gs_fail(err, -EINVAL,
			       "'%s' is not a policy name: a letter, then letters, digits and _, "
			       "at most %d",
			       name, GS_POLICY_NAME_LEN - 1);
	if (strncmp(name, "gs_", 3) == 0 || strncmp(name, "gpusched_", 9) == 0)
		return gs_fail(err, -EINVAL,
			       "'%s': names that begin with gs_ or gpusched_ are the host's", name);
	snprintf(path, sizeof(path), "%s.bpf.c", name);
	f = fopen(path, "wxe");
	if (!f)
		return gs_fail(err, -errno,
			       errno == EEXIST ? "%s is there already" : "%s cannot be written",
			       path);
	if (fprintf(f, skeleton, name) < 0 || fflush(f) != 0) {
		gs_fail(err, -EIO, "%s: %s", path, strerror(errno));
		unlink(path); /* a file without content would mislead the next try */
		return -EIO;
	}
	return 0;
}
