/* SPDX-License-Identifier: MIT */
/* test_simlog.c - check the simulated RM's context-switch log against the model's own figures */
#include "simrm_world.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/memfd.h"

#define PAGE 4096u
#define READ_ONLY (1u << 22)
#define MS 1000000ull

struct reader {
	struct sim_file *file;
	uint32_t client, device, subdevice, h_header, h_records, buffer;
	volatile struct sim_log_header *header;
	struct sim_log_record *records;
	uint32_t count, get;
	int fd[2];
};

static int map_fd(const struct sim_caller *c, int fd, size_t size, void **ret)
{
	return sim_memfd_map(fd, size, ret);
}

static void become(struct simrm_world *w, pid_t pid, uid_t uid, bool admin)
{
	w->caller.tid = w->caller.tgid = pid;
	w->caller.uid = uid;
	w->admin = admin;
}

static void begin(struct simrm_world *w, unsigned int branch)
{
	world_new(w, branch);
	w->caller.map = map_fd;
}

/* ---- the reader ------------------------------------------------------------------------------ */

static uint32_t new_memory(struct simrm_world *w, struct reader *r, uint64_t size, uint32_t attr2,
			   uint32_t *handle)
{
	uint32_t p[32] = { 0 };

	p[7] = attr2;
	memcpy(&p[16], &size, sizeof(size));
	*handle = 0;
	return world_alloc(w, r->file, r->client, r->client, handle, SIM_CLASS_MEM_DEVICELESS, p,
			   sizeof(p));
}

