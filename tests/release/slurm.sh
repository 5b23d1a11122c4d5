#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 900
# needs: root bpf fuse
# Checks the plugin for Slurm with Debian's Slurm and its accounting, in a fresh chroot: classes, weights,
# shards, and the GPU time of jobs in sacct. CODENAME: the release (bookworm, with Slurm 22.05). Uses the
# gpusched that was built here, or for another release gpusched's packages. MIRROR: the mirror of Debian's packages.
. "$(dirname "$0")/../e2e/lib.sh"
# Runs in mount and PID namespaces, so that its mounts and processes end with the test.
[ "${ALONE:-}" = yes ] || {
	rm -r "$scratch"
	ALONE=yes exec unshare --mount --pid --fork --mount-proc --propagation private bash "$self"
}
. "$(dirname "$0")/lib.sh"
begin_systems
if [ "$codename" != "$here" ]; then
	build_there || done_testing
fi
fresh root sysfs:sys bpf:sys/fs/bpf cgroup2:sys/fs/cgroup
root=$systems/root
inside() {
	in_system root "$@"
}
# shellcheck disable=SC2046 # a list
exits 0 "Slurm and its accounting are installed" inside apt-get install -q -y --no-install-recommends \
	curl jq procps fuse3 slurm-wlm slurmdbd slurm-client libslurm-dev mariadb-server munge \
	$(awk '$2 == "build" && $1 ~ /^lib/ { print $1 }' "$top/tools/packages.txt") || done_testing
if [ "$codename" != "$here" ]; then
	mkdir "$root/debs"
	cp "$build/deb-$codename"/gpusched_*.deb "$build/deb-$codename"/libgpusched1_*.deb "$root/debs/"
	exits 0 "gpusched is installed beside it" inside sh -c 'apt-get install -q -y --no-install-recommends /debs/*.deb' || done_testing
else
	exits 0 "gpusched is installed beside it" env DESTDIR="$root" meson install --no-rebuild --quiet -C "$build" || done_testing
	inside ldconfig
fi
plugin=$root/usr/lib/x86_64-linux-gnu/slurm-wlm/spank_gpusched.so
mkdir "$scratch/include"
ln -s "$root/usr/include/slurm" "$scratch/include/"
exits 0 "the plugin builds with Slurm's own header" gcc -O2 -Wall -Wextra -Werror -Wno-unused-parameter -fPIC -shared \
	-I"$scratch/include" -o "$plugin" "$top/integrations/slurm/spank_gpusched.c" "$top/integrations/slurm/ask.c" || done_testing

cp "$top/docs/guides/slurm.md" "$root/guide.md"
cat >"$root/slurm" <<'END'
# Prints a line per point: GOT, WANTED and NAME, separated by tabs.
[ -n "${GPUSCHED_SIM:-}" ] || exec gpusched sim shell -- bash "$0"
exec 3>&1 >/tmp/log 2>&1
set -x
host=$(hostname -s)
echo "127.0.0.1 localhost $host" >/etc/hosts
useradd -m alice
chmod -R o+rX "$GPUSCHED_SIM"
mkdir -p /run/munge /run/mysqld /var/spool/slurmd /var/spool/slurmctld /etc/slurm
chown munge /run/munge
chown mysql /run/mysqld
setpriv --reuid munge --regid munge --clear-groups munged
mariadbd --user=mysql --skip-networking --innodb-buffer-pool-size=64M &
until_() {
	for ((i = 0; i < 600; i++)); do
		! eval "$1" || return 0
		sleep 0.1
	done
	return 1
}
until_ "mariadb -e 'select 1'"
mariadb -e "create database slurm_acct_db; create user slurm@localhost identified by 'x'; grant all on slurm_acct_db.* to slurm@localhost"
cat >/etc/slurm/slurmdbd.conf <<END2
DbdHost=localhost
SlurmUser=root
StorageType=accounting_storage/mysql
StorageHost=localhost
StorageUser=slurm
StoragePass=x
StorageLoc=slurm_acct_db
PidFile=/run/slurmdbd.pid
LogFile=/tmp/slurmdbd.log
END2
chmod 600 /etc/slurm/slurmdbd.conf
cat >/etc/slurm/slurm.conf <<END2
ClusterName=gs
SlurmctldHost=$host
SlurmUser=root
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
GresTypes=gpu,shard
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
PlugStackConfig=/etc/slurm/plugstack.conf
SlurmdParameters=config_overrides
StateSaveLocation=/var/spool/slurmctld
SlurmdSpoolDir=/var/spool/slurmd
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
SlurmctldLogFile=/tmp/slurmctld.log
SlurmdLogFile=/tmp/slurmd.log
ReturnToService=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=16 Gres=gpu:1,shard:16
PartitionName=p Nodes=$host Default=YES MaxTime=10
PartitionName=serving Nodes=$host MaxTime=10
END2
printf 'AutoDetect=off\nName=gpu File=/dev/nvidia0\nName=shard Count=16\n' >/etc/slurm/gres.conf
# Name a plugin, so that Slurm does not choose one by this machine's cgroups.
echo CgroupPlugin=cgroup/v1 >/etc/slurm/cgroup.conf
printf '#!/bin/sh\nexport GPUSCHED_SIM=%s PATH=%s\nexec /usr/lib/gpusched/slurm-record "$@"\n' "$GPUSCHED_SIM" "$PATH" >/usr/local/bin/record
chmod 755 /usr/local/bin/record
echo "optional spank_gpusched.so socket=$GPUSCHED_SIM/run/api classes=be,normal,lc max_weight=50 default=be partition=serving:normal:300 record=/usr/local/bin/record" \
	>/etc/slurm/plugstack.conf
