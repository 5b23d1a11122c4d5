// SPDX-License-Identifier: MIT
#include "rm/xid.h"

#include <ctype.h>
#include <string.h>

#include "basic/cleanup.h"

/* The rest of a record. */
struct text {
	const char *at, *end;
};

static bool skip(struct text *t, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(t->end - t->at) < n || memcmp(t->at, word, n) != 0)
		return false;
	t->at += n;
	return true;
}

/* Moves past the next @word; false: there is none. */
static bool skip_past(struct text *t, const char *word)
{
	const char *found = memmem(t->at, (size_t)(t->end - t->at), word, strlen(word));

	if (!found)
		return false;
	t->at = found + strlen(word);
	return true;
}

static bool number(struct text *t, unsigned int base, uint32_t *ret)
{
	const char *from = t->at;
	uint64_t v = 0;

	for (; t->at < t->end && isxdigit((unsigned char)*t->at); t->at++) {
		unsigned int c = (unsigned char)*t->at;
		unsigned int digit = isdigit((int)c) ? c - '0' : (c | 0x20) - 'a' + 10;

		if (digit >= base)
			break;
		v = v * base + digit;
		if (v > UINT32_MAX)
			return false;
	}
	*ret = (uint32_t)v;
	return t->at > from;
}

/* Reads "0000:17:00", perhaps with ".0" behind it. */
static bool address(struct text *t, struct gs_xid *x)
{
	uint32_t function;

	if (!number(t, 16, &x->domain) || !skip(t, ":") || !number(t, 16, &x->bus) ||
	    !skip(t, ":") || !number(t, 16, &x->device))
		return false;
	if (skip(t, "."))
		number(t, 16, &function);
	x->located = true;
	return true;
}

static void program(struct text *t, struct gs_xid *x)
{
	size_t n = 0;

	if (!skip(t, ", pid="))
		return;
	if (!number(t, 10, &x->pid))
		x->pid = 0; /* pid='<unknown>' */
	if (!skip_past(t, ", name="))
		return;
	while (x->pid && t->at + n < t->end && t->at[n] != ',' && n < sizeof(x->name) - 1)
		n++;
	memcpy(x->name, t->at, n);
	t->at += n;
}

static void channel(struct text *t, struct gs_xid *x)
{
	struct text old = *t, new = *t;

	if (skip_past(&old, ", Ch "))
		x->has_channel = number(&old, 16, &x->channel);
	else if (skip_past(&new, ", channel 0x"))
		x->has_channel = number(&new, 16, &x->channel);
}

/* Xid 154 tells which recovery the driver wants: "... changed from 0x0 (None) to 0x1 (...)". */
static bool wants_reset(struct text t)
{
	uint32_t action = 0;

	while (skip_past(&t, " to 0x"))
		number(&t, 16, &action);
	return action == 1 || action == 2 || action == 4;
}

static bool read_xid(struct text *t, struct gs_xid *x)
{
	skip(t, "PCI:");
	if (!address(t, x))
		return false;
	/* an instance of MIG follows: " GPU-I:05" */
	if (!skip(t, "):") && !(skip(t, " GPU-I:") && skip_past(t, "):")))
		return false;
	skip(t, " ");
	if (!number(t, 10, &x->number) || !x->number)
		return false;
	x->reset = x->number == 79 || (x->number == 154 && wants_reset(*t));
	program(t, x);
	channel(t, x);
	return true;
}

/* Lines without an Xid that tell of a lost GPU. Neither has a text of a user in it. */
static bool read_loss(struct text *t, struct gs_xid *x)
{
	struct text rest = *t;

	if (!skip_past(&rest, "GPU has fallen off the bus") &&
	    !skip_past(&rest, " has fallen off the bus") && !skip_past(&rest, "marked for reset"))
		return false;
	x->reset = true;
	if (skip(t, "GPU at PCI:") || skip(t, "GPU "))
		address(t, x);
	return true;
}

/* Skips "PRIORITY,SEQUENCE,TIME,FLAGS...;". The kernel's own records have facility 0. */
static bool skip_head(struct text *t)
{
	uint32_t priority;

	return number(t, 10, &priority) && priority < 8 && skip(t, ",") && skip_past(t, ";");
}

bool gs_xid_read(const char *record, size_t n, struct gs_xid *ret)
{
	const char *line = memchr(record, '\n', n);
	struct text t = { record, line ? line : record + n };
	struct gs_xid x;

	memset(&x, 0, sizeof(x));
	if (!skip_head(&t) || !skip(&t, "NVRM: "))
		return false;
	if (skip(&t, "Xid (") ? !read_xid(&t, &x) : !read_loss(&t, &x))
		return false;
	*ret = x;
	return true;
}

static bool is_among(uint32_t number, const uint32_t *all, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (all[i] == number)
			return true;
	return false;
}

bool gs_xid_is_own(uint32_t number)
{
	static const uint32_t own[] = { 13, 31, 43, 45 };

	return is_among(number, own, GS_COUNT(own));
}

bool gs_xid_is_ours(uint32_t number)
{
	static const uint32_t ours[] = { 8, GS_XID_CTXSW_TIMEOUT, 151 };

	return is_among(number, ours, GS_COUNT(ours));
}
