/* SPDX-License-Identifier: GPL-2.0-only */
/* node.h - provides /dev/gpusched; its commands are in include/gpusched/module.h */
#ifndef GPUSCHED_NODE_H
#define GPUSCHED_NODE_H

int node_start(void);
void node_stop(void);

#endif /* GPUSCHED_NODE_H */
