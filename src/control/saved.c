// SPDX-License-Identifier: MIT
#include "control/saved.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/cleanup.h"
#include "basic/clock.h"
#include "basic/env.h"
#include "basic/file.h"
#include "basic/log.h"
#include "basic/share.h"
#include "basic/user_limits.h"
#include "engine/fields.h"
#include "control/control.h"
#include "control/follow.h"
#include "hub/peer.h"
#include "table/started.h"

#define VERSION 1
#define MAX_BYTES (4u << 20)
#define MAX_OPTIONS 64
#define PAUSE_NS (250 * NS_PER_MS) /* pause between two writes */
#define AGAIN_NS NS_PER_S          /* pause after a write that failed */

static void path_of(char ret[300])
{
	snprintf(ret, 300, "%s/saved.json", gs_env()->run_dir);
}

/* ---- the policy ------------------------------------------------------------------------------ */

void gs_saved_policy_done(struct gs_saved_policy *p)
{
	for (size_t i = 0; i < p->noptions; i++)
		free(p->options[i]);
	free(p->options);
	free(p->name);
	free(p->host);
	free(p->configured);
	free(p->object);
	*p = (struct gs_saved_policy){ 0 };
}

static int policy_copy(struct gs_saved_policy *ret, const char *name, const char *host,
		       const char *const *options, size_t n)
{
	struct gs_saved_policy p = { .chosen = true, .name = strdup(name) };

	p.host = strdup(host ? host : gs_host_name(GS_HOST_STOCK));
	p.options = calloc(n + 1, sizeof(*p.options));
	for (size_t i = 0; p.options && i < n; i++) {
		p.options[i] = strdup(options[i]);
		p.noptions += p.options[i] != NULL;
	}
	if (!p.name || !p.host || !p.options || p.noptions != n) {
		gs_saved_policy_done(&p);
		return -ENOMEM;
	}
	*ret = p;
	return 0;
}

bool gs_saved_is_copy(const char *name)
{
	size_t len = strlen(gs_env()->run_dir);

	return name && !strncmp(name, gs_env()->run_dir, len) && name[len] == '/';
}

/* True for an object named by its path: at the next start, the path may name another object. */
static bool needs_copy(const struct gs_saved_policy *p)
{
	return p->name && strpbrk(p->name, "/.") && !gs_saved_is_copy(p->name);
}

static int keep_object(const struct gs_control *ctl, struct gs_saved_policy *p)
{
	const void *object;
	size_t len;

	if (!needs_copy(p))
		return 0;
	object = gs_stock_object(ctl->hub->policy, &len);
	p->object = malloc(len);
	if (!p->object)
		return -ENOMEM;
	memcpy(p->object, object, len);
	p->object_len = len;
	return 0;
}

/*
 * Writes the object from memory into our own folder. The policy's name is that file's path from
 * then on.
 */
static int write_object(struct gs_saved_policy *p, struct gs_error *err)
{
	CLEANUP_FREE char *path = NULL;
	int r;

	if (!p->object)
		return 0;
	if (asprintf(&path, "%s/policy-%llu.bpf.o", gs_env()->run_dir,
		     (unsigned long long)gs_now_ns()) < 0)
		return gs_fail(err, -ENOMEM, "out of memory");
	r = gs_file_replace(path, p->object, p->object_len, err);
	if (r)
		return r;
	free(p->object);
	p->object = NULL;
	free(p->name);
	p->name = TAKE_PTR(path);
	return 0;
}

void gs_saved_choose(struct gs_control *ctl, const char *name, const char *host,
		     const char *const *options, size_t n)
{
	struct gs_saved_policy next = { .chosen = true }, *p = &ctl->saved.policy;

	if (ctl->hub->opts.dry_run)
		return;
	if (name && (policy_copy(&next, name, host, options, n) || keep_object(ctl, &next)))
		gs_saved_policy_done(&next);
	if (gs_saved_is_copy(p->name) && (!next.name || strcmp(p->name, next.name)))
		unlink(p->name);
	gs_saved_policy_done(p);
	*p = next;
	p->configured = gs_saved_configured(ctl);
	ctl->saved.dirty = true;
}

