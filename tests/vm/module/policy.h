/* SPDX-License-Identifier: MIT */
/* policy.h - include gpusched.ko's types and kfuncs for the policies of this test */
#include "gpu_policy.h"
