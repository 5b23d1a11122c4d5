// SPDX-License-Identifier: MIT
/* The hooks in the miniature driver, run: what GSP gets, what RM remembers, who is refused. TAP. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "gpusched_hook.h"
#include "mini.h"

static unsigned int points, failures;

static void is(unsigned long long got, unsigned long long want, const char *name)
{
	points++;
	failures += got != want;
	printf("%s %u - %s\n", got == want ? "ok" : "not ok", points, name);
	if (got != want)
		printf("# got %llu, wanted %llu\n", got, want);
}

/* ---- GSP, and what else RM has elsewhere ----------------------------------------------------- */

static struct {
	unsigned int calls;
	NvU32 cmd;
	NvU64 value;
} gsp;

NV_STATUS mini_gsp_control(OBJGPU *gpu, NvHandle client, NvHandle object, NvU32 cmd, void *params,
			   NvU32 size)
{
	(void)gpu, (void)client, (void)object;
	gsp.calls++;
	gsp.cmd = cmd;
	gsp.value = 0;
	if (params)
		memcpy(&gsp.value, params, size < sizeof(gsp.value) ? size : sizeof(gsp.value));
	return NV_OK;
}

void *listAppendValue(int *list, KernelChannelGroupApi **api)
{
	*list = 1;
	return *api;
}

void kchangrpDestroy(OBJGPU *gpu, KernelChannelGroup *group)
{
	(void)gpu;
	group->destroyed = NV_TRUE;
}

NV_STATUS kchannelNotifyWorkSubmitToken(OBJGPU *gpu, KernelChannel *channel, NvU32 token)
{
	(void)gpu;
	channel->notified = token;
	return NV_OK;
}

/* ---- the listener ---------------------------------------------------------------------------- */

static struct gpusched_hook seen;
static unsigned int hooks;
static bool on = true;
static unsigned int verdict;
static long long rewrite = -1;
static bool there_at_destroy;
static KernelChannelGroup group = {
	.grpID = 7, .runlistId = 3, .engineType = 1, .timesliceUs = 1024
};

int os_gpusched_on(void)
{
	return on;
}

void os_gpusched_hook(struct gpusched_hook *h)
{
	hooks++;
	h->verdict = verdict;
	if (rewrite >= 0)
		h->value = (unsigned long long)rewrite;
	if (h->kind == GPUSCHED_HOOK_TASK_DESTROY)
		there_at_destroy = !group.destroyed;
	seen = *h;
}

static void listen(unsigned int say, long long value)
{
	hooks = 0;
	gsp.calls = 0;
	verdict = say;
	rewrite = value;
}

/* ---- what is tried --------------------------------------------------------------------------- */

static OBJGPU gpu = { .gpuInstance = 2 };
static KernelChannelGroupApi api = {
	.client = 0xc1d00001, .handle = 0x5c000010, .gpu = &gpu, .pKernelChannelGroup = &group
};
static KernelChannel channel = { .client = 0xc1d00001,
				 .handle = 0x5c000021,
				 .gpu = &gpu,
				 .bound = NV_TRUE,
				 .pKernelChannelGroupApi = &api };
static CHANNEL_NODE node = { .pKernelChannel = &channel };

static bool seen_in(NvU32 gpu_instance, NvU32 compute_instance)
{
	RS_RES_ALLOC_PARAMS_INTERNAL params = { .hClient = api.client };

	listen(GPUSCHED_HOOK_GO, -1);
	kchangrpapiConstruct_IMPL(&api, NULL, &params);
	return hooks == 1 && seen.gpu_instance == gpu_instance &&
	       seen.compute_instance == compute_instance;
}

