// SPDX-License-Identifier: MIT
/*
 * hold.c - pre-switch: brings the GPU to this program before its request's first launch
 *
 * A kernel of one thread waits for a word in host memory, and an empty kernel is queued behind it.
 * The GPU switches to the waiting kernel, and stays. Without the empty kernel the channel would be
 * drained, and the GPU would go on to another program. Both kernels are on a separate stream, for
 * which no other stream waits.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/hold.h"
#include "agent/launches.h"
#include "agent/hold_ptx.h"
#include "agent/share.h"
#include "basic/clock.h"
#include "basic/cuda.h"

#define LONGEST_NS (30 * NS_PER_MS)
#define CONTEXTS 8

static struct {
	CUDA_FUNCTIONS(CUDA_MEMBER, CUDA_MEMBER)
	bool asked, complete;
} cuda;

/* The agent's objects in one context. */
struct place {
	cu_handle context, stream, wait, behind;
	unsigned long long id;
	_Atomic uint32_t *flag;
	cu_address flag_at;
	bool broken;
};

/* hold_begin() takes this with trylock only, so it never waits. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct place places[CONTEXTS];
static unsigned int nplaces;
static cu_handle last_context;
static struct share share;

/* The hold under way. */
static struct {
	_Atomic(struct place *) in;
	_Atomic uint64_t since_ns, limit_ns;
} on;
static _Atomic uint64_t holds, held_ns;

void hold_after_fork(void)
{
	pthread_mutex_init(&lock, NULL);
	nplaces = 0;
	last_context = NULL;
	on.in = NULL;
}

void hold_counts(uint64_t *ret_holds, uint64_t *ret_ns)
{
	*ret_holds = holds;
	*ret_ns = held_ns;
}

/* ---- ours in a context ----------------------------------------------------------------------- */

static bool find_cuda(void)
{
	if (cuda.asked)
		return cuda.complete;
	if (!agent_real_cuda("cuInit")) /* libcuda may be loaded later */
		return false;
	cuda.asked = true;
	cuda.complete = true;
#define FIND(field, name, parameters) *(void **)&cuda.field = agent_real_cuda(name);
#define NEED(field, name, parameters) \
	FIND(field, name, parameters) \
	cuda.complete = cuda.complete && cuda.field;
	CUDA_FUNCTIONS(NEED, FIND)
#undef NEED
#undef FIND
	return cuda.complete;
}

static cu_result launch(const struct place *p, uint64_t limit_ns)
{
	cu_address at = p->flag_at;
	void *wait[] = { &at, &limit_ns }, *behind[] = { &at };
	cu_result r = cuda.launch(p->wait, 1, 1, 1, 1, 1, 1, 0, p->stream, wait, NULL);

	return r ? r : cuda.launch(p->behind, 1, 1, 1, 1, 1, 1, 0, p->stream, behind, NULL);
}

/*
 * Makes the agent's objects in a context. Runs once per context, for some ms. Launches both kernels
 * with the word set already, since the first launch of a function is slow.
 */
static cu_result fill(struct place *p)
{
	cu_handle module;
	void *memory;
	cu_result r = cuda.module_load(&module, hold_ptx);

	if (!r)
		r = cuda.module_function(&p->wait, module, "gpusched_wait");
	if (!r)
		r = cuda.module_function(&p->behind, module, "gpusched_behind");
	if (!r)
		r = cuda.stream_create(&p->stream, CU_STREAM_NON_BLOCKING);
	if (!r)
		r = cuda.host_alloc(&memory, 4096, CU_HOST_DEVICEMAP);
	if (!r)
		r = cuda.host_address(&p->flag_at, memory, 0);
	if (r)
		return r;
	p->flag = memory;
	*p->flag = 1;
	return launch(p, LONGEST_NS);
}

static struct place *place_of(cu_handle context)
{
	unsigned long long id = 0;
	struct place *p = NULL;

