/* SPDX-License-Identifier: GPL-2.0-only */
/* hold.h - the one open file that may change something, and its heartbeat */
#ifndef GPUSCHED_HOLD_H
#define GPUSCHED_HOLD_H

#include <linux/fs.h>

/* A policy is told of all TSGs when a heartbeat begins. */
int hold_take(struct file *file, unsigned long flags); /* -EBUSY, -EINVAL */
int hold_beat(struct file *file);                      /* -EPERM: not the holder */
int hold_check(struct file *file);                     /* -EPERM; -ETIMEDOUT: it does not beat */
void hold_drop(struct file *file); /* puts all back, and forgets what was told */
void hold_stop(void);

#endif /* GPUSCHED_HOLD_H */
