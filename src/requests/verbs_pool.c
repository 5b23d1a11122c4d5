// SPDX-License-Identifier: MIT
/* verbs_pool.c - handles pool_set, pool_end and pool_dir, which MPS supervisors call (src/mps) */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/env.h"
#include "basic/parse.h"
#include "basic/user_limits.h"
#include "process/process.h"
#include "process/reader.h"
#include "rm/way.h"
#include "requests/requests.h"
#include "intake/rescan.h"
#include "requests/verbs.h"
#include "table/procs.h"

#define SERVER_NAME "/nvidia-cuda-mps-server"
#define SETTLE_MS 200

static int check_daemon(struct gs_request *rq)
{
	if (rq->rs->hub->opts.daemon)
		return 0;
	return gs_fail(rq->err, -ENOTSUP, "a pool needs gpuschedd: %s", gs_env_start_daemon());
}

/*
 * Checks that the server is a process of the peer's user, and runs an MPS server's executable that
 * only root can have installed.
 */
static int check_server(struct gs_request *rq, pid_t pid, uint64_t *ret_start_ns)
{
	struct gs_program program;
	size_t len = strlen(SERVER_NAME), n;
	uid_t owner;
	int r;

	if (gs_view_pid(&rq->view, pid, &owner))
		return gs_fail(rq->err, -ENOENT, "there is no process %d", pid);
	if (owner != rq->peer->uid)
		return gs_fail(rq->err, -EPERM, "process %d belongs to another user", pid);
	r = gs_pool_program(rq->rs->intake, pid, &program);
	if (r)
		return gs_fail(rq->err, r == -EAGAIN ? -EBUSY : r,
			       "what process %d runs cannot be read: %s", pid, strerror(-r));
	n = strlen(program.exe);
	/* no executable: the process has given up its memory and is exiting */
	if (!n)
		return gs_fail(rq->err, -ENOENT, "process %d is ending", pid);
	if (!program.mps || n < len || strcmp(program.exe + n - len, SERVER_NAME))
		return gs_fail(
			rq->err, -EPERM,
			"process %d does not run an nvidia-cuda-mps-server that root has installed",
			pid);
	*ret_start_ns = program.start_ns;
	return 0;
}

/*
 * Chooses the server's class: for a shared server (@share) lc if its user may raise to lc, else
 * normal; for others the class in the request.
 */
static int choose_class(struct gs_request *rq, pid_t pid, bool share, uint32_t *ret)
{
	struct gs_classes *c = rq->rs->hub->classes;
	const struct gs_asker by = gs_peer_asker(rq->peer);
	struct gs_class_answer now;
	int r = gs_classify(c, rq->rs->hub->table, pid, &now, NULL);

	if (r)
		return gs_fail(rq->err, r, "process %d cannot be classified: %s", pid,
			       strerror(-r));
	if (!share && gs_class_id(c, gs_arg_text(rq, "class"), ret))
		return gs_fail(rq->err, -EINVAL,
			       "there is no class '%s': 'gpusched class list' shows them",
			       gs_arg_text(rq, "class"));
	if (share)
		*ret = gs_class_may(c, &by, by.uid, now.class_id, GPUSCHED_CLASS_LC)
			       ? GPUSCHED_CLASS_LC
			       : GPUSCHED_CLASS_NORMAL;
	if (gs_class_may(c, &by, by.uid, now.class_id, *ret))
		return 0;
	if (share) { /* keeps the class it was started with */
		*ret = now.class_id;
		return 0;
	}
	return gs_fail(rq->err, -EPERM,
		       "raising a pool to class '%s' needs root, or AllowClass= in gpusched.conf",
		       gs_class_name(c, *ret));
}

/* Finds the pool of this server, or makes one. */
static int place_for(struct gs_request *rq, pid_t server, struct gs_pool **ret)
{
	struct gs_pools *all = &rq->rs->intake->pools;
	int r;

	for (size_t i = 0; i < all->n; i++) {
		if (all->all[i].server != server)
			continue;
		*ret = &all->all[i];
		return 0;
	}
	r = gs_pool_new(rq->rs->intake, server, rq->peer->uid, ret);
	if (r == -ENOSPC)
		return gs_fail(rq->err, r,
			       "%d pools of one user, %d in all: the user's share is used up",
			       GS_USER_MAY_POOLS, GS_MAX_POOLS);
	return r ? gs_fail(rq->err, r, "the end of process %d cannot be watched: %s", server,
			   strerror(-r))
		 : 0;
}

/* Takes the pids of the peer's own processes from a list that may contain any pid. */
static size_t take_pids(struct gs_request *rq, const char *name,
			struct gs_pool_process ret[GS_POOL_CLIENTS])
{
	const json_t *list = json_object_get(rq->args, name), *v;
	size_t i, n = 0;

	json_array_foreach((json_t *)list, i, v) {
		uint64_t pid;
		uid_t owner;

		if (n == GS_POOL_CLIENTS ||
		    gs_parse_u64(json_string_value(v), 1, INT_MAX, &pid, NULL))
			continue;
		/*
		 * The start time is read before the owner: if another process gets the pid in
		 * between, the entry has the wrong start time and matches no process.
		 */
		ret[n] = gs_pool_process((pid_t)pid);
		if (ret[n].start_ns && !gs_process_uid((pid_t)pid, &owner) &&
		    owner == rq->peer->uid)
			n++;
	}
	return n;
}

/*
 * Enters the process as an MPS server, with its class, into the map of processes. The taps then
 * give its new TSGs that mark and class from the start.
 */
