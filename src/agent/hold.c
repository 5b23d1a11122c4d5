// SPDX-License-Identifier: MIT
/*
 * hold.c - the pre-switch: the GPU is brought to this program before its request's first launch
 *
 * A kernel of one thread waits for a word in host memory, and an empty one lies behind it. The GPU
 * switches to the waiting one, and stays: with nothing behind it the channel would be drained, and
 * the GPU would go on to somebody else. Both are on a stream of their own that no other waits for.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "agent/agent.h"
#include "agent/hold_ptx.h"
#include "agent/share.h"
#include "basic/clock.h"

#define LONGEST_NS (30 * NS_PER_MS)
#define SHARE_NS (250 * NS_PER_MS) /* of any second, by our clock */
#define CONTEXTS 8
#define NON_BLOCKING 1u
#define DEVICE_MAP 2u
#define RELAXED 2

typedef int result;
typedef void *handle;
typedef unsigned long long address;

/* field, name, parameters; what an old libcuda may lack is OPTIONAL */
#define CUDA(X, OPTIONAL) \
	X(current, "cuCtxGetCurrent", (handle *)) \
	X(push, "cuCtxPushCurrent_v2", (handle)) \
	X(pop, "cuCtxPopCurrent_v2", (handle *)) \
	X(load, "cuModuleLoadData", (handle *, const void *)) \
	X(function, "cuModuleGetFunction", (handle *, handle, const char *)) \
	X(launch, "cuLaunchKernel", \
	  (handle, unsigned int, unsigned int, unsigned int, unsigned int, unsigned int, \
	   unsigned int, unsigned int, handle, void **, void **)) \
	X(stream, "cuStreamCreate", (handle *, unsigned int)) \
	X(query, "cuStreamQuery", (handle)) \
	X(host, "cuMemHostAlloc", (void **, size_t, unsigned int)) \
	X(mapped, "cuMemHostGetDevicePointer_v2", (address *, void *, unsigned int)) \
	OPTIONAL(mode, "cuThreadExchangeStreamCaptureMode", (int *)) \
	OPTIONAL(id, "cuCtxGetId", (handle, unsigned long long *))

static struct {
#define X(field, name, parameters) result(*field) parameters;
	CUDA(X, X)
#undef X
	bool asked, complete;
} cuda;

/* What we have in one context. */
struct place {
	handle context, stream, wait, behind;
	unsigned long long id;
	_Atomic uint32_t *flag;
	address flag_at;
	bool broken;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* tried, never waited for */
static struct place places[CONTEXTS];
static unsigned int nplaces;
static handle last_context;
static struct share share;

/* The one that is on. */
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
	if (!agent_cuda("cuInit")) /* later, perhaps */
		return false;
	cuda.asked = true;
#define X(field, name, parameters) cuda.field = (result(*) parameters)agent_cuda(name);
	CUDA(X, X)
#undef X
	cuda.complete = true;
#define X(field, name, parameters) cuda.complete = cuda.complete && cuda.field;
#define OPTIONAL(field, name, parameters)
	CUDA(X, OPTIONAL)
#undef X
#undef OPTIONAL
	return cuda.complete;
}

static result launch(const struct place *p, uint64_t limit_ns)
{
	address at = p->flag_at;
	void *wait[] = { &at, &limit_ns }, *behind[] = { &at };
	result r = cuda.launch(p->wait, 1, 1, 1, 1, 1, 1, 0, p->stream, wait, NULL);

	return r ? r : cuda.launch(p->behind, 1, 1, 1, 1, 1, 1, 0, p->stream, behind, NULL);
}

/* Once a context, some ms. Both are launched with the word set, so that no later launch is a first. */
static result fill(struct place *p)
{
	handle module;
	void *memory;
	result r = cuda.load(&module, hold_ptx);

	if (!r)
		r = cuda.function(&p->wait, module, "gpusched_wait");
	if (!r)
		r = cuda.function(&p->behind, module, "gpusched_behind");
	if (!r)
		r = cuda.stream(&p->stream, NON_BLOCKING);
	if (!r)
		r = cuda.host(&memory, 4096, DEVICE_MAP);
	if (!r)
		r = cuda.mapped(&p->flag_at, memory, 0);
	if (r)
		return r;
	p->flag = memory;
	*p->flag = 1;
	return launch(p, LONGEST_NS);
}

static struct place *place_of(handle context)
{
	unsigned long long id = 0;
	struct place *p = NULL;

	if (cuda.id)
		cuda.id(context, &id);
	for (unsigned int i = 0; i < nplaces; i++) {
		if (places[i].context == context && places[i].id == id)
			return &places[i];
		if (!places[i].context || places[i].context == context)
			p = &places[i]; /* of one that has ended */
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
	if (ns > on.limit_ns) /* it ended by itself */
		ns = on.limit_ns;
	held_ns += ns;
	pthread_mutex_lock(&lock); /* held for launches at most */
	share_use(&share, now - ns, now);
	pthread_mutex_unlock(&lock);
}

/* Contexts have ids, so that a later one at the same address is another; with old libcudas they don't. */
void hold_forget(void *context)
{
	hold_release();
	pthread_mutex_lock(&lock);
	for (unsigned int i = 0; i < nplaces; i++)
		if (places[i].context == context || (!context && !cuda.id))
			places[i].context = NULL;
	last_context = NULL;
	pthread_mutex_unlock(&lock);
}

/* In @context, which is current. */
static enum hold_answer begin_in(handle context, uint64_t limit_ns)
{
	struct place *p = place_of(context);

	if (!p || p->broken)
		return HOLD_REFUSED;
	if (cuda.query(p->stream)) /* the one before has not ended: the GPU is elsewhere */
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

/* A thread that only listens has no context: then it is the one of the last hold. */
static enum hold_answer begin(uint64_t limit_ns)
{
	handle context = NULL, ours = NULL;
	enum hold_answer answer;
	int mode = RELAXED;

	if (!find_cuda() || cuda.current(&context) || !(context || last_context))
		return HOLD_NO_CONTEXT;
	if (!context && cuda.push(last_context))
		return HOLD_NO_CONTEXT;
	if (cuda.mode) /* a capture of another thread's is not to fail by what we do */
		cuda.mode(&mode);
	answer = begin_in(context ? context : last_context, limit_ns);
	if (cuda.mode)
		cuda.mode(&mode);
	if (!context)
		cuda.pop(&ours);
	else
		last_context = context;
	return answer;
}

enum hold_answer hold_begin(uint64_t limit_ns)
{
	enum hold_answer answer = HOLD_BUSY;
	uint64_t now = gs_now_ns();
	int saved = errno;

	if (!agent_settings.lc)
		return HOLD_NOT_LC;
	if (agent_settings.blind[0])
		return HOLD_BLIND;
	if (agent_hooks_capturing())
		return HOLD_CAPTURE;
	if (limit_ns > LONGEST_NS)
		limit_ns = LONGEST_NS;
	if (on.in && now - on.since_ns > on.limit_ns)
		hold_release();
	if (on.in || pthread_mutex_trylock(&lock))
		return HOLD_BUSY;
	answer = HOLD_SHARE;
	if (share_used(&share, now) + limit_ns <= SHARE_NS)
		answer = begin(limit_ns);
	pthread_mutex_unlock(&lock);
	errno = saved;
	return answer;
}
