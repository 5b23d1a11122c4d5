// SPDX-License-Identifier: MIT
#include "process/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/procfs.h"

#define PF_EXITING 0x4u /* the kernel's flag, in /proc/PID/stat */

int gs_proc_stat(pid_t pid, char *ret_state, uint64_t *ret_start_ns)
{
	char path[64], text[1024], *p;
	unsigned long long ticks = 0;
	CLEANUP_FD int fd = -1;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/%d/stat", gs_procfs(), (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? -ESRCH : -errno;
	n = read(fd, text, sizeof(text) - 1);
	if (n <= 0)
		return n ? -errno : -ESRCH;
	text[n] = '\0';
	p = strrchr(text, ')'); /* comm may contain anything */
	if (!p || strlen(p) < 4)
		return -EBADMSG;
	p += 2;
	*ret_state = *p;
	for (int field = 3; field < 22 && p; field++) {
		p = strchr(p, ' ');
		p = p ? p + 1 : NULL;
	}
	if (!p || sscanf(p, "%llu", &ticks) != 1)
		return -EBADMSG;
	*ret_start_ns = ticks * (NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK));
	return 0;
}

uint64_t gs_proc_start_ns(pid_t pid)
{
	uint64_t start = 0;
	char state;

	return gs_proc_stat(pid, &state, &start) ? 0 : start;
}

bool gs_process_same(uint64_t a_ns, uint64_t b_ns)
{
	uint64_t diff = a_ns > b_ns ? a_ns - b_ns : b_ns - a_ns;

	return diff < NS_PER_S / (uint64_t)sysconf(_SC_CLK_TCK);
}

enum gs_still gs_process_still(int err, uint64_t now_ns, uint64_t start_ns)
{
	if (err == -ESRCH)
		return GS_STILL_NO;
	if (err || !start_ns)
		return GS_STILL_UNKNOWN;
	return gs_process_same(now_ns, start_ns) ? GS_STILL_YES : GS_STILL_NO;
}

/*
 * True if the thread is exiting, or its stat cannot be parsed. If it is not exiting, the process's
 * end is still to come, and the tap will see that.
 */
static bool is_exiting(const char *stat)
{
	const char *rest = strrchr(stat, ')'); /* the name may contain anything */
	unsigned int flags = PF_EXITING;

	return !rest || sscanf(rest, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1 ||
	       flags & PF_EXITING;
}

/* True if @is returns true for the file @what in any thread's /proc folder. */
static bool any_thread(pid_t pid, const char *what, bool (*is)(FILE *f))
{
	char path[96];
	CLEANUP_DIR DIR *d = NULL;
	struct dirent *e;
	bool found = false;

	snprintf(path, sizeof(path), "%s/%d/task", gs_procfs(), (int)pid);
	d = opendir(path);
	while (d && !found && (e = readdir(d))) {
		CLEANUP_FILE FILE *f = NULL;

		snprintf(path, sizeof(path), "%s/%d/task/%.20s/%s", gs_procfs(), (int)pid,
			 e->d_name, what);
		f = e->d_name[0] != '.' ? fopen(path, "re") : NULL;
		found = f && is(f);
	}
	return found;
}

static bool lives(FILE *stat)
{
	char line[512];

	return fgets(line, sizeof(line), stat) && !is_exiting(line);
}

bool gs_proc_has_life(pid_t pid)
{
	return any_thread(pid, "stat", lives);
}

static bool has_memory(FILE *status)
{
	char line[256];

	while (fgets(line, sizeof(line), status))
		if (!strncmp(line, "VmSize:", 7))
			return true;
	return false;
}

bool gs_process_has_memory(pid_t pid)
{
	return any_thread(pid, "status", has_memory);
}

static FILE *open_of(pid_t pid, const char *what)
{
	char path[64];

	snprintf(path, sizeof(path), "%s/%d/%s", gs_procfs(), (int)pid, what);
	return fopen(path, "re");
}

bool gs_process_is_leaderless(pid_t pid)
{
	CLEANUP_FILE FILE *status = open_of(pid, "status");
	char line[256];

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "State:", 6))
			return strchr(line, 'Z') && gs_process_has_memory(pid);
	return false;
}

/* Reads the file status: the owner of /proc/PID would be root if the process is not dumpable. */
int gs_process_ids(pid_t pid, struct gs_process_ids *ret)
{
	CLEANUP_FILE FILE *f = open_of(pid, "status");
	bool known = false;
	char line[256];

	*ret = (struct gs_process_ids){ 0 };
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (f && fgets(line, sizeof(line), f)) {
		known |= sscanf(line, "Uid: %u", &ret->uid) == 1;
		sscanf(line, "Name: %15[^\n]", ret->comm);
		sscanf(line, "PPid: %d", &ret->parent);
		sscanf(line, "NSpgid: %d", &ret->group);
		sscanf(line, "NSsid: %d", &ret->session);
	}
	return known ? 0 : -ESRCH;
}

bool gs_process_in_group(pid_t pid, gid_t gid)
{
	CLEANUP_FILE FILE *f = open_of(pid, "status");
	CLEANUP_FREE char *line = NULL;
	unsigned long own = 0;
	size_t size = 0;
	char *at, *end;

	while (f && getline(&line, &size, f) > 0) {
		if (sscanf(line, "Gid: %lu", &own) == 1 && own == gid)
			return true;
		if (strncmp(line, "Groups:", 7))
			continue;
		for (at = line + 7; (own = strtoul(at, &end, 10), end != at); at = end)
			if (own == gid)
				return true;
		return false;
	}
	return false;
}

int gs_process_uid(pid_t pid, uid_t *ret)
{
	struct gs_process_ids ids;
	int r = gs_process_ids(pid, &ids);

	if (!r)
		*ret = ids.uid;
	return r;
}

pid_t gs_process_parent(pid_t pid)
{
	struct gs_process_ids ids;

	return gs_process_ids(pid, &ids) ? 0 : ids.parent;
}

int gs_process_comm(pid_t pid, char ret[GPUSCHED_COMM_LEN])
{
	CLEANUP_FILE FILE *f = open_of(pid, "comm");

	if (!f || !fgets(ret, GPUSCHED_COMM_LEN, f))
		return -ESRCH;
	ret[strcspn(ret, "\n")] = 0;
	return 0;
}
