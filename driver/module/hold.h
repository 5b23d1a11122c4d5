/* SPDX-License-Identifier: GPL-2.0-only */
/* hold.h - manages the holder: the one open file that may change settings, and its heartbeat */
#ifndef GPUSCHED_HOLD_H
#define GPUSCHED_HOLD_H

#include <linux/fs.h>

/* Makes @file the holder. When heartbeats begin, calls the policy's task_init() for every TSG. */
int hold_take(struct file *file, unsigned long flags); /* -EBUSY, -EINVAL */
int hold_beat(struct file *file);                      /* -EPERM: not the holder */
/* Checks that @file may change settings. -EPERM: not the holder; -ETIMEDOUT: no heartbeats. */
int hold_check(struct file *file);
/* restores all settings, and forgets TSGs that only the holder reported */
void hold_drop(struct file *file);
void hold_stop(void);

#endif /* GPUSCHED_HOLD_H */
