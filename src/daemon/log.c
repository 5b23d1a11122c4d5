// SPDX-License-Identifier: MIT
#define SD_JOURNAL_SUPPRESS_LOCATION 1
#include <stdlib.h>
#include <systemd/sd-journal.h>

#include "basic/env.h"
#include "basic/log.h"
#include "daemon/daemon.h"

static void to_journal(int level, const char *message, void *user)
{
	(void)user;
	sd_journal_send("MESSAGE=%s", message, "PRIORITY=%i", level, "SYSLOG_IDENTIFIER=gpuschedd",
			"GPUSCHED_VERSION=%s", GPUSCHED_VERSION, "GPUSCHED_RUN_DIR=%s",
			gs_env()->run_dir, NULL);
}

void log_open(bool foreground, int level)
{
	if (!foreground && getenv("JOURNAL_STREAM"))
		gs_log_sink(to_journal, NULL, level);
	else
		gs_log_sink(gs_log_to_stderr, (void *)"gpuschedd", level);
}
