// SPDX-License-Identifier: MIT
/*
 * test_gate.c - check the release of processes that the gate has stopped
 *
 * The gate itself needs a kernel with BPF LSM (tests/vm/gate.sh tests it). This test writes the
 * gate's entries into the table itself.
 */
#include <bpf/bpf.h>

#include "basic/clock.h"
#include "gate/gate.h"
#include "process/process.h"
#include "taps/taps.h"
#include "taps_fixture.h"
#include "table/cfg.h"

/* A stopped process, and its entry in the gate's table. */
struct waiter {
	pid_t pid;
	struct gpusched_stopped_key key;
	struct gpusched_stopped value;
};

static char state_of(pid_t pid)
{
	char path[32], line[64], state = 0;
	CLEANUP_FILE FILE *f = NULL;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "State: %c", &state) == 1)
			break;
	return state;
}

static bool becomes(pid_t pid, char state)
{
	for (int i = 0; i < 500; i++) {
		if (state_of(pid) == state)
			return true;
		usleep(10000);
	}
	return false;
}

static void enter(const struct waiter *w)
{
	int fd = gs_table_map_fd(table, "gs_stopped");

	assert_int_equal(bpf_map_update_elem(fd, &w->key, &w->value, BPF_ANY), 0);
}

static bool entered(const struct waiter *w)
{
	int fd = gs_table_map_fd(table, "gs_stopped");
	struct gpusched_stopped now;

	return !bpf_map_lookup_elem(fd, &w->key, &now);
}

static struct waiter stopped_process(const struct gpusched_tsg *rec)
{
	struct waiter w = { .pid = fork() };

	if (!w.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_int_equal(kill(w.pid, SIGSTOP), 0);
	assert_true(becomes(w.pid, 'T'));
	w.key = (struct gpusched_stopped_key){ .id = rec->task.id, .tgid = (uint32_t)w.pid };
	w.value = (struct gpusched_stopped){ .start_ns = gs_proc_start_ns(w.pid),
					     .key = rec->key,
					     .stops = 1 };
	enter(&w);
	return w;
}

static void end(const struct waiter *w)
{
	kill(w->pid, SIGKILL);
	waitpid(w->pid, NULL, 0);
}

static struct gpusched_tsg held_tsg(int fd)
{
	struct gpusched_poke poke = { .what = GPUSCHED_POKE_FLAGS,
				      .flags_mask = GPUSCHED_TSG_HELD | GPUSCHED_TSG_GATED };

	rc_client(fd, RC_CLIENT, 0);
	rc_tsg(fd, RC_CLIENT, RC_TSG, 1);
	poke.rec = only();
	poke.rec.flags |= poke.flags_mask;
	poke.key = poke.rec.key;
	poke.id = poke.rec.task.id;
	assert_int_equal(gs_table_poke(table, &poke), 0);
	return only();
}

static void admit(const struct gpusched_tsg *rec)
{
	struct gpusched_poke poke = {
		.key = rec->key,
		.id = rec->task.id,
		.what = GPUSCHED_POKE_ADMIT,
	};

	assert_int_equal(gs_table_poke(table, &poke), 0);
}

static struct gs_released release(bool all)
{
	struct gs_released done = {};

