// SPDX-License-Identifier: MIT
#include "mps/members.h"

#include <signal.h>
#include <string.h>

#include "basic/cleanup.h"
#include "basic/json_sheet.h"
#include "process/process.h"

#define MAX_DEPTH 64

/* True if @pid is @ancestor, or a descendant of it. */
static bool descends(pid_t pid, pid_t ancestor)
{
	for (int i = 0; i < MAX_DEPTH && pid > 1; i++) {
		if (pid == ancestor)
			return true;
		pid = gs_process_parent(pid);
	}
	return false;
}

static bool knows(const struct gs_mps_member *m, pid_t pid)
{
	for (size_t i = 0; i < m->nclients; i++)
		if (m->clients[i].pid == pid)
			return true;
	return false;
}

static bool lives(const struct gs_mps_client *c)
{
	return gs_process_same(gs_proc_start_ns(c->pid), c->start_ns);
}

/*
 * True if @pid belongs to the member. The child is checked separately, since it is no descendant of
 * `gpusched run` any more if that was killed.
 */
static bool is_of(const struct gs_mps_member *m, pid_t pid)
{
	return descends(pid, m->run) || (m->child && descends(pid, m->child));
}

/*
 * Forgets clients that have ended. Returns true if one of them was not the child of `gpusched run`.
 */
static bool drop_ended(struct gs_mps_member *m)
{
	size_t kept = 0;
	bool lost = false;

	for (size_t i = 0; i < m->nclients; i++)
		if (lives(&m->clients[i]))
			m->clients[kept++] = m->clients[i];
		else
			lost |= m->clients[i].pid != m->child;
	m->nclients = kept;
	return lost;
}

bool gs_mps_member_take(struct gs_mps_member *m, const pid_t *clients, size_t n)
{
	bool lost = drop_ended(m);

	for (size_t i = 0; i < n; i++) {
		if (m->nclients == GS_MPS_CLIENTS || knows(m, clients[i]) || !is_of(m, clients[i]))
			continue;
		m->clients[m->nclients++] =
			(struct gs_mps_client){ clients[i], gs_proc_start_ns(clients[i]) };
		m->seen = true;
	}
	return lost;
}

pid_t gs_mps_member_outside(const struct gs_mps_member *m, const json_t *tsgs)
{
	const json_t *t;
	size_t i;

	json_array_foreach((json_t *)tsgs, i, t) {
		const char *kind = json_string_value(json_object_get(t, "kind"));
		const char *known = json_string_value(json_object_get(t, "known_by"));
		pid_t pid = (pid_t)json_integer_value(json_object_get(t, "pid"));

		/*
		 * With "scan", no tap has seen the TSG's creation: it is the server's TSG under
		 * another handle.
		 */
		if (kind && !strcmp(kind, "compute") && known && strcmp(known, "scan") &&
		    is_of(m, pid))
			return pid;
	}
	return 0;
}

void gs_mps_member_terminate(pid_t server, const struct gs_mps_member *m)
{
	char text[256];

	for (size_t i = 0; server && i < m->nclients; i++)
		if (lives(&m->clients[i]))
			gs_mps_control_ask(text, sizeof(text), "terminate_client %d %d",
					   (int)server, (int)m->clients[i].pid);
}

void gs_mps_member_kill(const struct gs_mps_member *m)
{
	const struct gs_mps_client child = { m->child, m->child_start_ns };

	for (size_t i = 0; i < m->nclients; i++)
		if (lives(&m->clients[i]))
			kill(m->clients[i].pid, SIGKILL);
	if (m->child && lives(&child))
		kill(m->child, SIGKILL);
}