	if (cuda.context_id)
		cuda.context_id(context, &id);
	for (unsigned int i = 0; i < nplaces; i++) {
		if (places[i].context == context && places[i].id == id)
			return &places[i];
		if (!places[i].context || places[i].context == context)
			p = &places[i]; /* the place of a context that ended */
	}
	if (!p && nplaces == CONTEXTS)
		return NULL;
	p = p ? p : &places[nplaces++];
	*p = (struct place){ .context = context, .id = id };
	p->broken = fill(p);
	return p;
}

/* ---- begin, release -------------------------------------------------------------------------- */

bool hold_is_on(void)
{
	return on.in;
}

void hold_release(void)
{
	struct place *p = atomic_exchange(&on.in, NULL);
	uint64_t now, ns;

	if (!p)
		return;
	*p->flag = 1;
	now = gs_now_ns();
	ns = now - on.since_ns;
	if (ns > on.limit_ns) /* the hold ended by itself */
		ns = on.limit_ns;
	held_ns += ns;
	/* a short wait: other threads hold the lock only while they launch kernels */
	pthread_mutex_lock(&lock);
	share_use(&share, now - ns, now);
	pthread_mutex_unlock(&lock);
}

/*
 * A later context at the same address has another id. Old versions of libcuda have no ids: there,
 * @context NULL drops all places.
 */
void hold_forget(void *context)
{
	hold_release();
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nplaces; i++)
		if (places[i].context == context || (!context && !cuda.context_id))
			places[i].context = NULL;
	last_context = NULL;
	pthread_mutex_unlock(&lock);
}

/* @context is the current one. */
static enum hold_answer begin_in(cu_handle context, uint64_t limit_ns)
{
	struct place *p = place_of(context);

	if (!p || p->broken)
		return HOLD_REFUSED;
	/* The last hold's kernels have not ended: the GPU runs another program. */
	if (cuda.stream_query(p->stream))
		return HOLD_BUSY;
	*p->flag = 0;
	if (launch(p, limit_ns)) {
		*p->flag = 1;
		p->broken = true;
		return HOLD_REFUSED;
	}
	on.since_ns = gs_now_ns();
	on.limit_ns = limit_ns;
	on.in = p;
	holds++;
	return HOLD_MADE;
}

/* A thread that only listens has no context: then the context of the last hold is used. */
static enum hold_answer begin(uint64_t limit_ns)
{
	cu_handle context = NULL, ours = NULL;
	enum hold_answer answer;
	int mode = CU_CAPTURE_RELAXED;

	if (!find_cuda() || cuda.context_get(&context) || !(context || last_context))
		return HOLD_NO_CONTEXT;
	if (!context && cuda.context_push(last_context))
		return HOLD_NO_CONTEXT;
	if (cuda.capture_mode) /* our calls must not break a stream capture of another thread */
		cuda.capture_mode(&mode);
	answer = begin_in(context ? context : last_context, limit_ns);
	if (cuda.capture_mode)
		cuda.capture_mode(&mode);
	if (!context)
		cuda.context_pop(&ours);
	else
		last_context = context;
	return answer;
}

enum hold_answer hold_begin(uint64_t limit_ns)
{
	enum hold_answer answer = HOLD_BUSY;
	uint64_t now = gs_now_ns();
	int saved = errno, state;

	if (!agent_settings.lc)
		return HOLD_NOT_LC;
	if (agent_settings.blind[0])
		return HOLD_BLIND;
	if (agent_settings.blocking)
		return HOLD_BLOCKING;
	if (launches_capturing())
		return HOLD_CAPTURE;
	if (limit_ns > LONGEST_NS)
		limit_ns = LONGEST_NS;
	if (on.in && now - on.since_ns > on.limit_ns)
		hold_release();
	if (on.in || pthread_mutex_trylock(&lock))
		return HOLD_BUSY;
	answer = HOLD_SHARE;
	/* a thread that is cancelled inside libcuda would keep the lock */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	if (share_used(&share, now) + limit_ns <= agent_sheet_share_ns(now))
		answer = begin(limit_ns);
	pthread_mutex_unlock(&lock);
	pthread_setcancelstate(state, NULL);
	errno = saved;
	return answer;
}
