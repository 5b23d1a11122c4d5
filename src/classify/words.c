// SPDX-License-Identifier: MIT
#include "classify/words.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/parse.h"
#include "classify/priv.h"

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool read_number(const char *text, uint64_t min, uint64_t max, uint64_t *ret)
{
	return !gs_parse_u64(text, min, max, ret, NULL);
}

static bool read_word(struct gs_pod_words *w, const char *word)
{
	const char *value = strchr(word, '=');
	size_t len = value ? (size_t)(value++ - word) : 0;
	uint64_t n;

	if (len == 5 && !strncmp(word, "class", len)) {
		if (!*value || strlen(value) >= sizeof(w->class_name))
			return false;
		strcpy(w->class_name, value);
		return true;
	}
	if (len == 6 && !strncmp(word, "weight", len)) {
		if (!read_number(value, GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX, &n))
			return false;
		w->weight = (uint32_t)n;
		return true;
	}
	if (len == 5 && !strncmp(word, "limit", len)) {
		if (!read_number(value, GPUSCHED_LIMIT_MIN_PCT, GPUSCHED_LIMIT_MAX_PCT, &n))
			return false;
		w->limit_pct = (uint16_t)n;
		return true;
	}
	if (len != 7 || strncmp(word, "request", len) ||
	    !read_number(value, GPUSCHED_REQUEST_MIN_PCT, GPUSCHED_REQUEST_MAX_PCT, &n))
		return false;
	w->request_pct = (uint16_t)n;
	return true;
}

void gs_words_read(struct gs_pod_words *w, const char *word)
{
	if (!read_word(w, word) && !*w->unread)
		snprintf(w->unread, sizeof(w->unread), "%.63s", word);
}

/* ---- ceilings -------------------------------------------------------------------------------- */

static int read_ceiling(struct gs_ceiling *to, const char *word, struct gs_error *err)
{
	uint64_t n;
	int r;

	if (!strncmp(word, "weight=", 7)) {
		r = gs_parse_u64(word + 7, GPUSCHED_WEIGHT_MIN, GPUSCHED_WEIGHT_MAX, &n, err);
		to->weight = r ? 0 : (uint32_t)n;
		return r;
	}
	if (!strncmp(word, "request=", 8)) {
		r = gs_parse_u64(word + 8, GPUSCHED_REQUEST_MIN_PCT, GPUSCHED_REQUEST_MAX_PCT, &n,
				 err);
		to->request_pct = r ? 0 : (uint16_t)n;
		return r;
	}
	if (!strncmp(word, "timeslice=", 10)) {
		r = gs_parse_us(word + 10, GPUSCHED_TIMESLICE_MIN_US, GPUSCHED_TIMESLICE_MAX_US, &n,
				err);
		to->slice_us = r ? 0 : (uint32_t)n;
		return r;
	}
	return gs_fail(err, -EINVAL, "'%s' is neither weight=N, request=PERCENT nor timeslice=TIME",
		       word);
}

int gs_words_add_ceiling(struct gs_classes *c, const char *line, struct gs_error *err)
{
	CLEANUP_FREE char *copy = strdup(line);
	struct gs_ceiling made = { .weight = 0 };
	char *save = NULL, *namespace, *name, *word;
	int r;

	namespace = copy ? strtok_r(copy, " \t", &save) : NULL;
	name = namespace ? strtok_r(NULL, " \t", &save) : NULL;
	if (!name)
		return gs_fail(err, -EINVAL,
			       "'%s' is not NAMESPACE CLASS [weight=N] [request=PERCENT] "
			       "[timeslice=TIME]",
			       line);
	if (gs_class_id(c, name, &made.class_id))
		return gs_fail(err, -ENOENT, "no class '%s'", name);
	while ((word = strtok_r(NULL, " \t", &save))) {
		r = read_ceiling(&made, word, err);
		if (r)
			return r;
	}
	if (c->nceilings >= GS_COUNT(c->ceilings))
		return gs_fail(err, -ENOSPC, "more than %zu ceilings", GS_COUNT(c->ceilings));
	made.namespace = strdup(namespace);
	if (!made.namespace)
		return -ENOMEM;
	c->ceilings[c->nceilings++] = made;
	return 0;
}

/* The first ceiling that matches the pod's namespace counts. */
static struct gs_ceiling ceiling_of(const struct gs_classes *c, const struct gs_pod_words *w)
{
	for (size_t i = 0; i < c->nceilings; i++)
		if (!fnmatch(c->ceilings[i].namespace, w->who.namespace, 0))
			return c->ceilings[i];
	return (struct gs_ceiling){ .class_id = GPUSCHED_CLASS_BE };
}

/* ---- all that a container asks for ----------------------------------------------------------- */

bool gs_words_add(const struct gs_classes *c, const struct gs_pod_names *pod,
		  struct gs_pod_words *ret)
{
	const struct gs_pod_words *told = gs_words_of(c, pod->uid);
	const struct gs_pod_asks *asks = &pod->asks;

