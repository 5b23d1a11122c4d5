/* SPDX-License-Identifier: GPL-2.0-only */
/* workqueue.h - stands for the kernel's header: test_hold.c has what hold.c uses */
