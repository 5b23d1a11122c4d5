// SPDX-License-Identifier: MIT
/*
 * tick.c - runs a policy's rounds, and ends a policy that takes too long
 *
 * The module has no tick. A thread here runs the policy's rounds, as the daemon's thread does on
 * the stock host. It runs the object's program gpusched_run, and then gs_module_wish, which passes
 * the wanted settings to the module.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "loader.h"
#include "policy/rest.h"

#define LOOK_NS 10000000ull /* longest delay until a kick or the end of a rest is noticed */

const char *const tick_programs[2] = { "gpusched_run", "gs_module_wish" };

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000ull + (uint64_t)t.tv_nsec;
}

static int program_fd(struct loader *l, const char *name)
{
	return bpf_program__fd(bpf_object__find_program_by_name(l->object, name));
}

int tick_open(struct loader *l)
{
	int fd = bpf_object__find_map_fd_by_name(l->object, "gs_pstate");

	l->run_fd = program_fd(l, tick_programs[0]);
	l->wish_fd = program_fd(l, tick_programs[1]);
	l->state = mmap(NULL, sizeof(*l->state), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (l->state == MAP_FAILED || l->run_fd < 0 || l->wish_fd < 0) {
		fprintf(stderr, "policy-load: the glue is not complete\n");
		l->state = NULL;
		return -1;
	}
	return 0;
}

static void round_now(struct loader *l, uint64_t seq, struct gs_rest *rest)
{
	struct gpusched_run run = { .op = GPUSCHED_RUN_TICK, .arg = seq << 32 | l->desc.tick_us };
	LIBBPF_OPTS(bpf_test_run_opts, ask, .ctx_in = &run, .ctx_size_in = sizeof(run));
	LIBBPF_OPTS(bpf_test_run_opts, wish);
	uint64_t took;

	__atomic_store_n(&l->began_ns, now_ns(), __ATOMIC_RELEASE);
	if (!bpf_prog_test_run_opts(l->run_fd, &ask))
		bpf_prog_test_run_opts(l->wish_fd, &wish);
	if (wish.retval && !l->parks)
		fprintf(stderr,
			"policy-load: policy %s wishes programs parked: refused, only gpuschedd "
			"parks\n",
			l->desc.name);
	l->parks = l->parks || wish.retval;
	took = now_ns() - l->began_ns;
	if (took > l->longest_ns)
		__atomic_store_n(&l->longest_ns, took, __ATOMIC_RELEASE);
	__atomic_store_n(&l->began_ns, 0, __ATOMIC_RELEASE);
	rest->until_ns = now_ns() + gs_rest_ms(run.ret, run.changed) * 1000000ull;
}

static void *rounds(void *arg)
{
	struct loader *l = arg;
	uint64_t next = 0, seq = 0, kicks = 0, activity = 0;
	struct gs_rest rest = { 0 };

	while (!__atomic_load_n(&l->quit, __ATOMIC_ACQUIRE)) {
		uint64_t now = now_ns(), sleep = LOOK_NS, period = l->desc.tick_us * 1000ull;
		uint64_t seen = __atomic_load_n(&l->state->activity, __ATOMIC_RELAXED);
		uint64_t kicked = __atomic_load_n(&l->state->kicks, __ATOMIC_RELAXED);

		if (seen != activity)
			gs_rest_end(&rest);
		activity = seen;
		if (kicked != kicks || (now >= next && !gs_rest_is(&rest, now))) {
			kicks = kicked;
			next = now + period;
			round_now(l, ++seq, &rest);
		} else if (next > now && next - now < sleep) {
			sleep = next - now;
		}
		usleep((useconds_t)((period < sleep ? period : sleep) / 1000));
	}
	return NULL;
}

int tick_start(struct loader *l)
{
	l->ticks = l->desc.tick_us && !pthread_create(&l->ticker, NULL, rounds, l);
	return l->desc.tick_us && !l->ticks ? -1 : 0;
}

void tick_stop(struct loader *l)
{
	__atomic_store_n(&l->state->stopped, 1,
			 __ATOMIC_RELEASE); /* a round ends at the next TSG */
	__atomic_store_n(&l->quit, true, __ATOMIC_RELEASE);
	if (l->ticks && !__atomic_load_n(&l->began_ns, __ATOMIC_ACQUIRE))
		pthread_join(l->ticker, NULL);
}

bool tick_failed(struct loader *l)
{
	uint64_t began = __atomic_load_n(&l->began_ns, __ATOMIC_ACQUIRE), now = now_ns();
	uint64_t longest = __atomic_load_n(&l->longest_ns, __ATOMIC_ACQUIRE);

	if (__atomic_load_n(&l->state->failed, __ATOMIC_ACQUIRE)) {
		fprintf(stderr, "policy-load: policy %s failed: %.*s (code %d)\n", l->desc.name,
			GPUSCHED_TEXT_LEN, l->state->fail_text.s, l->state->fail_code);
		return true;
	}
	if (began && now > began + longest)
		longest = now - began;
	if (longest > l->desc.timeout_ms * 1000000ull) {
		fprintf(stderr, "policy-load: policy %s stalled: a round took longer than %u ms\n",
			l->desc.name, l->desc.timeout_ms);
		return true;
	}
	return false;
}
