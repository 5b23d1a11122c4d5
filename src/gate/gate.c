// SPDX-License-Identifier: MIT
/*
 * gate.c - loads the gate, and continues processes that the gate has stopped
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/procfs.h"
#include "table/gate_call.h"
#include "gate.skel.h"
#include "table/hush.h"
#include "table/past.h"
#include "table/priv.h"
#include "table/procs.h"
#include "table/started.h"
#include "gate/gate.h"
#include "process/process.h"
#include "table/cfg.h"

#define PIN_NAME "gate"
#define PIN_COMPAT "gate_compat" /* for kernels with a separate hook for 32-bit calls */

/* ---- loading --------------------------------------------------------------------------------- */

static void skel_destroy(struct gate_bpf **skel)
{
	gate_bpf__destroy(*skel);
}

static int reuse_maps(struct gate_bpf *skel, const struct bpf_object *taps)
{
	struct bpf_map *map;

	bpf_object__for_each_map(map, skel->obj) {
		int fd = bpf_object__find_map_fd_by_name(taps, bpf_map__name(map));
		int r = fd >= 0 && !bpf_map__is_internal(map) ? bpf_map__reuse_fd(map, fd) : 0;

		if (r)
			return r;
	}
	return 0;
}

static int load(struct gate_bpf *skel, const struct bpf_object *taps)
{
	int r = reuse_maps(skel, taps);

	bpf_program__set_autoload(skel->progs.gate_compat,
				  libbpf_find_vmlinux_btf_id("file_ioctl_compat", BPF_LSM_MAC) > 0);
	/* the simulated GPU's dilation scales this limit, but not the time between heartbeats */
	skel->rodata->gs_alive_ns =
		(uint64_t)((double)skel->rodata->gs_alive_ns * gs_env()->dilate);
	if (!r)
		r = gate_bpf__load(skel);
	if (!r)
		r = gate_bpf__attach(skel);
	return r;
}

static int pin(const struct bpf_link *link, const char *dir, const char *name, struct gs_error *err)
{
	char path[PATH_MAX + sizeof(PIN_COMPAT)];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (bpf_obj_pin(bpf_link__fd(link), path))
		return gs_fail(err, -errno, "cannot pin %s: %s", path, strerror(errno));
	return 0;
}

int gs_gate_on(const struct bpf_object *taps, const char *dir, struct gs_error *err)
{
	CLEANUP(skel_destroy) struct gate_bpf *skel = NULL;
	char words[512];
	int r = gs_gate_probe(err);

	if (r < 0)
		return r;
	gs_hush_begin(words, sizeof(words));
	skel = gate_bpf__open();
	r = skel ? load(skel, taps) : -errno;
	gs_hush_end();
	if (r < 0)
		return gs_fail(err, r, "the kernel refuses its program: %s",
			       gs_hush_first(words, strerror(-r)));
	r = pin(skel->links.gate, dir, PIN_NAME, err);
	if (!r && skel->links.gate_compat)
		r = pin(skel->links.gate_compat, dir, PIN_COMPAT, err);
	if (r < 0)
		gs_gate_off(dir);
	return r;
}

