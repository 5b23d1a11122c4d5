/* SPDX-License-Identifier: GPL-2.0-only */
/* kfunc.h - what policies can do */
#ifndef GPUSCHED_KFUNC_H
#define GPUSCHED_KFUNC_H

int kfunc_start(void);

#endif /* GPUSCHED_KFUNC_H */