static void try_partitions(void)
{
	KERNEL_MIG_GPU_INSTANCE gi = { .swizzId = 9 };
	MIG_COMPUTE_INSTANCE ci = { .id = 3 };

	is(seen_in(GPUSCHED_HOOK_WHOLE, GPUSCHED_HOOK_WHOLE), 1, "a GPU that is not divided");
	gpu.mig = (KernelMIGManager){ .divided = NV_TRUE, .ref = { &gi, &ci } };
	is(seen_in(9, 3), 1, "the hook sees the partition");
	gpu.mig.ref.pMIGComputeInstance = NULL;
	is(seen_in(9, GPUSCHED_HOOK_UNKNOWN), 1, "one of no compute instance is in none known");
	gpu.mig.status = NV_ERR_INVALID_STATE;
	is(seen_in(GPUSCHED_HOOK_UNKNOWN, GPUSCHED_HOOK_UNKNOWN), 1,
	   "a partition that RM does not tell is unknown");
	gpu.mig = (KernelMIGManager){ 0 };
}

static void try_task_init(void)
{
	RS_RES_ALLOC_PARAMS_INTERNAL params = { .hClient = api.client };

	listen(GPUSCHED_HOOK_GO, -1);
	is(kchangrpapiConstruct_IMPL(&api, NULL, &params), NV_OK, "a TSG is made");
	is(hooks, 1, "task_init is called once");
	is(seen.kind, GPUSCHED_HOOK_TASK_INIT, "as task_init");
	is(seen.client == api.client && seen.object == api.handle && seen.gpu == 2, 1,
	   "the hook sees its handles");
	is(seen.group == 7 && seen.runlist == 3 && seen.engine == 1 && seen.timeslice_us == 1024, 1,
	   "the hook sees RM's numbers");
	is(gsp.calls, 1, "the hook calls nothing itself");
	params.allocFlags = RMAPI_ALLOC_FLAGS_SKIP_RPC;
	listen(GPUSCHED_HOOK_GO, -1);
	kchangrpapiConstruct_IMPL(&api, NULL, &params);
	is(hooks, 0, "RM's own TSG has no task_init");
}

static NV_STATUS schedule(NvBool enable)
{
	NVA06C_CTRL_GPFIFO_SCHEDULE_PARAMS params = { .bEnable = enable };

	return kchangrpapiCtrlCmdGpFifoSchedule_IMPL(&api, &params);
}

static void try_schedule(void)
{
	listen(GPUSCHED_HOOK_GO, -1);
	is(schedule(NV_TRUE), NV_OK, "schedule lets it pass");
	is(gsp.calls == 1 && seen.value == 1, 1, "to GSP");
	listen(GPUSCHED_HOOK_DENY, -1);
	is(schedule(NV_TRUE), NV_ERR_INSUFFICIENT_PERMISSIONS, "schedule denies");
	is(gsp.calls, 0, "before GSP hears of it");
	listen(GPUSCHED_HOOK_HOLD, -1);
	is(schedule(NV_TRUE), NV_ERR_BUSY_RETRY, "who was to wait and did not is refused");
	is(gsp.calls, 0, "before GSP hears of it");
	listen(GPUSCHED_HOOK_DENY, -1);
	is(schedule(NV_FALSE), NV_OK, "taking it off the runlist is never refused");
	is(gsp.calls == 1 && seen.value == 0, 1, "the call is seen");
	channel.bound = NV_FALSE;
	listen(GPUSCHED_HOOK_GO, -1);
	is(schedule(NV_TRUE), NV_ERR_INVALID_STATE, "RM's own check comes first");
	is(hooks, 0, "nobody is asked");
	channel.bound = NV_TRUE;
	group.bAllocatedByRm = NV_TRUE;
	listen(GPUSCHED_HOOK_DENY, -1);
	is(schedule(NV_TRUE), NV_OK, "RM's own TSG is never refused");
	is(hooks, 0, "nor seen");
	group.bAllocatedByRm = NV_FALSE;
}

