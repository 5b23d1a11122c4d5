// SPDX-License-Identifier: MIT
#include "intake/pods.h"

#include <string.h>
#include <sys/epoll.h>

#include "basic/clock.h"
#include "basic/log.h"
#include "intake/intake.h"
#include "process/pod_names.h"

#define WATCH_AGAIN_NS (60 * NS_PER_S) /* pause after the kernel had no watch to give */

void gs_pods_beat(struct gs_intake *in)
{
	uint64_t now = gs_now_ns();

	if (in->pods_unwatched_ns && now >= in->pods_unwatched_ns + WATCH_AGAIN_NS)
		gs_pods_reload(in);
	if (gs_pods_read())
		gs_rescan_all(in);
}

static int on_names(sd_event_source *src, int fd, uint32_t events, void *user)
{
	gs_pods_beat(user);
	return 0;
}

void gs_pods_begin(struct gs_intake *in)
{
	const struct gs_config *c = in->hub->config;
	const struct gs_pod_places places = {
		.pod_logs = c->pod_logs,
		.container_logs = c->container_logs,
		.fractions = c->fractions,
		.claims = c->claims,
		.bundles = c->bundles,
	};
	int fd, r = gs_pods_start(&places, &fd);
	bool told = in->pods_unwatched_ns;

	if (!r && in->hub->event)
		r = sd_event_add_io(in->hub->event, &in->pods, fd, EPOLLIN, on_names, in);
	in->pods_unwatched_ns = r < 0 || gs_pods_unwatched() ? gs_now_ns() : 0;
	if (r < 0 && !told)
		gs_log(LOG_WARNING,
		       "the folders that name pods cannot be watched: %s; they are read when "
		       "names are needed (sysctl fs.inotify.max_user_instances)",
		       strerror(-r));
}

void gs_pods_finish(struct gs_intake *in)
{
	in->pods = sd_event_source_disable_unref(in->pods);
	gs_pods_end();
}

void gs_pods_reload(struct gs_intake *in)
{
	gs_pods_finish(in);
	gs_pods_begin(in);
}
