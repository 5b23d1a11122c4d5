// SPDX-License-Identifier: MIT
/* gpreempt.c - opens and closes a handle: loads libcuda, starts the threads, ends suspensions */
#include "preempt/priv.h"

#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"

#define LEAVING_NS (1 * NS_PER_S) /* longest wait at the end until no TSG is suspended */
#define LEAST_US 50u              /* range of the options patience_us and suspend_us */
#define MOST_US 1000000u

static pthread_mutex_t all_lock = PTHREAD_MUTEX_INITIALIZER;
static struct gpreempt *all;

/* ---- beginning ------------------------------------------------------------------------------- */

static int load_cuda(struct gpreempt *g)
{
	void *lib = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return FAIL(-ENODEV,
			    "libcuda.so.1 cannot be loaded (%s): install the NVIDIA driver",
			    dlerror());
#define FIND(field, symbol, parameters) *(void **)&g->cuda.field = dlsym(lib, symbol);
#define NEED(field, symbol, parameters) \
	FIND(field, symbol, parameters) \
	if (!g->cuda.field) \
		return FAIL(-ENODEV, "libcuda.so.1 has no %s: it is too old", symbol);
	CUDA_FUNCTIONS(NEED, FIND)
#undef NEED
#undef FIND
	return 0;
}

/* Finds the GPU. *ret_gpu: a number that identifies it in all processes. */
static int find_device(struct gpreempt *g, int ordinal, uint64_t *ret_gpu)
{
	int n = 0, r;

	r = handle_check_cuda(g, g->cuda.init(0), "cuInit()");
	if (!r)
		r = handle_check_cuda(g, g->cuda.device_count(&n), "counting GPUs");
	if (r)
		return r;
	if (ordinal < 0 || ordinal >= n)
		return FAIL(-ENODEV, "there is no GPU %d: this process sees %d", ordinal, n);
	r = handle_check_cuda(g, g->cuda.device_get(&g->device, ordinal), "finding the GPU");
	if (!r)
		r = handle_check_cuda(g, g->cuda.device_uuid(g->uuid, g->device), "naming the GPU");
	memcpy(ret_gpu, g->uuid, sizeof(*ret_gpu));
	return r;
}

static int check_time(uint32_t us, const char *name)
{
	if (us && (us < LEAST_US || us > MOST_US))
		return FAIL(-ERANGE, "%s: %u is not %u to %u", name, us, LEAST_US, MOST_US);
	return 0;
}

static int set_options(struct gpreempt *g, const struct gpreempt_options *o)
{
	int r;

	if (o->size < sizeof(*o))
		return FAIL(-EINVAL, "gpreempt_options.size is not set");
	g->patience_us = o->patience_us;
	g->suspend_us = o->suspend_us;
	r = check_time(o->patience_us, "patience_us");
	return r ? r : check_time(o->suspend_us, "suspend_us");
}

static void make_locks(struct gpreempt *g)
{
	pthread_condattr_t monotonic;

	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&g->changed, &monotonic);
	pthread_cond_init(&g->work, &monotonic);
	pthread_mutex_init(&g->lock, NULL);
	pthread_mutex_init(&g->creating, NULL);
	pthread_condattr_destroy(&monotonic);
}

