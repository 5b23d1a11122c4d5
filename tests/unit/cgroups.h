/* SPDX-License-Identifier: MIT */
/*
 * cgroups.h - paths of cgroups as machines have them, and what pod.c and batch.c find in them
 *
 * Whose the folders are does not show in a path: below user.slice the ids count for nothing.
 */
#ifndef TESTS_UNIT_CGROUPS_H
#define TESTS_UNIT_CGROUPS_H

#define UID "6f7d3c5e-0a1b-4c2d-8e9f-0123456789ab"
#define UID_ "6f7d3c5e_0a1b_4c2d_8e9f_0123456789ab"
#define OTHER_UID "11111111-0a1b-4c2d-8e9f-0123456789ab"
#define STATIC "0123456789abcdef0123456789abcdef"
#define OTHER_ID "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct {
	const char *path, *pod, *container, *job;
} real_cgroups[] = {
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope", UID, ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	  ".scope",
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	  ".scope/container",
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	  ".slice/crio-" ID,
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	  ".slice/crio-conmon-" ID ".scope",
	  UID, "", "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID_ ".slice/docker-" ID
	  ".scope",
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" STATIC
	  ".slice/cri-containerd-" ID ".scope",
	  STATIC, ID, "" },
	{ "/kubepods/burstable/pod" UID "/" ID, UID, ID, "" },
	{ "/kubepods/besteffort/pod" UID "/crio-" ID, UID, ID, "" },
	{ "/kubepods/pod" UID "/" ID, UID, ID, "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" UID_
	  ".slice:cri-containerd:" ID,
	  UID, ID, "" },
	{ "/system.slice/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, UID, ID, "" },
	{ "/system.slice/containerd.service/kubepods-burstable-pod" STATIC
	  ".slice:cri-containerd:" ID,
	  STATIC, ID, "" },
	{ "/kubepods-besteffort-pod" UID_ ".slice:cri-containerd:" ID, UID, ID, "" },
	{ "/system.slice/k3s.service/kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID, UID,
	  ID, "" },
	{ "/docker/" OTHER_ID "/kubelet/kubepods/besteffort/pod" UID "/" ID, UID, ID, "" },
	{ "/system.slice/docker-" OTHER_ID
	  ".scope/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-burstable.slice/"
	  "kubelet-kubepods-burstable-pod" UID_ ".slice/cri-containerd-" ID ".scope",
	  UID, ID, "" },
	{ "/docker/" OTHER_ID
	  "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_ ".slice/crio-" ID
	  ".scope",
	  UID, ID, "" },
	{ "/machine.slice/libpod-" OTHER_ID
	  ".scope/container/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  UID, ID, "" },
	{ "/machine.slice/libpod-" ID ".scope/container", "", ID, "" },
	{ "/machine.slice/libpod-conmon-" ID ".scope", "", "", "" },
	{ "/machine.slice/machine-libpod_pod_" OTHER_ID ".slice/libpod-" ID ".scope", "", ID, "" },
	{ "/libpod_parent/libpod-" ID, "", ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" ID ".scope/container",
	  "", ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/podman-123.scope/"
	  "libpod-payload-" ID,
	  "", ID, "" },
	{ "/system.slice/vllm.service/libpod-payload-" ID, "", ID, "" },
	{ "/system.slice/docker-" ID ".scope", "", ID, "" },
	{ "/docker/" ID, "", ID, "" },
	{ "/docker/" OTHER_ID "/docker/" ID, "", OTHER_ID, "" },
	{ "/actions_job/" ID, "", ID, "" },
	{ "/ecstasks.slice/ecstasks-e95a40efbde84cbc8600660a109ec194.slice/docker-" ID ".scope", "",
	  ID, "" },
	{ "/ecs/e95a40efbde84cbc8600660a109ec194/" ID, "", ID, "" },
	{ "/ecs/e95a40efbde84cbc8600660a109ec194/e95a40efbde84cbc8600660a109ec194-2574821211", "",
	  "e95a40efbde84cbc8600660a109ec194-2574821211", "" },
	{ "/system.slice/nerdctl-" ID ".scope", "", ID, "" },
	{ "/default/" ID, "", ID, "" },
	{ "/nomad.slice/share.slice/1f0fcd9c-8d0a-4b1d-8a7e-0123456789ab.start.scope", "", "", "" },
	{ "/lxc/101/ns/system.slice/docker-" ID ".scope", "", ID, "" },
	{ "/lxc.payload.gpu1/system.slice/ollama.service", "", "", "" },
	{ "/lxc.payload.gpu1/kubepods/burstable/pod" UID "/" ID, UID, ID, "" },
	{ "/machine.slice/systemd-nspawn@lab.service/payload/system.slice/ssh.service", "", "",
	  "" },
	{ "/machine.slice/machine-lab.scope/payload/user.slice/user-1000.slice/session-1.scope", "",
	  "", "" },
	{ "/system.slice/slurmstepd.scope/job_42/step_0/user/task_0", "", "", "42" },
	{ "/system.slice/gpu1_slurmstepd.scope/job_42/step_batch/user/task_special", "", "", "42" },
	{ "/system.slice/slurmstepd.scope/job_42/step_extern/user/task_special", "", "", "42" },
	{ "/system.slice/htcondor/condor_var_lib_condor_execute_slot1_1@gpu1", "", "", "" },
	{ "/system.slice/snap.ollama.listener.service", "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/"
	  "snap.ollama.ollama-1f0fcd9c-8d0a-4b1d-8a7e-0123456789ab.scope",
	  "", "", "" },
	{ "/garden/1f0fcd9c-8d0a-4b1d-8a7e", "", "", "" },
	{ "/kubepods/burstable/pod" UID "/" ID "/system.slice/docker-" OTHER_ID ".scope", UID, ID,
	  "" },
	{ "/../../kubepods/burstable/pod" UID "/" ID, UID, ID, "" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope (deleted)", UID,
	  ID, "" },
	{ "/system.slice/docker-" ID ".scope (deleted)", "", ID, "" },
	{ "/kubepods.slice/kubepods-pod" UID_ ".slice/cri-containerd-" ID ".scope/kata_overhead",
	  UID, ID, "" },
	{ "/kata_overhead/" ID, "", ID, "" },
	{ "/kubepods/burstable/pod" UID "/" ID "/kubepods", UID, ID, "" },
	{ "/user.slice/user-1001.slice/user@1001.service/user.slice/user-libpod_pod_" OTHER_ID
	  ".slice/libpod-" ID ".scope",
	  "", ID, "" },
	{ "/docker/buildkit/t4967jvf8rbufklrhkicskyes", "", "", "" },
	{ "/lxc/outer/docker/" ID, "", ID, "" },
	{ "/lxc/100/ns/init.scope", "", "", "" },
	{ "/Burstable/pod_123-456/crio-" ID, "", ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/app.slice/app-org.kde.konsole-41769.scope/"
	  "tab(42253).scope",
	  "", "", "" },
	{ "/user.slice/user-1000.slice/user@1000.service/apps.slice/apps-org.gnome.Terminal.slice/"
	  "vte-spawn-75bc72bd-6642-4cf5-b62c-0674e11bfc84.scope",
	  "", "", "" },
	{ "/sensor.falcon", "", "", "" },
	{ "/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" UID_
	  ".slice/cri-containerd-" ID ".scope/payload",
	  UID, ID, "" },
	{ "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a2b3c4d.slice/"
	  "cri-containerd-" ID ".scope",
	  "", ID, "" },
	{ "/kubepods/burstable/pod" UID "/" ID "/init.scope", UID, ID, "" },
	{ "/kubelet-kubepods-burstable.slice/kubelet-kubepods-burstable-pod" UID_
	  ".slice/cri-containerd-" ID ".scope",
	  UID, ID, "" },
	{ "/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-conmon-" ID ".scope", "",
	  "", "" },
};

#endif /* TESTS_UNIT_CGROUPS_H */
