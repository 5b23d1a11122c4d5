// SPDX-License-Identifier: MIT
/*
 * same.c - check that policies decide the same in gpusched.ko as on the native host
 *
 * "same MODULE|HOOKED" replays the events of tests/unit/replay_world.h to each of the project's
 * policies on both hosts. The TSGs are made, scheduled and freed in the stand-in driver. With
 * hooks, the driver reports that to the policy; without them, the test reports it, in place of a
 * daemon with taps. The clock is replay_world.h's, and the test itself starts each tick.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "basic/cleanup.h"
#include "policy/host.h"
#include "policy/pstate.h"
#include "program.h"
#include "../../unit/replay_world.h"

#define PINS "/sys/fs/bpf/same"
#define T 0x5c010000u
#define MAX_IDS 4096
#define LOOK_EVERY 8 /* steps between two checks of the module's state */

static bool hooked;
static int node;

/* A call that schedules a TSG. It waits in its own thread while the policy holds the TSG. */
struct pending {
	pthread_t thread;
	uint32_t tsg;
	bool there, done;
};

struct vm {
	struct gs_policy p;
	pid_t loader;
	int tsgs_fd, run_fd, wish_fd;
	struct gs_pstate *state;
	struct program prog;
	struct pending pending[MAX_IDS]; /* by id */
};
static struct vm *vm; /* the only one, for the threads */

/* ---- the loader ------------------------------------------------------------------------------ */

static void start_loader(struct vm *v)
{
	char object[512], line[64] = "";
	int out[2];
	FILE *f;

	if (pipe(out))
		die("pipe");
	snprintf(object, sizeof(object), "%s", v->p.obj.path);
	v->loader = fork();
	if (!v->loader) {
		dup2(out[1], 1);
		close(out[0]);
		execl("./policy-load", "policy-load", "-n", "-p", PINS, object,
		      "glue_default.bpf.o", "glue_stock.bpf.o", "glue.bpf.o", NULL);
		_exit(127);
	}
	close(out[1]);
	f = fdopen(out[0], "r");
	if (!fgets(line, sizeof(line), f) || strncmp(line, "policy ", 7))
		die("the loader");
	fclose(f);
}

static int pinned(const char *name)
{
	char path[128];
	int fd = -1;

	snprintf(path, sizeof(path), PINS "/%s", name);
	for (int i = 0; i < PATIENCE_S * 20 && (fd = bpf_obj_get(path)) < 0; i++)
		usleep(50000);
	if (fd < 0)
		die(path);
	return fd;
}

static void end_loader(struct vm *v)
{
	int status;

	kill(v->loader, SIGTERM);
	waitpid(v->loader, &status, 0);
	is(status, 0, "the loader ends when asked to");
}

/* ---- records --------------------------------------------------------------------------------- */

static uint32_t handle_of(const struct gpusched_task *t)
{
	return T + (uint32_t)t->id;
}

static struct gpusched_key key_of(const struct vm *v, const struct gpusched_task *t)
{
	return (struct gpusched_key){ .client = v->prog.client, .handle = handle_of(t) };
}

static bool record(const struct vm *v, const struct gpusched_task *t, struct gpusched_tsg *ret)
{
	struct gpusched_key key = key_of(v, t);

	return !bpf_map_lookup_elem(v->tsgs_fd, &key, ret);
}

/*
 * Writes the replayed world's facts into the record, but keeps the policy's settings and private
 * words.
 */
static void put(const struct vm *v, const struct gpusched_task *t)
{
	struct gpusched_tsg rec;
	struct gpusched_task was;

	if (!record(v, t, &rec))
		die("a record");
	was = rec.task;
	rec.task = *t;
	rec.task.asked = was.asked;
	rec.task.is = was.is;
	rec.task.want = was.want;
	memcpy(rec.task.priv, was.priv, sizeof(was.priv));
	if (is_suspended(&was.want) && !is_suspended(&t->want)) {
		/* the host's time limit has ended the hold */
		rec.flags &= ~GPUSCHED_TSG_HELD;
		rec.task.want.valid &= ~GPUSCHED_RUNNABLE;
	}
	if (bpf_map_update_elem(v->tsgs_fd, &rec.key, &rec, BPF_EXIST))
		die("a record is written");
}

