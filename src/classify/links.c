// SPDX-License-Identifier: MIT
#include "classify/links.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "classify/priv.h"

int gs_links_of(const struct gs_classes *c, struct gs_links *ret)
{
	struct gs_links l = { calloc(c->nrules + 1, sizeof(*l.all)), 0 };

	for (size_t i = 0; l.all && i < c->nrules; i++) {
		if (!c->rules[i].exe)
			continue;
		l.all[l.n].exe = strdup(c->rules[i].exe);
		if (!l.all[l.n++].exe) {
			gs_links_done(&l);
			return -ENOMEM;
		}
	}
	*ret = l;
	return l.all ? 0 : -ENOMEM;
}

void gs_links_follow(struct gs_links *l)
{
	for (size_t i = 0; i < l->n; i++)
		l->all[i].real = realpath(l->all[i].exe, NULL); /* a pattern names no file */
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

size_t gs_links_put(struct gs_classes *c, const struct gs_links *l)
{
	size_t n = 0;

	for (size_t i = 0; i < c->nrules; i++) {
		struct gs_rule *r = &c->rules[i];
		size_t k = 0;

		while (k < l->n && !(r->exe && !strcmp(r->exe, l->all[k].exe)))
			k++;
		if (k < l->n && !is_same(r->exe_real, l->all[k].real))
			n += !gs_rule_leads_to(r, l->all[k].real);
	}
	return n;
}

void gs_links_done(struct gs_links *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free(l->all[i].exe);
		free(l->all[i].real);
	}
	free(l->all);
	*l = (struct gs_links){ NULL, 0 };
}
