// SPDX-License-Identifier: MIT
/* kubernetes.c - checks what a pod needs so that gpusched can work in it */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "probe/bundles.h"
#include "config/config.h"
#include "process/cgroup.h"

/* The kernel gives the initial namespaces fixed inode numbers (enum in proc_ns.h). */
#define FIRST_CGROUP 0xeffffffbul
#define FIRST_PID 0xeffffffcul

static bool is_first(const char *path, ino_t first)
{
	struct stat st;

	return !stat(path, &st) && st.st_ino == first;
}

static void say(struct gs_probe *k, bool ok, const char *detail, const char *remedy)
{
	k->ok = ok;
	snprintf(k->detail, sizeof(k->detail), "%.250s", detail);
	snprintf(k->remedy, sizeof(k->remedy), "%s", remedy);
}

void gs_probe_kubernetes_hostpid(struct gs_probe *k)
{
	bool ok = is_first("/proc/self/ns/pid", FIRST_PID);

	say(k, ok, ok ? "the node's processes are seen" : "another pid namespace than the node's",
	    "set hostPID: true");
}

void gs_probe_kubernetes_cgroups(struct gs_probe *k)
{
	bool ok = gs_cgroup_root() && is_first("/proc/self/ns/cgroup", FIRST_CGROUP);

	say(k, ok,
	    ok                 ? "paths of cgroups are the node's: pods have their ids"
	    : gs_cgroup_root() ? "another cgroup namespace than the node's: paths are cut short"
			       : "no cgroup2 is mounted",
	    "mount /sys/fs/cgroup as a hostPath into a privileged container; cgroup v1 has no ids");
}

/* Adds to the check how many entries are not read, and one of them. */
static void add_unread(struct gs_probe *k, const struct gs_config *c)
{
	const struct gs_pod_places places = { c->pod_logs, c->container_logs, c->fractions,
					      c->claims, c->bundles };
	struct gs_pod_unread first;
	size_t n = gs_pods_check(&places, &first), len = strlen(k->detail);

	if (n)
		snprintf(k->detail + len, sizeof(k->detail) - len, "; %zu %s not read: %s%s: %s", n,
			 n == 1 ? "entry is" : "entries are", n == 1 ? "" : "first ", first.path,
			 first.why);
}

void gs_probe_kubernetes_pods(struct gs_probe *k)
{
	struct gs_config *config = NULL;
	CLEANUP_DIR DIR *dir = NULL;
	CLEANUP_FD int watch = inotify_init1(IN_CLOEXEC);
	struct gs_error err = { 0 };

	if (gs_config_load_start(NULL, &config, &err)) {
		say(k, false, err.text, "mend the configuration");
		return;
	}
	dir = opendir(config->pod_logs);
	k->ok = dir;
	snprintf(k->detail, sizeof(k->detail),
		 !dir ? "%.150s: %s"
		 : watch < 0
			 ? "names come from %.150s, read when needed: no inotify instance is left "
			   "(sysctl fs.inotify.max_user_instances)"
			 : "names come from %.150s",
		 config->pod_logs, strerror(errno));
	add_unread(k, config);
	snprintf(k->remedy, sizeof(k->remedy),
		 "mount /var/log as a hostPath, or set PodLogs= to the kubelet's podLogsDir");
	gs_config_free(config);
}

bool gs_probe_kubernetes_bundles(size_t i, struct gs_probe *k, const char **ret_name)
{
	struct gs_pod_places places = { .bundles = GS_POD_BUNDLES };
	struct gs_config *config = NULL;
	char found[64] = "missing", where[200] = "";
	struct gs_bundles b;
	bool more;

	if (!gs_config_load_start(NULL, &config, NULL))
		places.bundles = config->bundles;
	more = gs_pod_bundles(&places, i, &b);
	if (more) {
		if (b.n > 0)
			snprintf(found, sizeof(found), "found %d", b.n);
		else if (!b.n)
			strcpy(found, "empty");
		else if (b.n == -EPERM)
			strcpy(found, "not read, since others than root can write it");
		else if (b.n != -ENOENT)
			snprintf(found, sizeof(found), "cannot be read (%s)", strerror(-b.n));
		if (b.folder)
			snprintf(where, sizeof(where),
				 "bundles of containers in %.150s: ", b.folder);
		*ret_name = b.key;
		k->ok = b.n >= 0 || b.n == -ENOENT;
		snprintf(k->detail, sizeof(k->detail), "%s%s", where,
			 b.folder ? found : "not looked at, since Bundles= names another folder");
		snprintf(k->remedy, sizeof(k->remedy),
			 "let only root write it, and the daemon read it; or set Bundles=");
	}
	gs_config_free(config);
	return more;
}

void gs_probe_kubernetes_lockdown(struct gs_probe *k)
{
	CLEANUP_FILE FILE *f = fopen("/sys/kernel/security/lockdown", "re");
	char line[80] = "";
	bool locked;

	if (f && !fgets(line, sizeof(line), f))
		line[0] = '\0';
	line[strcspn(line, "\n")] = '\0';
	locked = strstr(line, "[confidentiality]");
	say(k, !locked, *line ? line : "not known: securityfs is not mounted here",
	    "lockdown=integrity at most: confidentiality keeps BPF from reading what the taps "
	    "need");
}

void gs_probe_kubernetes_run(struct gs_probe *k)
{
	const char *dir = gs_env()->run_dir;
	bool ok = !access(dir, W_OK) || (errno == ENOENT && !access("/run", W_OK));

	say(k, ok, dir, "mount it as a hostPath: a read-only root is fine beside it");
}
