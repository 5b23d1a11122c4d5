/* SPDX-License-Identifier: GPL-2.0-only */
/* hold.h - the one open file that may change settings, and its heartbeat */
#ifndef GPUSCHED_HOLD_H
#define GPUSCHED_HOLD_H

#include <linux/fs.h>

/* Makes @file the holder. When beats begin, the policy's task_init() is called for every TSG. */
int hold_take(struct file *file, unsigned long flags); /* -EBUSY, -EINVAL */
int hold_beat(struct file *file);                      /* -EPERM: not the holder */
/* May @file make changes? -EPERM: it is not the holder; -ETIMEDOUT: it sends no beats. */
int hold_check(struct file *file);
void hold_drop(struct file *file); /* restores everything, and forgets what the holder reported */
void hold_stop(void);

#endif /* GPUSCHED_HOLD_H */
