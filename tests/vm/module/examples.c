// SPDX-License-Identifier: MIT
/*
 * examples.c - check the policies of driver/examples; examples.sh has loaded them and pinned their
 * maps
 */
#include "program.h"

#include <bpf/bpf.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define H 0x5e000000u

static struct program p;
static int node;

static int map(const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/sys/fs/bpf/%s", name);
	fd = bpf_obj_get(path);
	if (fd < 0)
		die(path);
	return fd;
}

static void put(const char *name, uint32_t value)
{
	uint32_t pid = (uint32_t)getpid();

	if (bpf_map_update_elem(map(name), &pid, &value, BPF_ANY))
		die(name);
}

static long slice(uint32_t tsg)
{
	return gsp(p.client, tsg, "us");
}

/*
 * Makes a TSG with a channel and schedules it: settings that the policy chose in task_init are then
 * in force.
 */
static void make(uint32_t tsg)
{
	tsg_new(&p, tsg, 1);
	is(tsg_schedule(&p, tsg, true), 0, "a TSG is put onto its runlist");
}

static void priority_map(void)
{
	make(H);
	is(slice(H), 1024, "who is not in the map has the driver's slice");
	put("priorities", 12);
	make(H + 1);
	pass(gsp_becomes(p.client, H + 1, "us", 10000000), "priority 12: 10 s");
	is(tsg_set_timeslice(&p, H + 1, 500), 0, "its owner sets 500 us");
	is(slice(H + 1), 10000000, "priority 12 keeps 10 s");
	put("priorities", 7);
	make(H + 2);
	pass(gsp_becomes(p.client, H + 2, "us", 1000), "priority 7: 1 ms");
	is(tsg_set_timeslice(&p, H + 2, 3000), 0, "its owner sets 3 ms");
	pass(gsp_becomes(p.client, H + 2, "us", 3000), "priority 7 gets what its owner asks");
	put("priorities", 0);
	make(H + 3);
	pass(gsp_becomes(p.client, H + 3, "us", 200), "priority 0: 200 us");
}

static void lcbe_map(void)
{
	put("types", 1);
	make(H);
	pass(gsp_becomes(p.client, H, "us", 10000000), "an LC has 10 s");
	pass(gsp_becomes(p.client, H, "interleave", 2), "an LC has the high level");
	put("types", 0);
	make(H + 1);
	pass(gsp_becomes(p.client, H + 1, "us", 200), "a BE has 200 us");
	pass(gsp_becomes(p.client, H + 1, "interleave", 0), "a BE has the low level");
	is(tsg_set_timeslice(&p, H + 1, 5000), 0, "its owner sets 5 ms");
	is(slice(H + 1), 200, "a BE keeps 200 us");
}

static void rate_window(void)
{
	uint32_t pid = (uint32_t)getpid();
	struct {
		uint64_t since_ns;
		uint32_t tokens, type;
	} r = { 0 };

	tsg_new(&p, H, 3);
	is(tsg_schedule(&p, H, true), 0, "a TSG is put onto its runlist");
	channel_token(&p, channel_of(H, 0));
	channel_token(&p, channel_of(H, 1));
	is(bpf_map_lookup_elem(map("rates"), &pid, &r), 0, "the process has a window");
	is(r.tokens, 2, "the window has both tokens");
	is(r.type, 0, "nobody knows what it is before the window's end");
	is(slice(H), 1024, "until then its slice is the driver's");
	usleep(1100000);
	channel_token(&p, channel_of(H, 2));
	pass(gsp_becomes(p.client, H, "us", 200), "three in a second are best effort's");
	bpf_map_lookup_elem(map("rates"), &pid, &r);
	is(r.type, 2, "the map says so");
	is(r.tokens, 0, "a new window has begun");
}

struct life {
	uint64_t ns, wall_ns, value;
	uint32_t what, client, tsg, pid, tid, gpu, engine, group, runlist, channels, interleave;
	uint32_t status, class_id, weight, gpu_instance, compute_instance;
};

static struct life life(uint32_t at)
{
	struct life l = { 0 };

	bpf_map_lookup_elem(map("lives"), &at, &l);
	return l;
}

static void life_log(void)
{
	static const uint32_t order[] = { 1, 2, 3, 4, 4, 5 };
	uint32_t zero = 0, wrong = 0;
	uint64_t n = 0;
	struct life l;

	tsg_new(&p, H, 2);
	tsg_schedule(&p, H, true);
	tsg_set_timeslice(&p, H, 777);
	tsg_set_interleave(&p, H, 2);
	channel_token(&p, channel_of(H, 0));
	channel_token(&p, channel_of(H, 1));
	tsg_free(&p, H);
	bpf_map_lookup_elem(map("count"), &zero, &n);
	is((long)n, 6, "six things became of a TSG");
	for (uint32_t i = 0; i < 6; i++) {
		l = life(i);
		wrong += l.what != order[i] || l.client != p.client || l.tsg != H ||
			 l.pid != (uint32_t)getpid() || l.tid != (uint32_t)getpid();
	}
	is(wrong, 0, "they have its names, process and thread, in their order");
	l = life(0);
	pass(l.group != 0xffffffff && l.runlist != 0xffffffff && l.engine == 1,
	     "the driver's numbers are known: group %u, runlist %u", l.group, l.runlist);
	is(l.interleave, 1, "at its making it has RM's level");
	is(l.channels, 0, "at its making no channel has a token");
	is((long)life(2).value, 777, "the slice that its owner asked is there");
	is(life(3).interleave, 2, "the level that its owner set is there");
	is(life(4).channels, 2, "two channels have tokens");
	tsg_new(&p, H + 1, 1);
	is(life(6).group == l.group, 0, "another TSG has another number");
	is(life(6).class_id, 0xffffffff, "its class is not known before the daemon tells");
	is(life(6).gpu_instance, 0xfffffffe, "the driver tells that the GPU is not divided");
	if (node_tell(node, &p, H + 1, 1))
		die("told");
	tsg_schedule(&p, H + 1, true);
	is(life(7).class_id, GPUSCHED_CLASS_BE, "its class is what the daemon told");
	is(life(7).weight, 250, "its weight is what the daemon told");
	pass(life(7).gpu_instance == 2 && life(7).compute_instance == 1,
	     "its partition is what the daemon told");
	rm_divides(3 << 8 | 1);
	tsg_new(&p, H + 2, 1);
	rm_divides(3 << 8);
	tsg_new(&p, H + 3, 1);
	rm_divides(0);
	pass(life(8).gpu_instance == 2 && life(8).compute_instance == 0,
	     "the driver tells the partition of a TSG");
	pass(life(9).gpu_instance == 2 && life(9).compute_instance == 0xffffffff,
	     "in no compute instance it is unknown");
	l = life(7);
	pass(l.wall_ns / 1000000000 - (uint64_t)time(NULL) + 60 < 120,
	     "a policy knows the time of day: %llu ns", (unsigned long long)l.wall_ns);
}

void suite_example(const char *name)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} all[] = {
		{ "priority_map", priority_map },
		{ "lcbe_map", lcbe_map },
		{ "rate_window", rate_window },
		{ "life_log", life_log },
	};

	p = program_new();
	node = node_open();
	node_keep(node);
	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!strcmp(all[i].name, name))
			all[i].run();
	program_end(&p);
}