void gs_gate_off(const char *dir)
{
	static const char *const names[] = { PIN_NAME, PIN_COMPAT };
	char path[PATH_MAX + sizeof(PIN_COMPAT)];

	for (size_t i = 0; i < GS_COUNT(names); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
}

bool gs_gate_there(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/" PIN_NAME, gs_env()->bpffs);
	return !access(path, F_OK);
}

bool gs_gate_used(struct gs_table *t)
{
	struct gpusched_cfg cfg;

	return gs_gate_there() && !gs_table_cfg(t, &cfg) && cfg.gate;
}

/* ---- letting go ------------------------------------------------------------------------------ */

struct stopped {
	struct gpusched_stopped_key key;
	struct gpusched_stopped value;
};

static int read_stopped(struct gs_table *t, struct stopped **ret, size_t *ret_n)
{
	int fd = t->fd[GS_PIN_gs_stopped];
	struct gpusched_stopped_key at, next;
	CLEANUP_FREE struct stopped *all = NULL;
	size_t n = 0;

	*ret = NULL;
	*ret_n = 0;
	if (bpf_map_get_next_key(fd, NULL, &next))
		return errno == ENOENT ? 0 : -errno;
	all = calloc(GS_MAX_STOPPED, sizeof(*all));
	if (!all)
		return -ENOMEM;
	do {
		at = all[n].key = next;
		if (!bpf_map_lookup_elem(fd, &at, &all[n].value))
			n++;
	} while (n < GS_MAX_STOPPED && !bpf_map_get_next_key(fd, &at, &next));
	*ret = TAKE_PTR(all);
	*ret_n = n;
	return 0;
}

/* True if the process still has to wait because it is past its quota of table records. */
static bool is_held_back(struct gs_table *t, const struct stopped *s)
{
	struct gpusched_proc proc;
	struct gpusched_cfg cfg;

	return !gs_table_cfg(t, &cfg) && cfg.policy_active && cfg.gate &&
	       !gs_proc_get(t, (pid_t)s->key.tgid, &proc) && (int32_t)proc.past > 0 && !proc.let &&
	       gs_process_same(proc.start_ns, s->value.start_ns);
}

/* True if what the process waits for still holds it. */
static bool is_held(struct gs_table *t, const struct stopped *s)
{
	struct gpusched_cfg cfg;
	struct gpusched_tsg rec;

	if (s->key.id == GPUSCHED_STOPPED_NEWCOMER)
		return !gs_table_cfg(t, &cfg) && gs_now_ns() < cfg.newcomers_until_ns;
	if (!s->key.id)
		return is_held_back(t, s);
	return !gs_table_get(t, &s->value.key, &rec) && rec.task.id == s->key.id &&
	       !(rec.flags & GPUSCHED_TSG_GONE) && (rec.flags & GPUSCHED_TSG_HELD);
}

/*
 * True if another process has stopped this one too. A second stop signal stays pending. If the gate
 * has sent several, the pending one may be ours.
 */
static bool stopped_twice(const struct stopped *all, size_t n, const struct stopped *s)
{
	const uint64_t stops = 1ull << (SIGSTOP - 1) | 1ull << (SIGTSTP - 1) |
			       1ull << (SIGTTIN - 1) | 1ull << (SIGTTOU - 1);
	CLEANUP_FILE FILE *f = NULL;
	char path[64], line[128], state = 0;
	unsigned long long mask, pending = 0;

	if (s->value.stops > 1)
		return false;
	for (size_t i = 0; i < n; i++)
		if (&all[i] != s && all[i].key.tgid == s->key.tgid)
			return false;
	snprintf(path, sizeof(path), "%s/%u/status", gs_procfs(), s->key.tgid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "State: %c", &state) == 1)
			continue;
		if (sscanf(line, "SigPnd: %llx", &mask) == 1 ||
		    sscanf(line, "ShdPnd: %llx", &mask) == 1)
			pending |= mask;
	}
	return state == 'T' && (pending & stops);
}

/*
 * False if the process is gone, and another one has its pid. If that is unknown, true: to continue
 * another process does less harm than to leave this one stopped.
 */
static bool is_same_process(const struct stopped *s)
{
	return gs_started_still((pid_t)s->key.tgid, s->value.start_ns) != GS_STILL_NO;
}

static void let_go(struct gs_table *t, const struct stopped *all, size_t n, const struct stopped *s,
		   struct gs_released *ret)
{
	CLEANUP_FD int pidfd = (int)syscall(SYS_pidfd_open, s->key.tgid, 0);
	int fd = t->fd[GS_PIN_gs_stopped];

	if (pidfd < 0 || !is_same_process(s)) {
		bpf_map_delete_elem(fd, &s->key);
		ret->gone++;
		return;
	}
	if (stopped_twice(all, n, s)) {
		bpf_map_delete_elem(fd, &s->key);
		ret->left++;
		return;
	}
	syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0);
	bpf_map_delete_elem(fd, &s->key);
	/*
	 * the process was stopped again before its entry was removed: continue it, so that it
	 * repeats the call and gets a new entry
	 */
	if (is_held(t, s))
		syscall(SYS_pidfd_send_signal, pidfd, SIGCONT, NULL, 0);
	ret->continued++;
}

static void take_as_admitted(struct gs_table *t, const struct stopped *s)
{
	struct gpusched_poke poke = {
		.key = s->value.key,
		.id = s->key.id,
		.what = GPUSCHED_POKE_ADMIT,
	};

	gs_table_poke(t, &poke);
}

int gs_gate_release(struct gs_table *t, bool all, struct gs_released *ret)
{
	CLEANUP_FREE struct stopped *list = NULL;
	struct gs_released sum = { 0 };
	size_t n = 0;
	int r = read_stopped(t, &list, &n);

	for (size_t i = 0; i < n; i++) {
		if (all)
			take_as_admitted(t, &list[i]);
		else if (is_held(t, &list[i]))
			continue;
		let_go(t, list, n, &list[i], &sum);
	}
	if (ret)
		*ret = sum;
	return r;
}

int gs_gate_limit(struct gs_table *t, uint64_t limit_ns)
{
	CLEANUP_FREE struct stopped *list = NULL;
	uint64_t now = gs_now_ns();
	bool over = false;
	size_t n = 0;
	int r = read_stopped(t, &list, &n);

	for (size_t i = 0; i < n; i++)
		if (!list[i].key.id && now - list[i].value.since_ns >= limit_ns) {
			gs_past_let(t, (pid_t)list[i].key.tgid);
			over = true;
		}
	return r || !over ? r : gs_gate_release(t, false, NULL);
}