static int mark(struct gs_requests *rs, pid_t pid, uint64_t start_ns, uint32_t class_id,
		bool *ret_new)
{
	struct gpusched_proc proc = { 0 };
	int r;

	if (gs_proc_get(rs->hub->table, pid, &proc) || !gs_process_same(proc.start_ns, start_ns))
		proc = (struct gpusched_proc){ .start_ns = start_ns };
	if (proc.mps && proc.class_id == class_id && proc.source == GPUSCHED_SRC_COMMAND)
		return 0;
	*ret_new = true;
	proc.mps = 1;
	proc.class_id = class_id;
	proc.source = GPUSCHED_SRC_COMMAND;
	r = gs_proc_set(rs->hub->table, pid, &proc);
	/* the process's exit removes the entry; if it came first, the entry is removed here */
	if (!r && gs_proc_forget_dead(rs->hub->table, pid, start_ns))
		r = -ESRCH;
	if (!r)
		gs_rescan_process(rs->intake, pid);
	return r;
}

int gs_verb_pool_set(struct gs_request *rq)
{
	pid_t pid = (pid_t)gs_arg_number(rq, "server");
	bool share = gs_arg_true(rq, "share"), is_new = false;
	uint32_t class_id = GPUSCHED_CLASS_NONE;
	uint64_t start_ns = 0;
	struct gs_pool *p = NULL;
	int r = check_daemon(rq);

	if (!r)
		r = check_server(rq, pid, &start_ns);
	if (!r)
		r = choose_class(rq, pid, share, &class_id);
	if (!r)
		r = place_for(rq, pid, &p);
	if (r)
		return r;
	snprintf(p->name, sizeof(p->name), "%s", gs_arg_text(rq, "name"));
	p->share = share;
	p->nclients = take_pids(rq, "clients", p->clients);
	p->nmembers = take_pids(rq, "members", p->members);
	gs_pools_anew(rq->rs->intake);
	r = mark(rq->rs, pid, start_ns, class_id, &is_new);
	if (r) {
		gs_pool_drop(rq->rs->intake, pid);
		return gs_fail(rq->err, r, "the server's class cannot be noted: %s", strerror(-r));
	}
	if (!r && !is_new) /* no journal entry: supervisors repeat this every few seconds */
		rq->entered = true;
	json_object_set_new(rq->answer, "class",
			    json_string(gs_class_name(rq->rs->hub->classes, class_id)));
	json_object_set_new(rq->answer, "batch", json_integer(GS_RM_SUSPEND_BATCH));
	return gs_request_settle(rq, SETTLE_MS);
}

int gs_verb_pool_end(struct gs_request *rq)
{
	pid_t pid = (pid_t)gs_arg_number(rq, "server");
	const struct gs_pool *p = gs_pool_of_server(rq->rs->intake, pid);

	if (!p || (rq->peer->uid && p->uid != rq->peer->uid))
		return gs_fail(rq->err, -ENOENT, "process %d is no pool's server", pid);
	gs_pool_drop(rq->rs->intake, pid);
	gs_rescan_process(rq->rs->intake, pid);
	return 0;
}

/* Users' files must not fill root's /run, so their directory is a mount with a size limit. */
static int users_space(char *path, size_t size, struct gs_error *err)
{
	const char *run = gs_env()->run_dir;
	struct stat outside, st;

	snprintf(path, size, "%s/mps/users", run);
	if (!stat(run, &outside) && !stat(path, &st) && st.st_dev != outside.st_dev)
		return 0;
	return gs_fail(err, -ENOTSUP,
		       "%s has no file system of its own, and users could fill %s: 'sudo "
		       "systemctl start run-gpusched-mps-users.mount', or have an XDG_RUNTIME_DIR",
		       path, run);
}

static int roots_space(char *path, size_t size, struct gs_error *err)
{
	snprintf(path, size, "%s/mps", gs_env()->run_dir);
	return mkdir(path, 0755) && errno != EEXIST
		       ? gs_fail(err, -errno, "%s cannot be made: %s", path, strerror(errno))
		       : 0;
}

/* Makes a directory for a user without a runtime directory. Only that user can enter it. */
static int make_dir(const struct gs_peer *peer, char *path, size_t size, struct gs_error *err)
{
	CLEANUP_FD int fd = -1;
	struct stat st;
	size_t len;
	int r = peer->uid ? users_space(path, size, err) : roots_space(path, size, err);

	if (r)
		return r;
	len = strlen(path);
	snprintf(path + len, size - len, "/%u", peer->uid);
	if (mkdir(path, 0700) && errno != EEXIST)
		return gs_fail(err, -errno, "%s cannot be made: %s", path, strerror(errno));
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) ||
	    (st.st_uid != peer->uid && fchown(fd, peer->uid, peer->gid)))
		return gs_fail(err, -errno, "%s cannot be given to its user: %s", path,
			       strerror(errno));
	return 0;
}

int gs_verb_pool_dir(struct gs_request *rq)
{
	pid_t pid = (pid_t)gs_arg_number(rq, "pid");
	struct gs_error why = { 0 };
	char path[PATH_MAX];
	int r = check_daemon(rq);

	/* MPS names processes by pid, so both must be in one pid namespace */
	if (!r && pid != rq->peer->pid)
		r = gs_fail(rq->err, -ENOTSUP,
			    "this process is in a container: it is %d there and %d for the daemon; "
			    "pools work in the daemon's own pid namespace only",
			    pid, rq->peer->pid);
	if (r)
		return r;
	/* a failure is no error of the request: the answer has the reason */
	if (make_dir(rq->peer, path, sizeof(path), &why))
		json_object_set_new(rq->answer, "reason", json_string(why.text));
	else
		json_object_set_new(rq->answer, "dir", json_string(path));
	return 0;
}
