# SPDX-License-Identifier: MIT
# For apply, check and revert: the places of the hooks, and of the bridge's files.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
me=$(basename "$0")

fail() {
	echo "$me: $*" >&2
	exit 1
}

rm=src/nvidia # RM's part of a driver's tree
kernel=$rm/src/kernel
fifo=$kernel/gpu/fifo
# Each line: the hook, the beginning of its line, the function in which the line must be, the file.
hooks="
task_init       gpusched_task_init(             kchangrpapiConstruct_IMPL                      $fifo/kernel_channel_group_api.c
task_destroy    gpusched_task_destroy(          kchangrpapiDestruct_IMPL                       $fifo/kernel_channel_group_api.c
schedule        GPUSCHED_SCHEDULE_OR_RETURN(    kchangrpapiCtrlCmdGpFifoSchedule_IMPL          $fifo/kernel_channel_group_api.c
timeslice_set   gpusched_timeslice_set(         kchangrpapiCtrlCmdSetTimeslice_IMPL            $fifo/kernel_channel_group_api.c
interleave_set  gpusched_interleave_set(        kchangrpapiCtrlCmdSetInterleaveLevel_IMPL      $fifo/kernel_channel_group_api.c
work_token      gpusched_work_token(            kchannelCtrlCmdGpfifoGetWorkSubmitToken_IMPL   $fifo/kernel_channel.c
preempt         GPUSCHED_PREEMPT_OR_RETURN(     rmresControl_Prologue_IMPL                     $kernel/rmapi/resource.c
ioctl_enter     GPUSCHED_ENTER_OR_BREAK(        nvidia_ioctl                                   kernel-open/nvidia/nv.c
ioctl_exit      GPUSCHED_EXIT_OR_AGAIN(         nvidia_ioctl                                   kernel-open/nvidia/nv.c
close           gpusched_close(                 nvidia_close_callback                          kernel-open/nvidia/nv.c
"
each_hook() { # prints the table without its blank lines
	sed '/^$/d' <<<"$hooks"
}
sources=$(each_hook | awk '{ print $4 }' | sort -u)

# Each line: a file of the bridge, and the folder where it goes.
bridge="
gpusched_hook.h  $rm/inc
gpusched_rm.h    $rm/inc
gpusched_rm.c    $fifo
gpusched_hook.h  kernel-open/nvidia
gpusched_os.h    kernel-open/nvidia
gpusched_os.c    kernel-open/nvidia
"
each_file() {
	sed '/^$/d' <<<"$bridge"
}

lists="$rm/srcs.mk kernel-open/nvidia/nvidia-sources.Kbuild"
record=.gpusched-hooks.diff # what apply changed, for revert

tree_of() { # ARGUMENTS: prints the driver's folder
	[ $# = 1 ] || fail "usage: $me DIR: the folder of NVIDIA's open kernel modules"
	local dir file
	dir=$(cd "$1" 2>/dev/null && pwd) || fail "$1: no such folder"
	for file in $sources $lists; do
		[ -f "$dir/$file" ] || fail "$1: no tree of NVIDIA's open kernel modules: $file is missing"
	done
	echo "$dir"
}

# Prints the first and last line of a function: the one with its name, and its closing brace.
function_lines() { # FILE FUNCTION: prints FIRST LAST
	awk -v name="$2" '
		!first && (index($0, name "(") == 1 || $0 == name ||
			$0 ~ "^[A-Za-z_][A-Za-z0-9_ *]* \\**" name "\\(") { first = NR }
		first && /^}/ { print first, NR; exit }
		first && /^[^ \t].*;[ \t]*$/ { first = 0 }' "$1"
}

# Prints "LINE" of each place where TEXT is in FILE.
lines_with() { # FILE TEXT
	grep -nF -- "$2" "$1" | cut -d: -f1
}

# Prints a line for each hook. False if a hook is not in its function exactly once.
report() { # DIR
	local dir=$1 bad=0 hook text function file at first last n
	while read -r hook text function file; do
		at=$(lines_with "$dir/$file" "$text" || true)
		n=$(wc -w <<<"$at")
		read -r first last < <(function_lines "$dir/$file" "$function") || first=0
		if [ "$n" = 1 ] && [ "$first" -lt "$at" ] && [ "$at" -lt "$last" ]; then
			printf '%-15s 1 line  %s:%s  %s\n' "$hook" "$file" "$at" "$function"
		else
			printf '%-15s %s lines: is to be once in %s of %s\n' "$hook" "$n" "$function" "$file"
			bad=1
		fi
	done < <(each_hook)
	return $bad
}