slurmdbd
until_ "sacctmgr -n show cluster"
printf '[Classes]\nAllowClass = lc user=alice\n' >/tmp/gpusched.conf
export GPUSCHED_CONFIG=/tmp/gpusched.conf
# The same nice value as in the daemon's unit.
nice -n -5 gpuschedd --foreground >/tmp/daemon.log 2>&1 &
until_ "gpusched policy get"
slurmctld
slurmd
until_ 'sinfo -h -o %T | grep -q idle'

row() { # GOT WANTED NAME
	printf '%s\t%s\t%s\n' "$(xargs <<<"$1")" "$2" "$3" >&3
}
# The load keeps 12 kernels in flight, which fill the GPU even if the load gets a processor late.
submit() { # ARGUMENTS...: submits gsload as a job of alice; prints the job's id
	(cd /home/alice && setpriv --reuid alice --regid alice --clear-groups sbatch --parsable --open-mode=append --output=/home/alice/out.%j "$@" \
		--wrap "exec gsload be --warmup 0 --iterations-per-us 27.777 --linger 1 --in-flight 12 --seconds ${seconds:-40}")
}
# The array's tasks are in three classes. The last two run longest and are cancelled. They run so long that the
# last 33 ms of a run, which the log loses when its program dies, are well below 1 %.
cat >/home/alice/array <<'END2'
#!/bin/bash
class=be seconds=40
case $SLURM_ARRAY_TASK_ID in
3 | 4) class=normal ;;
5) class=lc ;;
6 | 7) seconds=120 ;;
esac
exec srun --gpu-class=$class gsload be --warmup 0 --iterations-per-us 27.777 --linger 1 --in-flight 12 --seconds $seconds
END2
row "$(submit --gpu-class=boss 2>&1 | grep -c 'one of be,normal,lc')" 1 "a class above the ceiling is refused where it is submitted"
row "$(submit --gpu-weight=51 2>&1 | grep -c 'from 1 to 50')" 1 "a weight above it, too"
# A load beside the jobs makes the GPU switch, so that the log has each turn: without switches, a job may stay loaded
# while it is idle.
gsload lc --seconds 0 --period-us 20000 --iterations-per-us 27.777 >/dev/null &
beside=$!
until_ 'gpusched list | grep -q gsload'
# Loads linger after their work, since the log loses the last records of a program that has ended.
array=$(cd /home/alice && setpriv --reuid alice --regid alice --clear-groups sbatch --parsable --open-mode=append \
	--output=/home/alice/out.%A_%a --requeue --array=0-7 --gres=shard:1 array)
normal=$(submit --gpu-class=normal --gpu-weight=7)
lc=$(submit --gpu-class=lc --gpu-weight=30)
of() { # JOB FILTER: applies the filter to the list of the job's compute TSGs
	gpusched list --wide --json | jq -rs --arg job "$1" "[flatten | .[] | select(.kind == \"compute\" and .job == \$job)] | $2"
}
until_ '[ "$(gpusched list --wide --json | jq -s "[flatten | .[] | select(.kind == \"compute\" and .job != null)] | length")" -ge 10 ]'
row "$(of "$normal" '.[0] | "\(.class) \(.weight) \(.class_source)"')" "normal 7 owner" "a job has the class and the weight that it asks for"
row "$(of "$lc" '.[0] | "\(.class) \(.weight)"')" "lc 30" "one of a user that AllowClass= names may be above the class of the rules"
squeue -h -r -o '%A %F %K' | awk -v array="$array" '$2 == array { print $1, $3 }' | sort -n >/tmp/array
ids=$(cut -d' ' -f1 /tmp/array | xargs)
again=$(awk '$2 == 7 { print $1 }' /tmp/array)
row "$(for id in $ids; do of "$id" '.[0].class'; done | sort | uniq -c)" "5 be 1 lc 2 normal" "an array of eight has three classes, as its steps say"
until_ '[ "$(squeue -h -r -t RUNNING -o %A | wc -l)" = 2 ]'
sleep 15
scontrol requeue "${array}_7"
until_ 'squeue -h -r -o "%K %T" | grep -q "7 PENDING" && [ "$(of "$again" length)" = 0 ]'
sleep 1
scontrol update "jobid=${array}_7" StartTime=now
until_ '[ "$(of "$again" length)" = 1 ]'
sleep 10
scancel "${array}_6" "${array}_7"
fields() { # JOB FIELD: prints the field for each run of the job
	sacct -n -X -P --duplicates -j "$1" -o "JobIDRaw,$2" | sed -n "s/^$1|//p"
}
record() { # JOB: prints gpusched's record from sacct
	fields "$1" AdminComment%300 | grep -o "gpusched $host: .*" | tail -n 1
}
value() { # JOB KEY
	record "$1" | grep -o "$2=[^ ]*" | cut -d= -f2
}
all="$normal $lc $ids"
until_ 'for id in $all; do [ -n "$(record $id)" ] || break; done; [ -n "$(record $id)" ]'
until_ '! pgrep -f slurm-record' # each of these checks once more that its record stayed
sacct -a -n -X -P --duplicates -o JobID,State,ExitCode,Elapsed,AdminComment%200 >/tmp/jobs
row "$(for id in $all; do record "$id" | grep -c used_s; done | sort | uniq -c)" "10 1" "sacct has a record of each, the cancelled and the requeued included"
printf '%s\t%s\t%s\t%s\t%s\t%s\n' job class state own used held >/tmp/table
for id in $all; do # own: the load's count of its kernels, 1 ms each without switches
	own=$(grep -h '^{' "/home/alice/out.$(awk -v a="$array" -v id="$id" '$1 == id { id = a "_" $2 } END { print id }' /tmp/array)" | jq -s 'map(.n) | add / 1000')
	printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$id" "$(gpusched history "job:$id" --by job --json | jq -rs 'flatten | .[0].class')" \
		"$(fields "$id" State | sed 's/ by .*//' | paste -sd ,)" "$own" "$(value "$id" used_s)" "$(value "$id" held_s)"
