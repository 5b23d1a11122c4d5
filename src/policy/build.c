// SPDX-License-Identifier: MIT
/*
 * build.c - clang over a policy's source, and a skeleton to start from
 */
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "policy/priv.h"

extern char **environ;

/* Runs @argv with stderr collected into @out; exit status or -errno. */
static int run_tool(char *const argv[], char *out, size_t size)
{
	posix_spawn_file_actions_t actions;
	CLEANUP_FD int rd = -1;
	int fds[2], status, r;
	size_t at = 0;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	rd = fds[0];
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 2);
	r = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (r)
		return -r;
	for (;;) {
		char waste[512];
		bool full = at + 1 >= size;
		ssize_t n = read(rd, full ? waste : out + at, full ? sizeof(waste) : size - 1 - at);

		if (n <= 0)
			break;
		if (!full)
			at += (size_t)n;
	}
	out[at] = '\0';
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* The compiler's first complaint, as one line. */
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

static int check_source(const char *source, char *include, size_t size, struct gs_error *err)
{
	size_t n = strlen(source);

	if (n < 7 || strcmp(source + n - 6, ".bpf.c"))
		return gs_fail(err, -EINVAL, "'%s' is no policy source: NAME.bpf.c", source);
	if (access(source, R_OK) < 0)
		return gs_fail(err, -errno, "%s: %s", source, strerror(errno));
	if (gs_policy_include_dir(include, size) < 0)
		return gs_fail(err, -ENOENT,
			       "gpusched/policy.bpf.h not found: install gpusched's "
			       "headers or set GPUSCHED_INCLUDE");
	return 0;
}

static int verdict(int r, const char *source, const char *tool, char *out, struct gs_error *err)
{
	if (r == -ENOENT || r == 127)
		return gs_fail(err, -ENOENT, "%s is missing: apt-get install %s", tool, tool);
	if (r < 0)
		return gs_fail(err, r, "%s cannot be started: %s", tool, strerror(-r));
	if (r > 0) {
		first_error(out);
		return gs_fail(err, -EINVAL, "%s does not compile: %.400s", source, out);
	}
	return 0;
}

int gs_policy_build(const char *source, const char *output, struct gs_error *err)
{
	static const char *const compilers[] = { "clang-14", "clang" };
	char include[PATH_MAX], inc_arg[PATH_MAX + 2], def[PATH_MAX], out[8192] = "";
	int r = check_source(source, include, sizeof(include), err);

	if (r < 0)
		return r;
	if (!output) {
		snprintf(def, sizeof(def), "%.*so", (int)strlen(source) - 1, source);
		output = def;
	}
	snprintf(inc_arg, sizeof(inc_arg), "-I%s", include);
	r = -ENOENT;
	for (size_t i = 0; i < GS_COUNT(compilers) && r == -ENOENT; i++) {
		char *argv[] = { (char *)(uintptr_t)compilers[i],
				 "-g",
				 "-O2",
				 "-target",
				 "bpf",
				 "-mcpu=v3",
				 "-D__TARGET_ARCH_x86",
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
	return verdict(r, source, "clang-14", out, err);
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
			 inc_arg,
			 "-x",
			 "c",
			 (char *)(uintptr_t)source,
			 "-o",
			 (char *)(uintptr_t)output,
			 NULL };
	int r = check_source(source, include, sizeof(include), err);

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
	" *                 gpusched sim run lcbe-1be --policy ./%1$s.bpf.c\n"
	" *                 gpusched policy start ./%1$s.bpf.o -o slice_us=300\n"
	" */\n"
	"#include <gpusched/policy.bpf.h>\n"
	"\n"
	"/* name, tick every 100 ms (0: none), a round may take 100 ms, flags */\n"
	"GPUSCHED_POLICY(%1$s, 100000, 100, 0);\n"
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
	" * back. The other callbacks (init exit schedule timeslice_set work_submit task_destroy\n"
	" * tick_begin tick tick_end) are described in gpusched/policy.bpf.h; each may be left "
	"out.\n"
	" */\n"
	"GPUSCHED_TASK_INIT(t)\n"
	"{\n"
	"\tgs_u64 one = 1, *met;\n"
	"\n"
	"\tmet = gpusched_lookup(%1$s_met, &t->class_id);\n"
	"\tif (met)\n"
	"\t\tgpusched_add(met, 1);\n"
	"\telse\n"
	"\t\tgpusched_update(%1$s_met, &t->class_id, &one);\n"
	"\n"
	"\tif (t->kind == GPUSCHED_KIND_COMPUTE && t->class_id == GPUSCHED_CLASS_BE)\n"
	"\t\tgpusched_want_timeslice(t, slice_us);\n"
	"\telse\n"
	"\t\tgpusched_want_default(t, GPUSCHED_ALL_SETTINGS);\n"
	"\treturn 0;\n"
	"}\n"
	"\n"
	"/* Every TSG, every tick period. */\n"
	"GPUSCHED_TICK(t, round)\n"
	"{\n"
	"\tt->priv[0] = round->now_ns;\n"
	"\treturn 0;\n"
	"}\n";

int gs_policy_new(const char *name, struct gs_error *err)
{
	CLEANUP_FILE FILE *f = NULL;
	char path[64];

	if (!gs_policy_name_ok(name))
		return gs_fail(err, -EINVAL,
			       "'%s' is no policy's name: letters, digits and _, at most %d", name,
			       GS_POLICY_NAME_LEN - 1);
	snprintf(path, sizeof(path), "%s.bpf.c", name);
	f = fopen(path, "wxe");
	if (!f)
		return gs_fail(err, -errno,
			       errno == EEXIST ? "%s is there already" : "%s cannot be written",
			       path);
	if (fprintf(f, skeleton, name) < 0 || fflush(f) != 0)
		return gs_fail(err, -EIO, "%s: %s", path, strerror(errno));
	return 0;
}