char *gs_saved_configured(const struct gs_control *ctl)
{
	const struct gs_config *c = ctl->hub->config;
	size_t len = strlen(c->policy) + strlen(c->policy_host) + 2;
	char *text, *at;

	for (size_t i = 0; i < c->policy_options.n; i++)
		len += strlen(c->policy_options.text[i]) + 1;
	text = malloc(len);
	at = text ? stpcpy(text, c->policy) : NULL;
	if (at && c->policy_host[0])
		at = stpcpy(stpcpy(at, "\n"), c->policy_host);
	for (size_t i = 0; text && i < c->policy_options.n; i++)
		at = stpcpy(stpcpy(at, "\n"), c->policy_options.text[i]);
	return text;
}

void gs_saved_launches(struct gs_control *ctl, bool on)
{
	ctl->saved.launches = on;
	ctl->saved.dirty = true;
}

/* ---- TSGs ------------------------------------------------------------------------------------ */

/* The index of the entry for @id, or the place where it belongs. */
static size_t place_of(const struct gs_saved *saved, uint64_t id)
{
	size_t low = 0, high = saved->ntsgs;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (saved->tsgs[mid].id < id)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct gs_saved_tsg *gs_saved_find(struct gs_saved *saved, uint64_t id)
{
	size_t at = place_of(saved, id);

	return at < saved->ntsgs && saved->tsgs[at].id == id ? &saved->tsgs[at] : NULL;
}

static struct gs_saved_tsg *insert(struct gs_saved *saved, uint64_t id)
{
	size_t at = place_of(saved, id);
	struct gs_saved_tsg *more;

	if (saved->ntsgs >= GS_SAVED_TSGS)
		return NULL;
	more = reallocarray(saved->tsgs, saved->ntsgs + 1, sizeof(*more));
	if (!more)
		return NULL;
	saved->tsgs = more;
	memmove(&more[at + 1], &more[at], (saved->ntsgs++ - at) * sizeof(*more));
	more[at] = (struct gs_saved_tsg){ .id = id };
	return &more[at];
}

static void drop(struct gs_saved *saved, struct gs_saved_tsg *t)
{
	size_t after = (size_t)(&saved->tsgs[--saved->ntsgs] - t);

	memmove(t, t + 1, after * sizeof(*t));
}

void gs_saved_drop(struct gs_saved *saved, struct gs_saved_tsg *t)
{
	drop(saved, t);
	saved->dirty = true;
}

struct gs_saved_tsg *gs_saved_rename(struct gs_saved *saved, struct gs_saved_tsg *t, uint64_t id)
{
	struct gs_saved_tsg is = *t;
	size_t at;

	drop(saved, t);
	at = place_of(saved, id);
	memmove(&saved->tsgs[at + 1], &saved->tsgs[at],
		(saved->ntsgs++ - at) * sizeof(*saved->tsgs));
	saved->tsgs[at] = is;
	saved->tsgs[at].id = id;
	return &saved->tsgs[at];
}

bool gs_saved_has_room(const struct gs_saved *saved, uid_t uid)
{
	size_t n = 0;

	for (size_t i = 0; uid && i < saved->ntsgs; i++)
		n += saved->tsgs[i].uid == uid;
	return n < GS_USER_MAY_SAVED && gs_share_allows(uid, n, saved->ntsgs, GS_SAVED_TSGS);
}

/*
 * Takes the settings from the table. A pending entry keeps the fields that nobody has changed
 * since.
 */
static void take(struct gs_saved_tsg *t, const struct gpusched_tsg *rec, uint32_t which)
{
	uint32_t keep = t->pending ? t->set.valid & ~which & ~rec->manual.valid : 0;
	struct gpusched_settings old = t->set;

	t->set = rec->manual;
	for (unsigned int i = 0; i < GS_NFIELDS; i++)
		if (keep & GS_BIT(i))
			gs_field_put(&t->set, GS_BIT(i), gs_field_get(&old, GS_BIT(i)));
	if (!(keep & GPUSCHED_RUNNABLE))
		t->until_ns = rec->suspend_until_ns;
	t->users = gs_users(rec) | (t->users & keep);
	t->own &= gs_users(rec);
}

void gs_saved_note(struct gs_control *ctl, const struct gpusched_key *key, const struct gs_peer *by,
		   uint32_t which)
{
	struct gs_saved *saved = &ctl->saved;
	struct gpusched_tsg rec;
	struct gs_saved_tsg *t;

	if (ctl->hub->opts.dry_run || gs_table_get(ctl->hub->table, key, &rec))
		return;
	saved->dirty = true;
	t = gs_saved_find(saved, rec.task.id);
	if (!t && rec.manual.valid)
		t = gs_saved_has_room(saved, rec.task.uid) ? insert(saved, rec.task.id) : NULL;
	if (!t) {
		ctl->hub->counters[GS_SVC_SAVED_LEFT] += rec.manual.valid != 0;
		return;
	}
	take(t, &rec, which);
	if (!t->set.valid) {
		drop(saved, t);
		return;
	}
	t->key = rec.key;
	t->start_ns = rec.owner_start_ns;
	t->pid = rec.task.pid;
	t->uid = rec.task.uid;
	t->reapplied &= !which;
	if (which & GPUSCHED_RUNNABLE)
		t->suspended_by = by ? by->uid : 0; /* without a daemon, only root can suspend */
}

void gs_saved_own(struct gs_control *ctl, uint64_t id, uint32_t which)
{
	struct gs_saved_tsg *t = gs_saved_find(&ctl->saved, id);

	if (t)
		t->own |= which & t->users;
}

static bool has_ended(const struct gs_saved_tsg *t)
{
	return gs_started_still((pid_t)t->pid, t->start_ns) == GS_STILL_NO;
}

/* Brings entries up to date: a suspension may have ended by itself, and so may a TSG. */
static void refresh(struct gs_control *ctl)
{
	struct gs_saved *saved = &ctl->saved;
	struct gpusched_tsg rec;
	size_t kept = 0, away = 0;

	for (size_t i = 0; i < saved->ntsgs; i++) {
		struct gs_saved_tsg *t = &saved->tsgs[i];
		bool there = !t->pending && !gs_table_get(ctl->hub->table, &t->key, &rec) &&
			     rec.task.id == t->id && rec.manual.valid;

		if (there)
			take(t, &rec, 0);
		if (t->away && has_ended(t))
			continue;
		away += t->away;
		if (there || t->pending)
			saved->tsgs[kept++] = *t;
	}
	saved->ntsgs = kept;
	saved->naway = away;
}

/* ---- the file's text ------------------------------------------------------------------------- */

#define TSG_FORMAT "{s:I,s:I,s:I,s:I,s:I,s:I,s:i,s:i,s:i,s:i,s:i,s:I,s:I,s:i,s:b,s?b,s?i,s?i}"

/*
 * Writes text directly: a user can have a thousand entries, and a JSON tree of them would hold up
 * the loop.
 */
static void put_tsg(FILE *out, const struct gs_saved_tsg *t)
{
	fprintf(out,
		"{\"id\":%" PRIu64 ",\"start_ns\":%" PRIu64 ",\"client\":%u,\"tsg\":%u,\"pid\":%u,"
		"\"uid\":%u,\"valid\":%u,\"timeslice_us\":%u,\"interleave\":%u,"
		"\"preempt_mode\":%u,\"runnable\":%u,\"until_ns\":%" PRIu64 ","
		"\"suspended_by\":%u,\"users\":%u,\"reapplied\":%s,\"away\":%s,\"engine\":%u,"
		"\"gpu\":%u}",
		t->id, t->start_ns, t->key.client, t->key.handle, t->pid, t->uid, t->set.valid,
		t->set.timeslice_us, t->set.interleave, t->set.preempt_mode, t->set.runnable,
		t->until_ns, t->suspended_by, t->users, t->reapplied ? "true" : "false",
		t->away ? "true" : "false", t->engine, t->gpu);
}

static int tsg_parse(struct gs_saved *saved, json_t *o)
{
	json_int_t id, start, client, handle, pid, uid, until, by;
	int valid, timeslice, interleave, mode, runnable, users, reapplied;
	int away = 0, engine = 0, gpu = 0;
	struct gs_saved_tsg *t;

	if (json_unpack(o, TSG_FORMAT, "id", &id, "start_ns", &start, "client", &client, "tsg",
			&handle, "pid", &pid, "uid", &uid, "valid", &valid, "timeslice_us",
			&timeslice, "interleave", &interleave, "preempt_mode", &mode, "runnable",
			&runnable, "until_ns", &until, "suspended_by", &by, "users", &users,
			"reapplied", &reapplied, "away", &away, "engine", &engine, "gpu", &gpu))
		return -EINVAL;
	if (id <= 0 || gs_saved_find(saved, (uint64_t)id))
		return -EINVAL;
	t = insert(saved, (uint64_t)id);
	if (!t)
		return -ENOSPC;
	t->start_ns = (uint64_t)start;
	t->key = (struct gpusched_key){ .client = (uint32_t)client, .handle = (uint32_t)handle };
	t->pid = (uint32_t)pid;
	t->uid = (uint32_t)uid;
	t->set = (struct gpusched_settings){ .valid = (uint32_t)valid & GPUSCHED_ALL_SETTINGS,
					     .timeslice_us = (uint32_t)timeslice,
					     .interleave = (uint8_t)interleave,
					     .preempt_mode = (uint8_t)mode,
					     .runnable = runnable != 0 };
	t->until_ns = (uint64_t)until;
	t->suspended_by = (uint32_t)by;
	t->users = (uint32_t)users;
	t->pending = true;
	t->reapplied = reapplied;
	t->away = away;
	t->engine = (uint32_t)engine;
	t->gpu = (uint32_t)gpu;
	saved->naway += t->away;
	return 0;
}

static json_t *policy_json(const struct gs_saved_policy *p)
{
	json_t *options = json_array();

	for (size_t i = 0; i < p->noptions; i++)
		json_array_append_new(options, json_string(p->options[i]));
	return json_pack("{s:b,s:s*,s:s*,s:s*,s:o}", "chosen", p->chosen, "name", p->name, "host",
			 p->host, "configured", p->configured, "options", options);
}

int gs_saved_policy_parse(struct gs_saved_policy *p, json_t *o)
{
	const char *name = NULL, *host = NULL, *configured = NULL, *options[MAX_OPTIONS];
	json_t *list = NULL, *one;
	size_t i;
	int chosen;

	if (json_unpack(o, "{s:b,s?:s,s?:s,s?:s,s:o}", "chosen", &chosen, "name", &name, "host",
			&host, "configured", &configured, "options", &list) ||
	    json_array_size(list) > MAX_OPTIONS)
		return -EINVAL;
	json_array_foreach(list, i, one)
		if (!(options[i] = json_string_value(one)))
			return -EINVAL;
	if (name && policy_copy(p, name, host, options, i))
		return -ENOMEM;
	p->chosen = chosen;
	p->configured = configured ? strdup(configured) : NULL;
	return 0;
}

char *gs_saved_text(const struct gs_saved *saved, const char *boot)
{
	CLEANUP_JSON json_t *o =
		json_pack("{s:i,s:s,s:b,s:I,s:b,s:o}", "version", VERSION, "boot", boot, "running",
			  saved->running, "crashed_ns", (json_int_t)saved->crashed_ns, "launches",
			  saved->launches, "policy", policy_json(&saved->policy));
	char *text = NULL;
	size_t size;
	FILE *out = o ? open_memstream(&text, &size) : NULL;

	if (!out)
		return NULL;
	fputs("{\"tsgs\":[", out);
	for (size_t i = 0; i < saved->ntsgs; i++) {
		if (i)
			fputc(',', out);
		put_tsg(out, &saved->tsgs[i]);
	}
	fputs("],", out);
	json_dumpf(o, out, JSON_COMPACT | JSON_EMBED);
	fputc('}', out);
	if (ferror(out) | fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

int gs_saved_parse(struct gs_saved *saved, const char *text, const char *boot, struct gs_error *err)
{
	CLEANUP_JSON json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
	json_t *policy, *tsgs, *one;
	int version, running, launches, r;
	json_int_t crashed;
	const char *of;
	size_t i;

	if (json_unpack(o, "{s:i,s:s,s:b,s:I,s:b,s:o,s:o}", "version", &version, "boot", &of,
			"running", &running, "crashed_ns", &crashed, "launches", &launches,
			"policy", &policy, "tsgs", &tsgs))
		return gs_fail(err, -EINVAL, "it cannot be read");
	if (version != VERSION)
		return gs_fail(err, -EINVAL, "it is of version %d", version);
	if (strcmp(of, boot))
		return 0; /* none of that boot's processes exists any more */
	saved->running = running;
	saved->crashed_ns = (uint64_t)crashed;
	saved->launches = launches;
	r = gs_saved_policy_parse(&saved->policy, policy);
	json_array_foreach(tsgs, i, one)
		r = r ? r : tsg_parse(saved, one);
	return r ? gs_fail(err, r, "it cannot be read") : 0;
}

/* ---- the file -------------------------------------------------------------------------------- */

void gs_saved_load(struct gs_control *ctl)
{
	CLEANUP_FREE unsigned char *text = NULL;
	char path[300], boot[GS_BOOT_ID_LEN];
	struct gs_error err = { 0 };
	size_t len;
	int r;

	path_of(path);
	r = gs_file_read_own(path, MAX_BYTES, &text, &len, &err);
	if (!r)
		r = gs_file_boot_id(boot);
	if (!r)
		r = gs_saved_parse(&ctl->saved, (const char *)text, boot, &err);
	if (r && r != -ENOENT) {
		gs_log(LOG_WARNING, "%s: nothing is reapplied: %s", path, err.text);
		gs_saved_free(&ctl->saved);
	}
	ctl->saved.loaded = true;
}

void gs_saved_free(struct gs_saved *saved)
{
	gs_saved_policy_done(&saved->policy);
	free(saved->tsgs);
	*saved = (struct gs_saved){ 0 };
}

static int write_file(struct gs_control *ctl, struct gs_error *err)
{
	CLEANUP_FREE char *text = NULL;
	char path[300], boot[GS_BOOT_ID_LEN];
	int r = write_object(&ctl->saved.policy, err);

	if (r)
		return r;
	if (gs_file_boot_id(boot) || !(text = gs_saved_text(&ctl->saved, boot)))
		return gs_fail(err, -ENOMEM, "out of memory");
	path_of(path);
	return gs_file_replace(path, text, strlen(text), err);
}

static bool is_too_soon(const struct gs_control *ctl, uint64_t now_ns)
{
	return ctl->hub->opts.daemon &&
	       now_ns - ctl->saved.tried_ns < (ctl->saved.failed ? AGAIN_NS : PAUSE_NS);
}

/* Logs a failed write, once until a write succeeds. The old file is still whole. */
static void failed(struct gs_control *ctl, const struct gs_error *err)
{
	gs_count(ctl->hub, GS_SVC_SAVED_FAILED);
	if (!ctl->saved.failed)
		gs_log(LOG_WARNING,
		       "a restart will not know what was set last%s: %s; make room there "
		       "(df, du -x)",
		       ctl->hub->opts.daemon ? " until it can be saved; it is tried each second"
					     : "",
		       err->text);
	ctl->saved.failed = true;
}

void gs_saved_write(struct gs_control *ctl, bool now)
{
	struct gs_error err = { 0 };
	uint64_t at = gs_now_ns();

	if (!ctl->saved.loaded || !ctl->saved.dirty || ctl->hub->opts.dry_run ||
	    ctl->hub->opts.read_only || (!now && is_too_soon(ctl, at)))
		return;
	refresh(ctl);
	ctl->saved.tried_ns = at;
	if (write_file(ctl, &err)) {
		failed(ctl, &err);
		return;
	}
	if (ctl->saved.failed)
		gs_log(LOG_INFO, "what was set last is saved now");
	ctl->saved.failed = ctl->saved.dirty = false;
}

void gs_saved_dispatched(void *self)
{
	struct gs_control *ctl = self;
	gs_saved_write(ctl, false);
}

void gs_saved_end(struct gs_control *ctl)
{
	if (ctl->hub->opts.daemon) {
		ctl->saved.running = false;
		ctl->saved.dirty = true;
	}
	gs_saved_write(ctl, true);
}

void gs_saved_forget(struct gs_control *ctl)
{
	struct gs_saved *saved = &ctl->saved;

	if (ctl->hub->opts.dry_run)
		return;
	if (gs_saved_is_copy(saved->policy.name))
		unlink(saved->policy.name);
	gs_saved_policy_done(&saved->policy);
	saved->ntsgs = saved->naway = 0;
	saved->launches = false;
	saved->dirty = true;
}

void gs_saved_forget_file(void)
{
	char path[300];

	path_of(path);
	unlink(path);
}
