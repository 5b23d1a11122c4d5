// SPDX-License-Identifier: MIT
/* classes.c - replaces the classes that are in force */
#include <string.h>

#include "classify/words.h"
#include "service/instance.h"

int gs_service_classes(struct gs_service *s, struct gs_classes *classes, struct gs_error *err)
{
	int r = gs_classes_publish(classes, s->hub->table);

	if (r) {
		gs_classes_publish(s->hub->classes, s->hub->table);
		return gs_fail(err, r, "the classes cannot be published: %s", strerror(-r));
	}
	gs_words_move(classes, s->hub->classes);
	gs_classes_free(s->hub->classes);
	s->hub->classes = classes;
	return 0;
}