/* Starts the threads with all signals blocked: signals must reach the program's own threads. */
static int start_threads(struct gpreempt *g)
{
	sigset_t every, before;
	int r;

	sigfillset(&every);
	pthread_sigmask(SIG_BLOCK, &every, &before);
	r = pthread_create(&g->hand, NULL, hand_run, g);
	if (r) {
		g->hand = 0; /* glibc may have written to it all the same */
	} else {
		r = pthread_create(&g->monitor, NULL, monitor_run, g);
		if (r)
			g->monitor = 0;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r ? FAIL(-r, "no thread can be started: %s", strerror(r)) : 0;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool any_suspended(struct gpreempt *g)
{
	for (unsigned int i = 0; i < g->core.n; i++)
		if (handle_queue(g, i)->is_suspended || handle_queue(g, i)->calling)
			return true;
	return false;
}

/* Ends all suspensions, and waits until no TSG is suspended, at most for LEAVING_NS. */
static void let_go(struct gpreempt *g)
{
	uint64_t end = gs_now_ns() + LEAVING_NS;

	pthread_mutex_lock(&g->lock);
	g->monitor_ends = true;
	for (unsigned int i = 0; i < g->core.n; i++)
		handle_queue(g, i)->lease_ns = 0;
	pthread_cond_signal(&g->work);
	while (any_suspended(g) && gs_now_ns() < end)
		handle_wait(g, &g->changed, LOOK_NS);
	pthread_mutex_unlock(&g->lock);
	board_wake(g->board);
}

/* Runs before libcuda's exit handler, which could wait for ever for a suspended context. */
static void at_exit(void)
{
	for (struct gpreempt *g = all; g; g = g->next)
		if (g->pid == getpid())
			let_go(g);
}

static void join(struct gpreempt *g)
{
	let_go(g);
	if (g->monitor)
		pthread_join(g->monitor, NULL);
	pthread_mutex_lock(&g->lock);
	g->hand_ends = true;
	pthread_cond_signal(&g->work);
	pthread_mutex_unlock(&g->lock);
	if (g->hand)
		pthread_join(g->hand, NULL);
}

static void enlist(struct gpreempt *g, bool in)
{
	static bool hooked;
	struct gpreempt **at = &all;

	pthread_mutex_lock(&all_lock);
	if (!hooked)
		hooked = !atexit(at_exit);
	while (*at && *at != g)
		at = &(*at)->next;
	if (in)
		*at = g;
	else if (*at)
		*at = g->next;
	pthread_mutex_unlock(&all_lock);
}

void gpreempt_end(struct gpreempt *g)
{
	if (!g || g->pid != getpid())
		return;
	enlist(g, false);
	while (g->core.n)
		gpreempt_destroy_queue(handle_queue(g, 0));
	if (g->board)
		join(g);
	board_free(g->board);
	way_free(g->way);
	pthread_cond_destroy(&g->changed);
	pthread_cond_destroy(&g->work);
	pthread_mutex_destroy(&g->lock);
	pthread_mutex_destroy(&g->creating);
	free(g);
}

static void end_(struct gpreempt **g)
{
	gpreempt_end(*g);
}

int gpreempt_init(const struct gpreempt_options *options, struct gpreempt **ret)
{
	const struct gpreempt_options usual = { .size = sizeof(usual) };
	const struct gpreempt_options *o = options ? options : &usual;
	CLEANUP(end_) struct gpreempt *g = NULL;
	uint64_t gpu = 0;
	int r;

	if (!ret)
		return FAIL(-EINVAL, "the place for the handle is missing");
	g = calloc(1, sizeof(*g));
	if (!g)
		return FAIL(-ENOMEM, "out of memory");
	g->pid = getpid();
	g->core.outside = CORE_NONE;
	make_locks(g);
	r = set_options(g, o);
	if (!r)
		r = load_cuda(g);
	if (!r)
		r = find_device(g, o->device, &gpu);
	if (r)
		return r;
	r = board_new(gpu, &g->board);
	if (!r)
		r = way_new(&g->way);
	if (r)
		return FAIL(r, "%s", strerror(-r));
	monitor_learn_costs(g);
	r = start_threads(g);
	if (r)
		return r;
	enlist(g, true);
	*ret = TAKE_PTR(g);
	return 0;
}

const char *gpreempt_control(const struct gpreempt *g)
{
	return g ? way_name(g->way) : "none: no handle";
}

const char *gpreempt_alone(const struct gpreempt *g)
{
	return g ? board_why_alone(g->board) : "no handle";
}
