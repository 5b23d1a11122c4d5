# SPDX-License-Identifier: MIT
SRCS += src/kernel/gpu/fifo/kernel_channel.c
SRCS += src/kernel/gpu/fifo/kernel_channel_group_api.c
SRCS += src/kernel/rmapi/resource.c
