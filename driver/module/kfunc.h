/* SPDX-License-Identifier: GPL-2.0-only */
/* kfunc.h - registers the kfuncs that policies can call */
#ifndef GPUSCHED_KFUNC_H
#define GPUSCHED_KFUNC_H

int kfunc_start(void);

#endif /* GPUSCHED_KFUNC_H */
