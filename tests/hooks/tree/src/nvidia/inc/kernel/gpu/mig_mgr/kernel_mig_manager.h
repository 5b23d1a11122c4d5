/* SPDX-License-Identifier: MIT */
#ifndef MINI_MIG_MANAGER_H
#define MINI_MIG_MANAGER_H

#include "mini.h"

static inline NV_STATUS mini_partition(const KernelMIGManager *mig, MIG_INSTANCE_REF *ref)
{
	*ref = mig->ref;
	return mig->status;
}
#define kmigmgrGetInstanceRefFromDevice(gpu, mig, device, ref) mini_partition(mig, ref)

#endif /* MINI_MIG_MANAGER_H */
