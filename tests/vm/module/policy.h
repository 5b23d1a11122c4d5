/* SPDX-License-Identifier: MIT */
/* policy.h - what the policies of this test share: gpusched.ko's types and kfuncs */
#include "gpu_policy.h"
