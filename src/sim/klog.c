// SPDX-License-Identifier: MIT
#include "sim/klog.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "basic/clock.h"
#include "sim/rm_object.h"

void sim_klog_open(struct sim_klog *k, const char *mountpoint)
{
	char path[256];

	snprintf(path, sizeof(path), "%.240s/../kmsg", mountpoint);
	k->fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
}

void sim_klog_close(struct sim_klog *k)
{
	if (k->fd >= 0)
		close(k->fd);
	k->fd = -1;
}

void sim_klog(struct sim_klog *k, const char *format, ...)
{
	char text[512], record[640];
	va_list ap;
	int n;

	if (k->fd < 0)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	n = snprintf(record, sizeof(record), "4,%llu,%llu,-;%s\n", (unsigned long long)k->records++,
		     (unsigned long long)gs_now_ns() / 1000, text);
	if (write(k->fd, record, (size_t)n) != n)
		return; /* a full disk: the record is lost, as on a machine */
}

void sim_klog_xid(struct sim_klog *k, unsigned int gpu, unsigned int xid, pid_t pid,
		  const char *name, const char *text)
{
	char who[80] = "pid='<unknown>', name=<unknown>";

	if (pid)
		snprintf(who, sizeof(who), "pid=%d, name=%s", (int)pid, name);
	sim_klog(k, "NVRM: Xid (PCI:0000:%02x:00): %u, %s%s%s", sim_rm_bus(gpu), xid, who,
		 *text ? ", " : "", text);
}

int sim_klog_asked(struct sim_klog *k, const char *line)
{
	unsigned int xid, gpu;
	char name[17] = "program";
	int pid;

	if (!strncmp(line, "! ", 2)) {
		sim_klog(k, "%.*s", (int)strcspn(line + 2, "\n"), line + 2);
		return 0;
	}
	if (sscanf(line, "%u %u %d %16s", &xid, &gpu, &pid, name) < 3 || gpu >= SIM_MAX_GPUS)
		return -EINVAL;
	sim_klog_xid(k, gpu, xid, pid, name, "Ch 00000008");
	return 0;
}