done >>/tmp/table
kill $beside
row "$(awk -F '\t' 'NR > 1 { used = $5; sub("~", "", used)
	if (used < $4 * 0.99 || used > $4 * 1.01 || $6 < used) print $1 }
	END { print NR }' /tmp/table)" \
	11 "the GPU seconds used are what each load counts, within 1 %, job by job"
row "$(awk -F '\t' 'NR > 1 { print $3 }' /tmp/table | sort | uniq -c)" "1 CANCELLED 8 COMPLETED 1 REQUEUED,CANCELLED" "one was cancelled, one ran twice"
# Runs the guide's commands, with the id of a job that exists.
grep -E '^    (gpusched (list|history)|sacct) ' /guide.md | sed "s/1234/$lc/" >/tmp/questions
row "$(grep -c . /tmp/questions) $(bash -e /tmp/questions >/tmp/answers && grep -c "used_s=~" /tmp/answers)" "4 1" "the guide's questions have answers"
row "$(awk -v w="$(value "$normal" wait_s)" 'BEGIN { print (w > 0) }')" 1 "it waited"
row "$(gpusched history --by job --json | jq -rs "[flatten | .[].job | select(. != null)] | length")" 10 "history --by job has a line for each"
row "$(gpusched history "job:$lc" --json | jq -rs 'flatten | "\(.[0].class) \(.[0].job)"')" "lc $lc" "a job is a target of the history"
sacctmgr -i modify job where "jobid=$lc" set "AdminComment=looked at by bob; gpusched other: held_s=1; $(record "$lc")"
/usr/local/bin/record "$lc"
row "$(sacct -n -X -P -j "$lc" -o AdminComment%300 | tr ';' '\n' | sed 's/^ *//; s/: .*//')" "looked at by bob gpusched other gpusched $host" \
	"what others wrote stays, and its own record is there once"
export SLURM_JOB_PARTITION=serving
serving=$(submit --partition=serving) theirs=$(submit --partition=p)
until_ '[ -n "$(of "$serving" ".[0].weight // empty")" ] && [ "$(of "$theirs" length)" = 1 ]'
row "$(of "$serving" '.[0] | "\(.class) \(.weight)"')" "normal 300" "a job has what root grants its partition"
row "$(of "$theirs" '.[0] | "\(.class) \(.weight)"')" "be 100" "a job that only says so has not"
unset SLURM_JOB_PARTITION
scancel "$serving" "$theirs"
until_ '[ -z "$(squeue -h -r -o %A)" ]'
until_ '[ -z "$(ls /run/gpusched-slurm)" ]'
row "$(find /run/gpusched-slurm -type f | wc -l)" 0 "at its end nothing is kept"
kill -STOP "$(pidof gpuschedd | tr ' ' '\n' | tail -n 1)"

seconds=1
slow=$(submit)
until_ 'sacct -n -X -P -j $slow -o State | grep -q COMPLETED'
row "$(sacct -n -X -P -j "$slow" -o State)" COMPLETED "a job runs although the daemon does not answer"
END
rows=$(inside bash /slurm)
while IFS=$'\t' read -r got wanted point; do
	is "$got" "$wanted" "$point"
done <<<"$rows"
is "$(wc -l <<<"$rows")" 17 "all was gone through"
diag "$(column -t "$root/tmp/table")"
[ $tap_bad = 0 ] || diag "$(tail -20 "$root/tmp/log"; head -3 "$root"/home/alice/out.*; cat "$root/tmp/jobs")"
inside sh -c 'kill $(pidof slurmd slurmctld slurmdbd munged mariadbd) 2>/dev/null; pkill -CONT -x gpuschedd; pkill -x gpuschedd'
done_testing