	if (!*pod->uid || (!told && !gs_pod_asks_any(asks)))
		return false;
	*ret = told ? *told : (struct gs_pod_words){ .who = *pod };
	memcpy(ret->who.id, pod->id, sizeof(ret->who.id));
	if (!*ret->class_name) {
		snprintf(ret->class_name, sizeof(ret->class_name), "%s", asks->class_name);
		ret->class_of_container = true;
	}
	if (!ret->weight)
		ret->weight = asks->weight;
	if (!ret->limit_pct && !ret->request_pct) {
		ret->limit_pct = asks->limit_pct;
		ret->request_pct = asks->request_pct;
		ret->parts_of_container = true;
	}
	ret->slice_us = asks->slice_us;
	ret->slice_by_admin = asks->slice_by_admin;
	return true;
}

/* ---- what is given --------------------------------------------------------------------------- */

static void leave(struct gs_words_given *g, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void leave(struct gs_words_given *g, const char *format, ...)
{
	size_t at = strlen(g->left);
	va_list args;

	if (at && at + 3 < sizeof(g->left)) {
		memcpy(g->left + at, ", ", 3);
		at += 2;
	}
	va_start(args, format);
	vsnprintf(g->left + at, sizeof(g->left) - at, format, args);
	va_end(args);
}

static bool may_have(const struct gs_classes *c, uint32_t from, uint32_t to)
{
	return gs_class_compare(c, to, from) <= 0 && !gs_class_gives_more(c, to, from);
}

static void judge_class(const struct gs_classes *c, const struct gs_pod_words *w,
			const struct gs_ceiling *most, uint32_t from, struct gs_words_given *ret)
{
	uint32_t id;

	ret->class_id = from;
	if (!*w->class_name)
		return;
	if (gs_class_id(c, w->class_name, &id) || !id)
		leave(ret, "there is no class %s", w->class_name);
	else if (!may_have(c, from, id) && !may_have(c, most->class_id, id))
		leave(ret, "class %s is over its ceiling", w->class_name);
	else
		ret->class_id = id;
}

/*
 * If the class has a limit, all programs of the class share it: a limit of its own would free the
 * pod from that.
 */
static void judge_part(const struct gs_classes *c, const struct gs_pod_words *w,
		       const struct gs_ceiling *most, struct gs_words_given *ret)
{
	if (w->limit_pct && c->cls[ret->class_id].limit_pct)
		leave(ret, "its class has a limit");
	else
		ret->limit_pct = w->limit_pct;
	if (w->request_pct > most->request_pct)
		leave(ret, "request %u is over its ceiling", w->request_pct);
	else if (ret->limit_pct && w->request_pct > ret->limit_pct)
		leave(ret, "request %u is more than its limit", w->request_pct);
	else
		ret->request_pct = w->request_pct;
}

/*
 * A slice from a device class was chosen by the administrator. A slice from the pod's own claim may
 * not exceed the slice that CUDA gives to every program, nor the ceiling if that is longer.
 */
static void judge_slice(const struct gs_classes *c, const struct gs_pod_words *w,
			const struct gs_ceiling *most, struct gs_words_given *ret)
{
	uint32_t us = w->slice_us;

	if (us && c->no_slices)
		leave(ret, "timeslice %u us is off until a reload, after %s", us, c->no_slices);
	else if (us > GPUSCHED_CUDA_TIMESLICE_US && us > most->slice_us && !w->slice_by_admin)
		leave(ret, "timeslice %u us is over its ceiling", us);
	else
		ret->slice_us = us;
}

void gs_words_no_slices(struct gs_classes *c, const char *after)
{
	c->no_slices = after;
}

void gs_words_judge(const struct gs_classes *c, const struct gs_pod_words *w, uint32_t from,
		    struct gs_words_given *ret)
{
	const struct gs_ceiling most = ceiling_of(c, w);

	*ret = (struct gs_words_given){ .class_id = from };
	if (*w->unread)
		leave(ret, "%.40s is not known", w->unread);
	judge_class(c, w, &most, from, ret);
	if (w->weight > c->cls[ret->class_id].weight && w->weight > most.weight)
		leave(ret, "weight %u is over its ceiling", w->weight);
	else
		ret->weight = w->weight;
	judge_part(c, w, &most, ret);
	judge_slice(c, w, &most, ret);
}

/* FNV-1a, so that the number is the same after a restart of the daemon. */
static uint64_t number_of(const char *uid)
{
	uint64_t h = 14695981039346656037ull;

	for (; *uid; uid++)
		h = (h ^ (unsigned char)*uid) * 1099511628211ull;
	return h | 1;
}

uint64_t gs_words_part(const struct gs_classes *c, const struct gs_pod_names *pod,
		       uint32_t class_id, struct gs_words_given *ret)
{
	struct gs_ceiling most;
	struct gs_pod_words w;

	*ret = (struct gs_words_given){ .class_id = class_id };
	if ((!c->nparts && !gs_pod_asks_any(&pod->asks)) || class_id >= c->n ||
	    !gs_words_add(c, pod, &w))
		return 0;
	most = ceiling_of(c, &w);
	judge_part(c, &w, &most, ret);
	judge_slice(c, &w, &most, ret);
	if (!ret->limit_pct && !ret->request_pct)
		return 0;
	return number_of(w.parts_of_container ? w.who.id : w.who.uid);
}