static int new_memfd(size_t size, bool sealed)
{
	int fd = memfd_create("log", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	if (sealed)
		assert_int_equal(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

static uint32_t map(struct simrm_world *w, struct reader *r, uint32_t memory, uint64_t size, int fd)
{
	struct sim_os_map m = {
		.client = r->client,
		.device = r->client,
		.memory = memory,
		.length = size,
		.flags = 1,
		.status = ~0u,
		.fd = fd,
	};

	assert_int_equal(
		sim_rm_ioctl(w->rm, r->file, _IOWR('F', SIM_ESC_MAP, m), &m, sizeof(m), &w->caller),
		0);
	return m.status;
}

static uint32_t new_buffer(struct simrm_world *w, struct reader *r, uint32_t record_size,
			   uint32_t count)
{
	struct sim_log_params p = {
		.record_size = record_size,
		.record_count = count,
		.h_header = r->h_header,
		.h_records = r->h_records,
	};

	r->buffer = 0;
	return world_alloc(w, r->file, r->client, r->client, &r->buffer, SIM_CLASS_EVENT_BUFFER, &p,
			   sizeof(p));
}

static uint32_t bind_log(struct simrm_world *w, struct reader *r, bool all_users)
{
	struct sim_ctrl_log_bind p = {
		.buffer = r->buffer,
		.record_size = sizeof(struct sim_log_record),
		.filter = ~0u,
		.all_users = all_users,
		.reason = 99,
	};
	uint32_t status =
		world_control(w, r->file, r->client, r->subdevice, 0x20801238, &p, sizeof(p));

	assert_int_equal(p.reason, 0);
	return status;
}

static uint32_t enable(struct simrm_world *w, struct reader *r, uint8_t on, uint32_t flags)
{
	struct sim_ctrl_log_enable p = { .enable = on, .flags = flags };

	return world_control(w, r->file, r->client, r->buffer, 0x90cd0101, &p, sizeof(p));
}

static void flush(struct simrm_world *w, struct reader *r)
{
	assert_int_equal(world_control(w, r->file, r->client, r->buffer, 0x90cd0104, NULL, 0), 0);
}

/* Tells RM that all records so far have been read. */
static void seen(struct simrm_world *w, struct reader *r)
{
	struct sim_ctrl_log_get p = { .record = r->get };

	assert_int_equal(world_control(w, r->file, r->client, r->buffer, 0x90cd0102, &p, sizeof(p)),
			 0);
}

static void reader_objects(struct simrm_world *w, struct reader *r)
{
	uint32_t dev[14] = { 0 }, sub = 0;

	memset(r, 0, sizeof(*r));
	r->file = world_open(w);
	assert_int_equal(world_alloc(w, r->file, 0, 0, &r->client, SIM_CLASS_ROOT_CLIENT, NULL, 0),
			 0);
	assert_int_equal(world_alloc(w, r->file, r->client, r->client, &r->device, SIM_CLASS_DEVICE,
				     dev, sizeof(dev)),
			 0);
	assert_int_equal(world_alloc(w, r->file, r->client, r->device, &r->subdevice,
				     SIM_CLASS_SUBDEVICE, &sub, sizeof(sub)),
			 0);
}

static void reader_buffer(struct simrm_world *w, struct reader *r, uint32_t count, bool all_users)
{
	size_t size = (count * sizeof(struct sim_log_record) + PAGE - 1) / PAGE * PAGE;

	r->count = count;
	assert_int_equal(new_memory(w, r, PAGE, READ_ONLY, &r->h_header), 0);
	assert_int_equal(new_memory(w, r, size, READ_ONLY, &r->h_records), 0);
	r->fd[0] = new_memfd(PAGE, true);
	r->fd[1] = new_memfd(size, true);
	assert_int_equal(map(w, r, r->h_header, PAGE, r->fd[0]), 0);
	assert_int_equal(map(w, r, r->h_records, size, r->fd[1]), 0);
	r->header = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, r->fd[0], 0);
	r->records = mmap(NULL, size, PROT_READ, MAP_SHARED, r->fd[1], 0);
	assert_true(r->header != MAP_FAILED && r->records != MAP_FAILED);
	assert_int_equal(new_buffer(w, r, sizeof(struct sim_log_record), count), 0);
	assert_int_equal(bind_log(w, r, all_users), 0);
	assert_int_equal(enable(w, r, 1, 1), 0);
}

static void reader_new(struct simrm_world *w, struct reader *r, uint32_t count, bool all_users)
{
	reader_objects(w, r);
	reader_buffer(w, r, count, all_users);
}

static void reader_free(struct simrm_world *w, struct reader *r)
{
	sim_rm_release(w->rm, r->file);
	munmap((void *)r->header, PAGE);
	munmap(r->records, (r->count * sizeof(struct sim_log_record) + PAGE - 1) / PAGE * PAGE);
	close(r->fd[0]);
	close(r->fd[1]);
}

/* ---- loads ----------------------------------------------------------------------------------- */

/* Makes a TSG of process @pid, and submits @kernels kernels of 300 us to it. */
static void load(struct simrm_world *w, struct world_tsg *t, pid_t pid, uid_t uid, uint32_t engine,
		 int kernels)
{
	struct sim_caller was = w->caller;
	struct sim_work k = { .kind = SIM_WORK_KERNEL, .blocks = 1056, .block_ns = 300000 };
	struct sim_work copy = { .kind = SIM_WORK_COPY, .bytes = 10000000 };
	uint8_t on[3] = { 1 };

	w->caller.tid = w->caller.tgid = pid;
	w->caller.uid = uid;
	world_tsg(w, t, 0, engine);
	assert_int_equal(world_control(w, t->file, t->client, t->tsg, 0xa06c0101, on,
				       w->branch >= 575 ? 3 : 2),
			 0);
	for (int i = 0; i < kernels; i++)
		assert_int_equal(
			sim_work_submit(sim_rm_channel(w->rm, t->file, t->client, t->channel[0]),
					engine == 1 ? &k : &copy),
			0);
	w->caller = was;
}

static void run_until(struct simrm_world *w, uint64_t ns)
{
	uint64_t next;

	while ((next = sim_rm_next(w->rm)) <= ns) {
		sim_model_advance(w->model, next);
		sim_rm_run(w->rm, next);
	}
	sim_model_advance(w->model, ns);
}

static uint64_t held(struct simrm_world *w, const struct world_tsg *t)
{
	struct sim_tsg_state s;

	sim_model_tsg_state(
		sim_model_channel_tsg(sim_rm_channel(w->rm, t->file, t->client, t->channel[0])),
		&s);
	return s.held_ns;
}

static const struct sim_log_record *next_record(struct reader *r)
{
	const struct sim_log_record *rec = &r->records[r->get];

	if (r->get == r->header->put)
		return NULL;
	r->get = (r->get + 1) % r->count;
	return rec;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void accounts(void **s)
{
	struct simrm_world w;
	struct world_tsg a, b, copy;
	struct reader r;
	const struct sim_log_record *rec;
	uint64_t sum[2] = { 0 }, since[2] = { 0 };
	uint32_t n = 0;

	begin(&w, 580);
	reader_new(&w, &r, 4096, true);
	load(&w, &a, 201, 1000, 1, 100);
	load(&w, &b, 202, 1001, 1, 50);
	load(&w, &copy, 203, 1001, 9, 5);
	run_until(&w, 100 * MS);
	flush(&w, &r);
	for (; (rec = next_record(&r)); n++) {
		int k = rec->context_id == b.cid[0];

		assert_int_equal(rec->type, 2);
		assert_int_equal(rec->seqno, n);
		assert_int_equal(rec->context_id, k ? b.cid[0] : a.cid[0]);
		assert_int_equal(rec->pid, k ? 202 : 201);
		assert_int_equal(rec->gi, 0xff);
		assert_int_equal(rec->ns % 32, 0);
		if (rec->tag == SIM_LOG_START) {
			since[k] = rec->ns;
		} else {
			assert_int_equal(rec->tag, SIM_LOG_END);
			assert_true(since[k]);
			sum[k] += rec->ns - since[k];
			since[k] = 0;
		}
	}
	assert_true(n > 40);
	assert_int_equal(r.header->dropped, 0);
	for (int k = 0; k < 2; k++) /* the TSG that came last is still loaded */
		sum[k] += since[k] ? 100 * MS - since[k] : 0;
	assert_true(sum[0] > 30 * MS && sum[1] > 15 * MS);
	assert_in_range(sum[0], held(&w, &a) - 32ull * n, held(&w, &a) + 32ull * n);
	assert_in_range(sum[1], held(&w, &b) - 32ull * n, held(&w, &b) + 32ull * n);
	reader_free(&w, &r);
	world_free(&w);
}

/*
 * Lets two TSGs have @n turns alternately. Each turn adds two records to the log: the END of the
 * other TSG's turn and a START; the very first turn adds only a START.
 */
static void turns(struct simrm_world *w, const struct world_tsg t[2], int n)
{
	struct sim_work k = { .kind = SIM_WORK_KERNEL, .blocks = 1, .block_ns = 10000 };
	static int at;

	for (int i = 0; i < n; i++) {
		const struct world_tsg *next = &t[at++ % 2];

		sim_work_submit(sim_rm_channel(w->rm, next->file, next->client, next->channel[0]),
				&k);
		run_until(w, sim_model_now(w->model) + 1 * MS);
	}
}

static void two_loads(struct simrm_world *w, struct world_tsg t[2])
{
	load(w, &t[0], 201, 0, 1, 0);
	load(w, &t[1], 202, 0, 1, 0);
}

/* A TSG that is alone causes no switches, however often it drains and gets work again. */
static void silent(void **s)
{
	struct simrm_world w;
	struct world_tsg t;
	struct reader r;

	begin(&w, 580);
	reader_new(&w, &r, 64, true);
	load(&w, &t, 201, 0, 1, 3);
	run_until(&w, 10 * MS);
	load(&w, &t, 201, 0, 9, 3); /* copies run on another engine */
	for (int i = 0; i < 5; i++) {
		struct world_tsg both[2] = { t, t };

		turns(&w, both, 2);
	}
	flush(&w, &r);
	assert_int_equal(r.header->put, 1);
	assert_int_equal(next_record(&r)->tag, SIM_LOG_START);
	reader_free(&w, &r);
	world_free(&w);
}

/* RM delivers records 30 times a second, on old branches once a second, and at once after FLUSH. */
static void delivery(void **s)
{
	static const struct {
		unsigned int branch;
		uint64_t ns;
	} by_branch[] = { { 535, 1000 * MS }, { 550, 33333333 }, { 595, 33333333 } };

	for (int i = 0; i < 3; i++) {
		struct simrm_world w;
		struct world_tsg t[2];
		struct reader r;

		begin(&w, by_branch[i].branch);
		assert_true(sim_rm_next(w.rm) == UINT64_MAX);
		reader_new(&w, &r, 64, true);
		two_loads(&w, t);
		turns(&w, t, 2);
		run_until(&w, by_branch[i].ns - 1);
		assert_int_equal(r.header->put, 0);
		run_until(&w, by_branch[i].ns);
		assert_int_equal(r.header->put, 3);
		turns(&w, t, 1);
		run_until(&w, by_branch[i].ns + 10 * MS);
		assert_int_equal(r.header->put, 3);
		turns(&w, t, 1);
		flush(&w, &r);
		assert_int_equal(r.header->put, 7);
		reader_free(&w, &r);
		assert_true(sim_rm_next(w.rm) == UINT64_MAX);
		world_free(&w);
	}
}

static void overflow(void **s)
{
	struct simrm_world w;
	struct world_tsg t[2];
	struct reader r;

	begin(&w, 580);
	reader_new(&w, &r, 8, true);
	two_loads(&w, t);
	turns(&w, t, 1);
	flush(&w, &r);
	assert_int_equal(next_record(&r)->seqno, 0); /* the first START */
	seen(&w, &r);
	turns(&w, t, 6);
	flush(&w, &r);
	/* there is room for seven records: one place stays empty */
	assert_int_equal(r.header->put, 0);
	assert_int_equal(r.header->dropped, 5);
	for (uint16_t i = 1; i < 8; i++)
		assert_int_equal(next_record(&r)->seqno, i);
	assert_null(next_record(&r));
	seen(&w, &r);
	assert_int_equal(r.header->dropped, 0);
	assert_int_equal(r.header->get, 0);
	turns(&w, t, 1);
	flush(&w, &r);
	assert_int_equal(next_record(&r)->seqno, 13); /* the gap */
	assert_int_equal(next_record(&r)->seqno, 14);
	seen(&w, &r);
	assert_int_equal(enable(&w, &r, 1, 2), 0); /* mode 2: a full log keeps the newest */
	turns(&w, t, 6);
	flush(&w, &r);
	assert_int_equal(r.header->dropped, 0);
	assert_int_equal(r.records[(r.header->put + 7) % 8].seqno, 26);
	assert_int_equal(enable(&w, &r, 0, 0), 0);
	turns(&w, t, 1);
	flush(&w, &r);
	assert_int_equal(enable(&w, &r, 1, 1), 0);
	r.get = r.header->put;
	seen(&w, &r);
	turns(&w, t, 1);
	flush(&w, &r);
	/* the time in which the log was disabled leaves a gap, too */
	assert_int_equal(next_record(&r)->seqno, 29);
	assert_int_equal(enable(&w, &r, 1, 4), 0x1f);
	reader_free(&w, &r);
	world_free(&w);
}

/* Only administrators see other users' names; the check is made when the buffer is bound. */
static void unprivileged(void **s)
{
	struct simrm_world w;
	struct world_tsg own, other;
	struct reader all, mine;
	const struct sim_log_record *rec;
	unsigned int n = 0, hidden = 0;

	begin(&w, 580);
	become(&w, 300, 1000, false);
	reader_new(&w, &all, 256, true);
	reader_new(&w, &mine, 256, false);
	become(&w, 300, 1000, true);
	load(&w, &own, 201, 1000, 1, 30);
	load(&w, &other, 202, 1001, 1, 30);
	run_until(&w, 100 * MS);
	flush(&w, &all);
	for (; (rec = next_record(&all)); n++) {
		hidden += !rec->pid;
		assert_true(rec->pid ? rec->pid == 201 && rec->context_id == own.cid[0]
				     : !rec->context_id);
	}
	assert_true(hidden > 10 && n - hidden > 10);
	for (n = 0; (rec = next_record(&mine)); n++)
		assert_int_equal(rec->pid, 201);
	assert_true(n > 10);
	reader_free(&w, &all);
	reader_free(&w, &mine);
	world_free(&w);
}

/* RM does not name a process that ended before RM delivered its records. */
static void gone(void **s)
{
	struct simrm_world w;
	struct world_tsg a, b;
	struct reader r;
	const struct sim_log_record *rec;

	begin(&w, 580);
	reader_new(&w, &r, 256, true);
	load(&w, &a, 201, 0, 1, 30);
	load(&w, &b, 202, 0, 1, 30);
	run_until(&w, 12 * MS);
	sim_rm_release(w.rm, a.file);
	run_until(&w, 30 * MS);
	flush(&w, &r);
	for (uint16_t n = 0; (rec = next_record(&r)); n++) {
		assert_int_equal(rec->pid, 202);
		assert_int_equal(rec->seqno, n);
	}
	assert_true(r.get > 2);
	reader_free(&w, &r);
	world_free(&w);
}

/* Two MIG instances work at the same time: each has its engine, and its number in the records. */
static void instances(void **s)
{
	struct simrm_world w;
	struct world_tsg a, b;
	struct reader all, one;
	const struct sim_log_record *rec;
	unsigned int n[3] = { 0 };

	world_new_mig(&w, 580, 3);
	w.caller.map = map_fd;
	reader_objects(&w, &all);
	assert_int_equal(world_instance(&w, all.file, all.client, all.subdevice, 0xfffffffe), 0);
	reader_buffer(&w, &all, 256, true);
	reader_objects(&w, &one);
	assert_int_equal(world_instance(&w, one.file, one.client, one.subdevice, 2), 0);
	reader_buffer(&w, &one, 256, true);
	w.instance = 1;
	load(&w, &a, 201, 0, 1, 30);
	w.instance = 2;
	load(&w, &b, 202, 0, 1, 30);
	run_until(&w, 10 * MS - 1);
	assert_true(held(&w, &a) > 9 * MS && held(&w, &b) > 9 * MS);
	run_until(&w, 20 * MS);
	flush(&w, &all);
	while ((rec = next_record(&all))) {
		assert_int_equal(rec->pid, 200 + rec->gi);
		assert_int_equal(rec->ci, 0);
		n[rec->gi]++;
	}
	assert_true(n[1] && n[2]);
	assert_int_equal(one.header->put, n[2]);
	assert_int_equal(next_record(&one)->gi, 2);
	reader_free(&w, &all);
	reader_free(&w, &one);
	world_free(&w);
}

/* A client in no instance of a divided GPU gets no log. */
static void no_instance(void **s)
{
	struct simrm_world w;
	struct reader r;

	world_new_mig(&w, 580, 3);
	reader_objects(&w, &r);
	assert_int_equal(new_memory(&w, &r, PAGE, READ_ONLY, &r.h_header), 0);
	assert_int_equal(new_memory(&w, &r, PAGE, READ_ONLY, &r.h_records), 0);
	assert_int_equal(new_buffer(&w, &r, 32, 64), 0);
	assert_int_equal(bind_log(&w, &r, true), 0x57);
	assert_true(sim_rm_next(w.rm) == UINT64_MAX);
	world_free(&w);
}

static void mapping(void **s)
{
	struct simrm_world w;
	struct reader r;
	struct sim_file *other;
	uint32_t h;
	int fd = new_memfd(PAGE, true), loose = new_memfd(PAGE, false);

	begin(&w, 580);
	reader_objects(&w, &r);
	assert_int_equal(new_memory(&w, &r, 0, READ_ONLY, &h), 0x1f);
	assert_int_equal(new_memory(&w, &r, 1ull << 40, READ_ONLY, &h), 0x51);
	assert_int_equal(new_memory(&w, &r, PAGE, READ_ONLY, &h), 0);
	assert_int_equal(map(&w, &r, h, PAGE, -1), 0x56); /* not a memfd */
	assert_int_equal(map(&w, &r, h, PAGE, loose), 0x56);
	assert_int_equal(map(&w, &r, h, 2 * PAGE, fd), 0x1f);
	assert_int_equal(map(&w, &r, h, 0, fd), 0x1f);
	w.caller.tgid = 999;
	assert_int_equal(map(&w, &r, h, PAGE, fd), 0x23); /* a borrowed file is refused */
	w.caller.tgid = 100;
	other = r.file;
	r.file = world_open(&w);
	assert_int_equal(map(&w, &r, h, PAGE, fd), 0x23);
	r.file = other;
	assert_int_equal(map(&w, &r, h, PAGE, fd), 0);
	assert_int_equal(map(&w, &r, h, PAGE, fd), 0x40);
	assert_int_equal(ftruncate(fd, 0), -1);
	close(fd);
	close(loose);
	world_free(&w);
}

static void refused(void **s)
{
	struct simrm_world w;
	struct reader r;
	uint32_t writable, small, status = 0;
	struct sim_ctrl_log_get get = { .record = 64 };
	int n = 0;

	begin(&w, 580);
	reader_new(&w, &r, 64, true);
	assert_int_equal(
		world_control(&w, r.file, r.client, r.buffer, 0x90cd0102, &get, sizeof(get)), 0x1f);
	assert_int_equal(bind_log(&w, &r, true), 0); /* bound again: nothing changes */
	assert_int_equal(new_memory(&w, &r, PAGE, 0, &writable), 0);
	assert_int_equal(new_memory(&w, &r, 31, READ_ONLY, &small), 0);
	r.h_header = small;
	assert_int_equal(new_buffer(&w, &r, 32, 64), 0x1f);
	r.h_header = writable;
	assert_int_equal(new_buffer(&w, &r, 32, 64), 0x1f);
	r.h_header = 0x777;
	assert_int_equal(new_buffer(&w, &r, 32, 64), 0x57);
	r.h_header = 0;
	assert_int_equal(new_buffer(&w, &r, 32, 64), 0x56);
	r.h_header = r.h_records;
	assert_int_equal(new_buffer(&w, &r, 32, 0), 0x1f);
	assert_int_equal(new_buffer(&w, &r, 32, 1u << 28), 0x1f);
	assert_int_equal(new_buffer(&w, &r, 32, 129), 0x1f);
	assert_int_equal(new_buffer(&w, &r, 32, 128), 0);
	r.buffer = r.h_records;
	assert_int_equal(bind_log(&w, &r, true), 0x33);
	r.buffer = 0x777;
	assert_int_equal(bind_log(&w, &r, true), 0x57);
	for (; !status && n < 1000; n++)
		status = new_buffer(&w, &r, 32, 64);
	assert_int_equal(status, 0x1a);
	assert_in_range(n, 200, 300);
	assert_int_equal(world_free_object(&w, r.file, r.client, r.h_records), 0);
	assert_int_equal(enable(&w, &r, 1, 1), 0x57); /* the log is gone with its memory */
	reader_free(&w, &r);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accounts),     cmocka_unit_test(delivery),
		cmocka_unit_test(silent),       cmocka_unit_test(overflow),
		cmocka_unit_test(unprivileged), cmocka_unit_test(gone),
		cmocka_unit_test(instances),    cmocka_unit_test(no_instance),
		cmocka_unit_test(mapping),      cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
