// SPDX-License-Identifier: MIT
/* The guardian that a daemon forks, and what is done when that one dies first. */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "service/internal.h"

#define LIVES_AT_LEAST_NS NS_PER_S /* one that dies sooner is not replaced: the next would too */

int gs_guarding_start(struct gs_service *s, struct gs_error *err)
{
	int r;

	if (!s->opts.daemon || s->opts.dry_run)
		return 0;
	r = gs_guardian_start(s->o, s->branch, &s->guardian_fd, &s->guardian_pid, err);
	if (r)
		return gs_fail(err, r, "the guardian cannot start: %s", strerror(-r));
	s->guardian_since_ns = gs_now_ns();
	s->guardian_pidfd = (int)syscall(SYS_pidfd_open, s->guardian_pid, 0);
	r = s->guardian_pidfd < 0 ? -errno : gs_loop_add(s, s->guardian_pidfd);
	return r ? gs_fail(err, r, "the guardian cannot be watched: %s", strerror(-r)) : 0;
}

static void forget(struct gs_service *s)
{
	if (s->guardian_pidfd >= 0) {
		gs_loop_del(s, s->guardian_pidfd);
		close(s->guardian_pidfd);
	}
	if (s->guardian_fd >= 0)
		close(s->guardian_fd);
	s->guardian_pidfd = s->guardian_fd = -1;
	if (s->guardian_pid > 0)
		waitpid(s->guardian_pid, NULL, 0);
	s->guardian_pid = 0;
}

void gs_guarding_lost(struct gs_service *s)
{
	bool soon = gs_now_ns() - s->guardian_since_ns < LIVES_AT_LEAST_NS;
	struct gs_error err = { 0 };

	forget(s);
	if (soon) {
		gs_log(LOG_ERR, "the guardian died at once: this daemon's death would be repaired "
				"by the next start or 'gpusched restore' alone");
		return;
	}
	if (gs_guarding_start(s, &err))
		gs_log(LOG_ERR, "%s", err.text);
	else
		gs_log(LOG_WARNING, "the guardian died: another one took its place");
}

void gs_guarding_end(struct gs_service *s)
{
	if (s->guardian_fd >= 0 && write(s->guardian_fd, "q", 1) != 1)
		gs_log(LOG_WARNING, "the guardian could not be told to leave: %s", strerror(errno));
	forget(s);
}
