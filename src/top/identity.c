// SPDX-License-Identifier: MIT
#include "top/identity.h"

#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "process/cgroup.h"
#include "process/reader.h"

struct gs_identity {
	json_t *known; /* by TSG id, which is never reused */
	/* by pid: commands that the reader found only after the request had timed out */
	json_t *late;
};

int gs_identity_new(struct gs_identity **ret)
{
	CLEANUP_FREE struct gs_identity *identity = calloc(1, sizeof(*identity));
	int fd, r;

	if (!identity)
		return -ENOMEM;
	r = gs_reader_begin(&fd);
	if (r)
		return r;
	identity->known = json_object();
	identity->late = json_object();
	*ret = TAKE_PTR(identity);
	return 0;
}

void gs_identity_free(struct gs_identity *identity)
{
	if (!identity)
		return;
	gs_reader_end();
	json_decref(identity->known);
	json_decref(identity->late);
	free(identity);
}

static void put_user(json_t *o, const json_t *row)
{
	const json_t *uid = json_object_get(row, "uid");
	const struct passwd *pw =
		json_is_integer(uid) ? getpwuid((uid_t)json_integer_value(uid)) : NULL;
	char number[24];

	if (!json_is_integer(uid))
		return;
	snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(uid));
	json_object_set_new(o, "user", json_string(pw ? pw->pw_name : number));
}

/* Joins a program's arguments with blanks, and cuts the directory off the program's name. */
static json_t *command_of(const struct gs_program *program)
{
	char text[sizeof(program->args) + 1];
	const char *slash;
	uint32_t n =
		program->nargs < sizeof(program->args) ? program->nargs : sizeof(program->args);

	for (uint32_t i = 0; i < n; i++)
		text[i] = program->args[i] ? program->args[i] : ' ';
	while (n && text[n - 1] == ' ')
		n--;
	text[n] = '\0';
	slash = memrchr(text, '/', strnlen(program->args, n));
	return n ? json_string(slash ? slash + 1 : text) : NULL;
}

static int read_command(pid_t pid, json_t **ret)
{
	CLEANUP_FREE struct gs_program *program = calloc(1, sizeof(*program));
	int r = program ? gs_reader_program(pid, program) : -ENOMEM;

	if (!r)
		*ret = command_of(program);
	return r;
}

static const char *pid_key(char buf[24], pid_t pid)
{
	snprintf(buf, 24, "%d", (int)pid);
	return buf;
}

static void on_late(enum gs_reader_what what, pid_t pid, void *user)
{
	struct gs_identity *identity = user;
	json_t *command = NULL;
	char key[24];

	if (what == GS_READER_PROGRAM && !read_command(pid, &command))
		json_object_set_new(identity->late, pid_key(key, pid), command);
}

static const char *namespace_of(const json_t *row)
{
	const char *name = json_string_value(json_object_get(row, "namespace"));

	return name ? name : "-";
}

/* Returns false if the reader may have more at the next call. */
static bool put_process(struct gs_identity *identity, json_t *o, const json_t *row, pid_t pid)
{
	json_t *command = NULL;
	char cgroup[GS_CGROUP_PATH_LEN], key[24];
	json_t *late = json_object_get(identity->late, pid_key(key, pid));
	int r = late ? 0 : read_command(pid, &command);

	if (json_is_string(json_object_get(row, "pod")))
		json_object_set_new(o, "cgroup",
				    json_sprintf("%s/%s", namespace_of(row),
						 json_string_value(json_object_get(row, "pod"))));
	else if (!gs_cgroup_path(pid, cgroup))
		json_object_set_new(o, "cgroup", json_string(cgroup));
	json_object_set_new(o, "command", late ? json_incref(late) : command);
	json_object_del(identity->late, key);
	return r != -EAGAIN;
}

static void add(struct gs_identity *identity, json_t *row)
{
	const json_t *pid = json_object_get(row, "pid");
	json_t *o;
	char id[24];

	if (!json_is_integer(pid))
		return;
	snprintf(id, sizeof(id), "%lld", (long long)json_integer_value(json_object_get(row, "id")));
	o = json_object_get(identity->known, id);
	if (!o) {
		CLEANUP_JSON json_t *read = json_object();

		put_user(read, row);
		if (put_process(identity, read, row, (pid_t)json_integer_value(pid)))
			json_object_set(identity->known, id, read);
		json_object_update(row, read);
		return;
	}
	json_object_update(row, o);
}

void gs_identity_add(struct gs_identity *identity, json_t *rows, size_t first, size_t n)
{
	gs_reader_dispatch(on_late, identity);
	for (size_t i = first; i < first + n && i < json_array_size(rows); i++)
		add(identity, json_array_get(rows, i));
}
