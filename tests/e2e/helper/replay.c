// SPDX-License-Identifier: MIT
/*
 * replay.c - feeds the recorded inputs of an engine's core to another core
 *
 *   helper replay FILE
 *
 * Compares the outputs, and prints one JSON object with the result and the number of each input.
 */
#include "../../unit/core_replay.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "helper.h"

int verb_replay(int n, char **words)
{
	static const char *const names[] = { "opts",  "policy",     "class",  "limits", "costs",
					     "look",  "done",       "cancel", "forget", "spent",
					     "round", "round_over", "due" };
	int fd = open(words[0], O_RDONLY | O_CLOEXEC);
	struct replay r;
	struct stat st;
	void *data;
	bool same;

	if (fd < 0 || fstat(fd, &st) || !st.st_size)
		die(words[0]);
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		die(words[0]);
	same = replay_trace(&r, data, (size_t)st.st_size);
	printf("{\"same\": %s, \"todo\": %zu", same ? "true" : "false", r.todos);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		printf(", \"%s\": %zu", names[i], r.inputs[i]);
	puts("}");
	return !same;
}