static bool take(const struct vm *v, struct gpusched_task *t)
{
	struct gpusched_tsg rec;

	if (!record(v, t, &rec))
		die("a record");
	t->want = rec.task.want;
	memcpy(t->priv, rec.task.priv, sizeof(t->priv));
	return rec.flags & GPUSCHED_TSG_HELD;
}

static struct gpusched_run run(const struct vm *v, uint32_t op, const struct gpusched_task *t,
			       uint64_t arg)
{
	struct gpusched_run r = { .op = op, .arg = arg };
	LIBBPF_OPTS(bpf_test_run_opts, ask, .ctx_in = &r, .ctx_size_in = sizeof(r));
	LIBBPF_OPTS(bpf_test_run_opts, wish);

	if (t)
		r.key = key_of(v, t);
	if (bpf_prog_test_run_opts(v->run_fd, &ask) || bpf_prog_test_run_opts(v->wish_fd, &wish))
		die("the policy is run");
	return r;
}

/* ---- calls that may wait --------------------------------------------------------------------- */

static void *call_schedule(void *arg)
{
	struct pending *w = arg;

	tsg_schedule(&vm->prog, w->tsg, true);
	__atomic_store_n(&w->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static void settle(struct vm *v, const struct gpusched_task *t)
{
	struct pending *w = &v->pending[t->id];

	if (!w->there)
		return;
	pthread_join(w->thread, NULL);
	w->there = false;
}

static bool is_held(const struct vm *v, const struct gpusched_task *t)
{
	struct gpusched_tsg rec;

	return record(v, t, &rec) && (rec.flags & GPUSCHED_TSG_HELD);
}

static void schedule(struct vm *v, struct gpusched_task *t)
{
	struct pending *w = &v->pending[t->id];

	if (w->there && !is_held(v, t))
		settle(v, t);
	if (!hooked || t->assumed || w->there) { /* w->there: the owner's call waits already */
		run(v, GPUSCHED_RUN_SCHEDULE, t, 0);
		return;
	}
	*w = (struct pending){ .tsg = handle_of(t), .there = true };
	if (pthread_create(&w->thread, NULL, call_schedule, w))
		die("a thread");
	while (!__atomic_load_n(&w->done, __ATOMIC_ACQUIRE) && !is_held(v, t))
		usleep(200);
	if (w->done)
		settle(v, t);
}

/* ---- the host -------------------------------------------------------------------------------- */

static void make(struct vm *v, struct gpusched_task *t)
{
	struct gpusched_tsg rec = { .key = key_of(v, t), .task = *t };

	if (t->id >= MAX_IDS)
		die("ids");
	if (bpf_map_update_elem(v->tsgs_fd, &rec.key, &rec, BPF_NOEXIST))
		die("a record is made");
	tsg_new(&v->prog, handle_of(t), 1);
	if (node_tell(node, &v->prog, handle_of(t), 1))
		die("a TSG is told");
	if (hooked) /* the TSG can be suspended only after the module was told of it */
		run(v, 0, NULL, 0);
}

static void end(struct vm *v, struct gpusched_task *t)
{
	struct gpusched_tsg rec;

	put(v, t);
	if (hooked)
		tsg_free(&v->prog, handle_of(t));
	node_forget(node, &v->prog, handle_of(t));
	if (!hooked)
		tsg_free(&v->prog, handle_of(t));
	settle(v, t);
	if (record(v, t, &rec))
		die("a record is gone");
}

static void round_of(struct vm *v, struct gpusched_run *r)
{
	struct gpusched_task *const *tasks;
	size_t n;

	tasks = v->p.world.tasks(v->p.world.user, &n);
	for (size_t i = 0; i < n; i++)
		put(v, tasks[i]);
	*r = run(v, GPUSCHED_RUN_TICK, NULL, r->arg);
	for (size_t i = 0; i < n; i++)
		take(v, tasks[i]);
}

static int vm_ask(struct gs_policy *p, struct gpusched_run *r, struct gpusched_task *t)
{
	struct vm *v = (struct vm *)p;
	struct gpusched_tsg rec;

	v->state->virtual_now = p->world.now_ns(p->world.user);
	switch (r->op) {
	case GPUSCHED_RUN_INIT: /* run it again: at load, the clock was not yet the replayed one */
		r->ret = run(v, r->op, NULL, 0).ret;
		return 0;
	case GPUSCHED_RUN_TICK:
		round_of(v, r);
		return 0;
	case GPUSCHED_RUN_TASK_DESTROY:
		end(v, t);
		return 0;
	case GPUSCHED_RUN_TASK_INIT:
		if (!record(v, t, &rec)) {
			make(v, t);
			break;
		}
		put(v, t);
		run(v, r->op, t, 0);
		break;
	case GPUSCHED_RUN_SCHEDULE:
		put(v, t);
		schedule(v, t);
		break;
	case GPUSCHED_RUN_TIMESLICE_SET:
		put(v, t);
		if (hooked && !t->assumed)
			tsg_set_timeslice(&v->prog, handle_of(t), r->arg);
		else
			run(v, r->op, t, r->arg);
		break;
	default:
		put(v, t);
		run(v, r->op, t, r->arg);
	}
	r->ret = take(v, t) ? GPUSCHED_HOLD : GPUSCHED_ADMIT;
	return 0;
}

static int vm_link(struct gs_policy *p, struct gs_policy_exit *x, struct gs_error *err)
{
	struct vm *v = (struct vm *)p;

	(void)x;
	(void)err;
	vm = v;
	v->prog = program_new();
	start_loader(v);
	v->tsgs_fd = pinned("gs_tsgs");
	v->run_fd = pinned("gpusched_run");
	v->wish_fd = pinned("gs_module_wish");
	v->state = mmap(NULL, sizeof(*v->state), PROT_READ | PROT_WRITE, MAP_SHARED,
			pinned("gs_pstate"), 0);
	if (v->state == MAP_FAILED)
		die("gs_pstate");
	v->state->random_state = p->world.seed * 2 + 1;
	v->state->is_virtual = 1;
	return 0;
}

static bool vm_detach(struct gs_policy *p, enum gs_policy_exit_kind kind)
{
	struct vm *v = (struct vm *)p;

	struct gpusched_task *const *tasks;
	size_t n;

	(void)kind;
	end_loader(v); /* releases all held calls */
	tasks = p->world.tasks(p->world.user, &n);
	for (size_t i = 0; i < n; i++)
		node_forget(node, &v->prog, handle_of(tasks[i]));
	for (size_t i = 0; i < MAX_IDS; i++)
		if (v->pending[i].there)
			pthread_join(v->pending[i].thread, NULL);
	munmap(v->state, sizeof(*v->state));
	close(v->tsgs_fd);
	close(v->run_fd);
	close(v->wish_fd);
	program_end(&v->prog);
	return true;
}

static void vm_free(struct gs_policy *p)
{
	gs_polobj_unload(p);
	free(p);
}

static uint32_t vm_flags(const struct gs_world *w)
{
	(void)w;
	return GPUSCHED_F_ALL;
}

static const struct gs_host vm_host = {
	.name = "module",
	.size = sizeof(struct vm),
	.virtual_time = true,
	.facts = ~0u,
	.flags = vm_flags,
	.vet = gs_policy_check_object,
	.link = vm_link,
	.detach = vm_detach,
	.free = vm_free,
	.ask = vm_ask,
};

/* ---- the comparison -------------------------------------------------------------------------- */

static bool differ(const struct world_task *x, const struct world_task *y)
{
	const struct gpusched_settings *a = &x->t.want, *b = &y->t.want;

	return x->t.id != y->t.id || x->held != y->held || a->valid != b->valid ||
	       ((a->valid & GPUSCHED_TIMESLICE) && a->timeslice_us != b->timeslice_us) ||
	       ((a->valid & GPUSCHED_INTERLEAVE) && a->interleave != b->interleave) ||
	       ((a->valid & GPUSCHED_PREEMPT_MODE) && a->preempt_mode != b->preempt_mode) ||
	       ((a->valid & GPUSCHED_RUNNABLE) && a->runnable != b->runnable) ||
	       memcmp(x->t.priv, y->t.priv, sizeof(x->t.priv)) != 0;
}

static bool same(const struct world *a, const struct world *b, int step)
{
	for (size_t i = 0; i < WORLD_TASKS; i++) {
		const struct world_task *x = &a->tasks[i], *y = &b->tasks[i];

		if (!differ(x, y))
			continue;
		printf("# step %d, after a TSG %s: TSG %llu wants 0x%x slice %u%s; here 0x%x "
		       "slice %u%s\n",
		       step, a->what, (unsigned long long)x->t.id, x->t.want.valid,
		       x->t.want.timeslice_us, x->held ? ", held" : "", y->t.want.valid,
		       y->t.want.timeslice_us, y->held ? ", held" : "");
		return false;
	}
	return true;
}

/* Returns whether the module has the settings that the policy wants; adds their number to *@ret. */
static bool arrived(const struct world *w, int *ret)
{
	static struct gpusched_module_entry all[WORLD_TASKS * 2];
	struct gpusched_module_list l = { .n = GS_COUNT(all), .entries = (uintptr_t)all };

	if (ioctl(node, GPUSCHED_MODULE_LIST, &l))
		die("LIST");
	for (uint32_t i = 0; i < l.n; i++) {
		for (size_t j = 0; j < w->nlive; j++) {
			const struct gpusched_settings *a = &w->live[j]->want, *b = &all[i].want;
			uint32_t valid = a->valid;

			if (handle_of(w->live[j]) != all[i].tsg || vm->prog.client != all[i].client)
				continue;
			if (a->runnable || vm->pending[w->live[j]->id].there)
				valid &= ~GPUSCHED_RUNNABLE; /* the hold is the call's wait */
			*ret += __builtin_popcount(valid);
			if (valid == b->valid &&
			    (!(valid & GPUSCHED_TIMESLICE) || a->timeslice_us == b->timeslice_us) &&
			    (!(valid & GPUSCHED_INTERLEAVE) || a->interleave == b->interleave) &&
			    (!(valid & GPUSCHED_PREEMPT_MODE) ||
			     a->preempt_mode == b->preempt_mode))
				continue;
			printf("# TSG %llu: the policy wants 0x%x slice %u, the module 0x%x slice "
			       "%u\n",
			       (unsigned long long)w->live[j]->id, valid, a->timeslice_us, b->valid,
			       b->timeslice_us);
			return false;
		}
	}
	return true;
}

static void open_world(struct world *w, const struct gs_host *host, const char *policy)
{
	const char *const none[] = { NULL };
	struct gs_error err = { 0 };

	if (world_open(w, host, policy, none, &err) < 0) {
		printf("# %s: %s\n", host->name, err.text);
		die(policy);
	}
	w->p->world.job = NULL; /* jobs are the daemon's knowledge, and no daemon runs here */
}

static void replay(const char *policy, int steps)
{
	static struct world w[2];
	bool good = true, in = true;
	int step, wishes = 0;

	open_world(&w[0], &gs_host_native, policy);
	open_world(&w[1], &vm_host, policy);
	for (step = 0; step < steps && good && in; step++) {
		world_step(&w[0]);
		world_step(&w[1]);
		good = same(&w[0], &w[1], step);
		if (good && step % LOOK_EVERY == 0)
			in = arrived(&w[1], &wishes);
	}
	pass(good, "%s decides as on the native host, %d steps", policy, step);
	pass(in, "the module has its wishes (%d looked at)", wishes);
	pass(!strcmp(policy, "none") == !wishes, "there are such wishes");
	world_close(&w[0]);
	world_close(&w[1]);
}

int main(int argc, char **argv)
{
	static const char *const policies[] = { "none", "auto",     "lcbe", "rr",   "prio",
						"fair", "adaptive", "edf",  "admit" };
	struct gpusched_module_about about;

	if (argc < 3)
		die("usage: same MODULE|HOOKED STEPS");
	hooked = !strcmp(argv[1], "HOOKED");
	node = node_open();
	node_keep(node);
	for (size_t i = 0; i < GS_COUNT(policies); i++)
		if (argc < 4 || !strcmp(argv[3], policies[i]))
			replay(policies[i], atoi(argv[2]));
	node_about(node, &about);
	printf("# %llu calls to the driver, %llu refused, %llu put off, %llu not put back\n",
	       (unsigned long long)about.calls, (unsigned long long)about.failed,
	       (unsigned long long)about.put_off, (unsigned long long)about.left);
	is((long)about.left, 0, "nothing is left changed");
	puts("DONE");
	return 0;
}
