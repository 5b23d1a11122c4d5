#!/bin/bash
# SPDX-License-Identifier: MIT
# kernels: 6.12
# timeout: 300
# init: yes
# programs: /lib/systemd /bin/systemctl /bin/journalctl
# Checks the units of integrations/systemd, with their hardening, under bookworm's systemd and a simulated GPU.

sim=/run/sim # not below /tmp, which the units do not see

# Process 1: makes the simulated GPU and becomes systemd among its mounts.
become_systemd() {
	local units=/etc/systemd/system unit
	mkdir -p $units /run/systemd/system/gpuschedd.service.d /usr/sbin /usr/lib/gpusched $sim
	echo 0123456789abcdef0123456789abcdef >/etc/machine-id
	ln -s /gpusched/build/gpuschedd /usr/sbin/gpuschedd
	ln -s /gpusched/build/gpusched /usr/bin/gpusched
	ln -s /gpusched/build/policies /usr/lib/gpusched/policies
	for unit in gpuschedd gpusched-guardian; do
		cp /gpusched/build/integrations/systemd/$unit.service $units
		mkdir $units/$unit.service.d
		printf '[Service]\nEnvironment=GPUSCHED_SIM=%s\nReadWritePaths=%s\n' $sim $sim >$units/$unit.service.d/sim.conf
		printf 'TimeoutSec=200\nWatchdogSec=%s\n' "$([ $unit = gpuschedd ] && echo 150 || echo 0)" \
			>>$units/$unit.service.d/sim.conf # longer timeouts, since the machine is slow
	done
	cp /gpusched/build/integrations/systemd/run-gpusched-mps-users.mount $units
	cat >$units/test.target <<-END
		[Unit]
		Wants=test.service systemd-journald.service
	END
	cat >$units/test.service <<-END
		[Service]
		Environment=vm_test=$vm_test vm_points=$vm_points vm_logs=$vm_logs GPUSCHED_SIM=$sim GPUSCHED_DILATE=50 LD_LIBRARY_PATH=/gpusched/build/simcuda
		ExecStart=/init test
	END
	rm -r /lib/systemd/system/*.wants # starts no other units
	gpusched sim shell --dilate 50 -- sh -c "mount --rbind \$GPUSCHED_SIM $sim
		mknod /dev/ttyS1 c 4 65; mknod /dev/ttyS2 c 4 66 # the shell's /dev is new and lacks them
		echo \$\$ >/run/inside
		exec sleep 1000000" &
	until [ -s /run/inside ]; do sleep 0.1; done
	# unshare: process 1 shares its working directory with the kernel threads, and setns() refuses that.
	exec unshare --mount nsenter -m/proc/"$(cat /run/inside)"/ns/mnt /lib/systemd/systemd --unit=test.target
}
[ $$ != 1 ] || become_systemd

. "$(dirname "$0")/../e2e/lib.sh"
unit() { # PROPERTY [UNIT]
	systemctl show -P "$1" "${2:-gpuschedd}"
}
active_again() { # NUMBER OF RESTARTS
	[ "$(unit NRestarts) $(unit ActiveState)" = "$1 active" ]
}
has_guardian() { # the process that the daemon forks, not the unit
	grep -q . /sys/fs/cgroup/system.slice/gpusched-guardian/cgroup.procs
}
# Kills the daemon and the guardian that it forked at the same time, so that neither acts on the other's death.
kill_both() {
	local daemon
	daemon=$(unit MainPID)
	kill -STOP "$daemon"
	kill -KILL "$(cat /sys/fs/cgroup/system.slice/gpusched-guardian/cgroup.procs)" "$daemon"
}
post_restored() { # the unit's ExecStopPost= has restored; the next start would restore too, but later
	journalctl -b -u gpuschedd --no-pager | grep -q 'restore: 4 of 4 changed TSGs put back'
}
# change WHEN: sets BE's slice by a command
change() {
	check "$1: a slice is changed" "$gpusched" set "pid:$be" timeslice=300us
	is "$(sim_slice $be)" 300 "$1: in the driver"
}

exits 0 "gpuschedd.service starts" systemctl start gpuschedd
is "$(unit ActiveState)" active "it is active"
is "$(unit StatusText)" watching "the daemon told systemd that it is ready, and what it does"
is "$(unit ActiveState gpusched-guardian)" active "the guardian's unit came with it"
check "the daemon has a guardian of its own as well" wait_for 5 has_guardian
is "$(sed -nE 's/^(CapBnd|NoNewPrivs):\t//p' "/proc/$(unit MainPID)/status" | tr '\n' ' ')" "000000c401a80027 1 " \
	"it has the eleven capabilities of its unit and gets no others"
is "$(unit CPUWeight)" 1000 "its processor time weighs ten times that of other units"
space=/run/gpusched/mps/users
is "$(unit ActiveState run-gpusched-mps-users.mount)" active "the mount of users' pools came before it"
like "$(grep " $space " /proc/self/mounts)" " tmpfs rw,.*size=65536k,nr_inodes=16384,mode=711" "users see that mount, of limited size"
check "the hardened daemon can make a directory there" \
	nsenter -m/proc/"$(unit MainPID)"/ns/mnt mkdir -m 700 $space/65534
check "users see the folder" test -d $space/65534
pool=$(setpriv --reuid 65534 --clear-groups bash -c 'exec curl -s --unix-socket "$0/run/api" -d "{\"pid\":$$}" http://g/v1/pool_dir' $sim |
	jq -r '.dir // .reason')
check "a user can write in the directory that it is given" \
	setpriv --reuid 65534 --clear-groups touch "$pool/file"
is "$(df -m "$pool" | awk 'END { print $(NF - 4) }')" 64 "there is room for 64 MiB"
load be --seconds 0 --iterations-per-us 27.78
be=$LOAD_PID
check "the hardened daemon sees a program that comes" wait_tsgs pid:$be 4

change "orderly stop"
exits 0 "the unit stops" systemctl stop gpuschedd
is "$(unit Result)" success "without complaint"
check "every slice is the owner's again" wait_for 4 restored

exits 0 "it starts again" systemctl start gpuschedd
check "the daemon adopts the program" wait_tsgs pid:$be 4
mkdir -p /home/user && cp "$build/policies/none.bpf.o" /home/user/mine.bpf.o && cd /home/user || exit 1
exits 0 "a policy starts from a home directory" "$gpusched" policy start ./mine.bpf.o
exits 0 "the policy stops" "$gpusched" policy stop
cd / || exit 1
exits 0 "without the guardian's unit" systemctl stop gpusched-guardian
change "SIGKILL of the daemon and its guardian"
kill_both
check "the slice is the owner's again" wait_for 4 restored
check "ExecStopPost has restored it" wait_for 4 post_restored
check "systemd starts it once more" wait_for 5 active_again 1
check "the daemon sets again what a person had set" wait_for 5 slice_is $be 300
check "the daemon says that it did so" wait_for 4 eval 'journalctl -b -u gpuschedd --no-pager | grep -q "settings of before the crash: 4 TSGs"'
is "$(journalctl -b --no-pager -o json GPUSCHED_VERB=set | head -1 | jq -r '[.GPUSCHED_UID, .GPUSCHED_TARGET, .GPUSCHED_RESULT] | join(" ")')" \
	"0 pid:$be done" "the journal has who set it"

mkdir -p /etc/gpusched
printf '[Classes]\nClass=mine\n' >/etc/gpusched/gpusched.conf
exits 0 "systemctl reload" systemctl reload gpuschedd
check "reads the configuration again" wait_for 5 eval '"$gpusched" class list | grep -q mine'
is "$(unit ActiveState) $(unit NRestarts)" "active 1" "without a restart"
echo nonsense >/etc/gpusched/gpusched.conf
exits 1 "systemctl reload of a broken one fails" systemctl reload gpuschedd
check "the journal says where" wait_for 4 eval 'journalctl -b -u gpuschedd --no-pager | grep -q "gpusched.conf:1: "'
is "$(unit ActiveState) $("$gpusched" class list | grep -c mine)" "active 1" "the old configuration stays in force"
rm /etc/gpusched/gpusched.conf

printf '[Service]\nExecStopPost=\nRestart=no\n' >/run/systemd/system/gpuschedd.service.d/alone.conf
systemctl daemon-reload
exits 0 "without ExecStopPost and restart, but with the guardian's unit" systemctl start gpusched-guardian
check "the program is listed" wait_tsgs pid:$be 4
check "the daemon has a guardian again" wait_for 5 has_guardian
change "SIGKILL of both again"
kill_both
check "the guardian's unit puts the slice back" wait_for 4 restored
end_load $be
journalctl -b --no-pager >/logs/journal
done_testing
