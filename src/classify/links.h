/* SPDX-License-Identifier: MIT */
/*
 * links.h - finds where the links lead that exe= of rules names
 *
 * The kernel shows the program where a link leads, and a link may change while the daemon runs. To
 * follow one may take for ever, so the loop only copies: another thread follows.
 */
#ifndef GPUSCHED_CLASSIFY_LINKS_H
#define GPUSCHED_CLASSIFY_LINKS_H

#include <stdbool.h>
#include <stddef.h>

struct gs_classes;

/* Files that rules name, each with the file where it leads. */
struct gs_links {
	struct gs_link {
		char *exe, *real; /* @real NULL: not known, or there is no such file */
	} * all;
	size_t n;
};
/* Copies the names in the rules. Returns -ENOMEM, or 0; there may be none. */
int gs_links_of(const struct gs_classes *c, struct gs_links *ret);
/* Follows them. May wait for ever. */
void gs_links_follow(struct gs_links *l);
/* Puts what was found into the rules. Returns how many lead elsewhere than before. */
size_t gs_links_put(struct gs_classes *c, const struct gs_links *l);
void gs_links_done(struct gs_links *l);

#endif /* GPUSCHED_CLASSIFY_LINKS_H */