static void try_settings(void)
{
	NVA06C_CTRL_TIMESLICE_PARAMS slice = { .timesliceUs = 2048 };
	NVA06C_CTRL_INTERLEAVE_LEVEL_PARAMS level = { .tsgInterleaveLevel = 1 };

	listen(GPUSCHED_HOOK_GO, -1);
	kchangrpapiCtrlCmdSetTimeslice_IMPL(&api, &slice);
	is(gsp.value == 2048 && group.timesliceUs == 2048, 1,
	   "a timeslice goes on as it was asked");
	listen(GPUSCHED_HOOK_GO, 200);
	kchangrpapiCtrlCmdSetTimeslice_IMPL(&api, &slice);
	is(gsp.value, 200, "a rewritten timeslice reaches GSP");
	is(group.timesliceUs, 200, "the slice is what RM answers from then on");
	is(gsp.calls, 1, "in the same call");
	listen(GPUSCHED_HOOK_GO, 2);
	kchangrpapiCtrlCmdSetInterleaveLevel_IMPL(&api, &level);
	is(gsp.cmd == 0xa06c0107 && gsp.value == 2, 1, "a rewritten interleave level reaches GSP");
	is(group.interleave, 2, "the level is what RM answers from then on");
}

static void try_preempt(void)
{
	unsigned char wait[8] = { 1 };
	RmResource resource = { .gpu = &gpu };
	RS_RES_CONTROL_PARAMS_INTERNAL params = { .hClient = api.client,
						  .hObject = api.handle,
						  .cmd = 0xa06c0105,
						  .pParams = wait,
						  .paramsSize = sizeof(wait),
						  .to_gsp = NV_TRUE };

	listen(GPUSCHED_HOOK_GO, -1);
	is(rmresControl_Prologue_IMPL(&resource, NULL, &params), NV_WARN_NOTHING_TO_DO,
	   "preempt passes");
	is(seen.cmd == 0xa06c0105 && seen.params == wait && seen.size == 8 && gsp.calls == 1, 1,
	   "the call is seen with its parameters");
	listen(GPUSCHED_HOOK_DENY, -1);
	is(rmresControl_Prologue_IMPL(&resource, NULL, &params), NV_ERR_INSUFFICIENT_PERMISSIONS,
	   "preempt is denied");
	is(gsp.calls, 0, "before GSP hears of it");
	params.cmd = 0x20800403;
	is(rmresControl_Prologue_IMPL(&resource, NULL, &params), NV_WARN_NOTHING_TO_DO,
	   "a control that is not the scheduler's is nobody's business");
	is(hooks, 1, "the second call is not reported");
}

static void try_the_rest(void)
{
	NVC36F_CTRL_CMD_GPFIFO_GET_WORK_SUBMIT_TOKEN_PARAMS token = { 0 };
	NVA06C_CTRL_TIMESLICE_PARAMS slice = { .timesliceUs = 2048 };

	listen(GPUSCHED_HOOK_GO, -1);
	kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL(&channel, &token);
	is(seen.kind == GPUSCHED_HOOK_WORK_TOKEN && seen.channel == channel.handle &&
		   seen.value == 0x21 && seen.object == api.handle,
	   1, "work_token: the channel, its token and its TSG");
	is(channel.notified, 0x21, "the driver goes on");

	on = false;
	listen(GPUSCHED_HOOK_DENY, 1);
	kchangrpapiCtrlCmdSetTimeslice_IMPL(&api, &slice);
	is(schedule(NV_TRUE), NV_OK, "nobody listens: nothing is refused");
	is(hooks == 0 && group.timesliceUs == 2048, 1, "nothing is rewritten");
	on = true;

	listen(GPUSCHED_HOOK_GO, -1);
	kchangrpapiDestruct_IMPL(&api);
	is(seen.kind, GPUSCHED_HOOK_TASK_DESTROY, "task_destroy");
	is(there_at_destroy, 1, "comes while the TSG is still there");
}

int main(void)
{
	api.channels = &node;
	try_task_init();
	try_partitions();
	try_schedule();
	try_settings();
	try_preempt();
	try_the_rest();
	printf("1..%u\n", points);
	return failures != 0;
}