	assert_int_equal(gs_gate_release(table, all, &done), 0);
	return done;
}

static void test_held_stays_until_admitted(void **state)
{
	struct gpusched_tsg rec;
	struct gs_released done;
	CLEANUP_FD int fd = -1;
	struct waiter w;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	assert_true(gs_at_gate(&rec));
	w = stopped_process(&rec);
	done = release(false);
	assert_int_equal(done.continued + done.left + done.gone, 0);
	assert_int_equal(state_of(w.pid), 'T');
	assert_true(entered(&w));
	admit(&rec);
	done = release(false);
	assert_int_equal(done.continued, 1);
	assert_true(becomes(w.pid, 'S'));
	assert_false(entered(&w));
	assert_int_equal(release(false).continued, 0);
	end(&w);
}

/* A process past its share waits until the table has room for it, or until the limit. */
static void test_past_share(void **state)
{
	struct gpusched_tsg no_tsg = { .key = { 0x1230, 5, 6 } };
	struct gpusched_proc proc = { .source = GPUSCHED_SRC_COMMAND, .past = 1 };
	struct waiter w;
	uint32_t tgid;
	int procs;

	NEEDS();
	procs = gs_table_map_fd(table, "gs_procs");
	assert_int_equal(gs_cfg_policy_active(table, true), 0);
	assert_int_equal(gs_cfg_gate(table, true), 0);
	w = stopped_process(&no_tsg);
	tgid = (uint32_t)w.pid;
	proc.start_ns = w.value.start_ns;
	assert_int_equal(bpf_map_update_elem(procs, &tgid, &proc, BPF_ANY), 0);
	assert_int_equal(release(false).continued, 0);
	assert_int_equal(gs_gate_limit(table, UINT64_MAX), 0);
	assert_int_equal(state_of(w.pid), 'T');
	/* the table has room */
	proc.past = 0;
	assert_int_equal(bpf_map_update_elem(procs, &tgid, &proc, BPF_ANY), 0);
	assert_int_equal(release(false).continued, 1);
	assert_true(becomes(w.pid, 'S'));
	end(&w);
	/* the wait has reached the limit */
	w = stopped_process(&no_tsg);
	tgid = (uint32_t)w.pid;
	proc.past = 1;
	proc.start_ns = w.value.start_ns;
	assert_int_equal(bpf_map_update_elem(procs, &tgid, &proc, BPF_ANY), 0);
	assert_int_equal(gs_gate_limit(table, 0), 0);
	assert_true(becomes(w.pid, 'S'));
	assert_int_equal(bpf_map_lookup_elem(procs, &tgid, &proc), 0);
	assert_int_equal(proc.let, 1);
	end(&w);
	/* no policy runs */
	w = stopped_process(&no_tsg);
	tgid = (uint32_t)w.pid;
	proc.let = 0;
	proc.start_ns = w.value.start_ns;
	assert_int_equal(bpf_map_update_elem(procs, &tgid, &proc, BPF_ANY), 0);
	assert_int_equal(release(false).continued, 0);
	assert_int_equal(gs_cfg_policy_active(table, false), 0);
	assert_int_equal(release(false).continued, 1);
	assert_true(becomes(w.pid, 'S'));
	end(&w);
}

static void test_without_its_tsg_it_goes_on(void **state)
{
	struct gpusched_tsg rec;
	CLEANUP_FD int fd = -1;
	struct waiter w;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	w = stopped_process(&rec);
	rc_free(fd, RC_CLIENT, RC_DEVICE, RC_TSG);
	assert_int_equal(records(), 0);
	assert_int_equal(release(false).continued, 1);
	assert_true(becomes(w.pid, 'S'));
	end(&w);
}

static void test_all_go_on_and_are_admitted(void **state)
{
	struct gpusched_tsg rec;
	struct waiter w[20];
	CLEANUP_FD int fd = -1;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	for (size_t i = 0; i < GS_COUNT(w); i++)
		w[i] = stopped_process(&rec);
	assert_int_equal(release(true).continued, GS_COUNT(w));
	for (size_t i = 0; i < GS_COUNT(w); i++) {
		assert_true(becomes(w[i].pid, 'S'));
		assert_false(entered(&w[i]));
		end(&w[i]);
	}
	assert_int_equal(only().flags & GPUSCHED_TSG_HELD, 0);
}

static void test_who_else_stopped_it_keeps_it(void **state)
{
	struct gpusched_tsg rec;
	struct gs_released done;
	CLEANUP_FD int fd = -1;
	struct waiter w;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	w = stopped_process(&rec);
	kill(w.pid, SIGSTOP);
	admit(&rec);
	done = release(false);
	assert_int_equal(done.continued, 0);
	assert_int_equal(done.left, 1);
	assert_false(entered(&w));
	assert_int_equal(state_of(w.pid), 'T');
	kill(w.pid, SIGCONT);
	assert_true(becomes(w.pid, 'S'));
	/* two SIGSTOPs, both the gate's: the process is continued */
	kill(w.pid, SIGSTOP);
	assert_true(becomes(w.pid, 'T'));
	kill(w.pid, SIGSTOP);
	w.value.stops = 2;
	enter(&w);
	assert_int_equal(release(false).continued, 1);
	assert_true(becomes(w.pid, 'S'));
	end(&w);
}

static void test_another_process_is_not_continued(void **state)
{
	struct gpusched_tsg rec;
	struct gs_released done;
	CLEANUP_FD int fd = -1;
	struct waiter w, dead;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	w = stopped_process(&rec);
	w.value.start_ns -= NS_PER_S; /* as if the entry were of an earlier process with this PID */
	enter(&w);
	dead = stopped_process(&rec);
	end(&dead);
	done = release(true);
	assert_int_equal(done.continued, 0);
	assert_int_equal(done.gone, 2);
	assert_int_equal(state_of(w.pid), 'T');
	assert_false(entered(&w) || entered(&dead));
	end(&w);
}

static void test_off_lets_all_go(void **state)
{
	struct gpusched_tsg rec;
	CLEANUP_FD int fd = -1;
	struct waiter w;

	NEEDS();
	fd = open_ctl();
	rec = held_tsg(fd);
	w = stopped_process(&rec);
	assert_int_equal(gs_taps_off(NULL), 0);
	assert_true(becomes(w.pid, 'S'));
	end(&w);
	assert_int_equal(gs_taps_on(NULL), 0);
}

static void test_there_or_a_reason(void **state)
{
	struct gs_error err = {};
	struct gs_taps_status st = {};
	int r;

	NEEDS();
	r = gs_gate_probe(&err);
	assert_int_equal(gs_taps_status(&st, NULL), 0);
	assert_int_equal(st.gate, !r);
	assert_int_equal(gs_gate_there(), !r);
	assert_true(!r || err.text[0]);
	assert_false(gs_gate_used(table));
	assert_int_equal(gs_cfg_gate(table, true), 0);
	assert_int_equal(gs_gate_used(table), !r);
	assert_int_equal(gs_cfg_gate(table, false), 0);
}

int main(void)
{
#define T(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)
	static const struct CMUnitTest tests[] = {
		T(test_there_or_a_reason),
		T(test_held_stays_until_admitted),
		T(test_past_share),
		T(test_without_its_tsg_it_goes_on),
		T(test_all_go_on_and_are_admitted),
		T(test_who_else_stopped_it_keeps_it),
		T(test_another_process_is_not_continued),
		T(test_off_lets_all_go),
	};

	return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
