#!/bin/bash
# SPDX-License-Identifier: MIT
# timeout: 120
# The hook kit (driver/hooks) on a miniature of the driver: each hook is inserted exactly once, does
# what it should, and leaves nothing when it is turned off or taken out.
. "$(dirname "$0")/lib.sh"
kit=$top/driver/hooks
tree=$scratch/tree
rm=$tree/src/nvidia
kernel=$rm/src/kernel
file=$kernel/gpu/fifo/kernel_channel_group_api.c
fresh() {
	rm -rf "$tree"
	cp -r "$top/tests/hooks/tree" "$tree"
}
same() { diff -r "$top/tests/hooks/tree" "$tree"; }
# refused NAME COMMAND...: exit 1, one line on stderr that matches $want
refused() {
	local what=$1 got=0
	shift
	"$@" >"$scratch/out" 2>"$scratch/err" || got=$?
	is "$got $(wc -l <"$scratch/err")" "1 1" "$what: the command fails with one line"
	like "$(cat "$scratch/err")" "$want" "$what: the line says why"
}
command -v spatch >/dev/null || {
	not_ok "spatch is there (package coccinelle)"
	done_testing
	exit
}

# ---- the hooks go in, are used, and come out
fresh
check "the hooks go in" "$kit/apply" "$tree"
check "each hook is there exactly once, and the driver compiles" "$kit/check" "$tree"
"$kit/check" "$tree" >"$scratch/out" 2>&1
is "$(grep -c ' 1 line ' "$scratch/out")" 10 "check prints a line for each hook"
like "$(cat "$scratch/out")" "the same code as before" "hooks that are off leave the compiled code unchanged"
mkdir -p "$scratch/kernel/linux"
# A stand-in for a kernel's headers: its Makefile builds objects of M with the flags of M's lists.
cat >"$scratch/kernel/Makefile" <<'END'
include $(M)/nvidia/nvidia-sources.Kbuild
nvidia/nv.o:
	$(CC) -O2 $(NVIDIA_CFLAGS) -I$(NV_KERNEL_SOURCES) -c $(M)/nvidia/nv.c -o $(M)/$@
nvidia/gpusched_os.o:
	test -n '$(filter nvidia/gpusched_os.c,$(NVIDIA_SOURCES))'
END
cat >"$scratch/kernel/linux/jump_label.h" <<'END'
#define DECLARE_STATIC_KEY_FALSE(key) extern int key
#define static_branch_unlikely(key) (*(key))
END
check "kernel-open's part compiles, too, with a kernel's headers" \
	eval 'KDIR=$scratch/kernel "$kit/check" "$tree" >"$scratch/out" 2>&1'
like "$(cat "$scratch/out")" "resource nv: with the hooks; without them the same code as before" \
	"the kernel's part is compared, too"
make -s -C "$rm" OUTPUTDIR="$scratch/objects" 2>&1
cc -Wall -Wextra -Werror -I "$rm/inc" "$top/tests/hooks/run.c" "$scratch"/objects/*.o \
	-o "$scratch/run" || not_ok "the hooks link"
"$scratch/run" >"$scratch/out"
is "$(grep -c '^not ok' "$scratch/out") $(tail -1 "$scratch/out")" "0 1..41" \
	"the hooks pass the 41 points of run.c: $(grep '^not ok' "$scratch/out")"
want='are there already' refused "apply twice" "$kit/apply" "$tree"
check "the hooks come out" "$kit/revert" "$tree"
check "nothing of the hooks is left" same
want='no hooks of apply' refused "revert twice" "$kit/revert" "$tree"

# ---- changes by the owner of the tree
"$kit/apply" "$tree" >/dev/null
sed -i '1s/.*/\/\/ mine/' "$file"
check "revert works in spite of a change by the owner" "$kit/revert" "$tree"
is "$(sed -n 1p "$file")" "// mine" "the owner's change stays"
fresh
"$kit/apply" "$tree" >/dev/null
sed -i 's/gpusched_task_init(pGpu/gpusched_task_init(myGpu/' "$file"
want='nothing is taken out' refused "revert of a hook that was changed" "$kit/revert" "$tree"

# ---- what check finds
fresh
"$kit/apply" "$tree" >/dev/null
sed -i '/gpusched_task_destroy(/d' "$file"
want='not every hook' refused "check of a tree where a hook is missing" "$kit/check" "$tree"
sed -i '/gpusched_timeslice_set(/p' "$file"
want='not every hook' refused "check of a tree where a hook is there twice" "$kit/check" "$tree"
fresh
want='not every hook' refused "check of a tree without hooks" "$kit/check" "$tree"
fresh
"$kit/apply" "$tree" >/dev/null
sed -i 's/^#define gpusched_timeslice_set(gpu, api, us) *((void)0)/#define gpusched_timeslice_set(gpu, api, us) (*(us) = 1)/' \
	"$rm/inc/gpusched_rm.h"
want="not this kit's" refused "check of a changed gpusched_rm.h" "$kit/check" "$tree"

fresh
"$kit/apply" "$tree" >/dev/null
sed -i 's/rmStatus == NV_OK/rmStatus == NO_SUCH/' "$tree/kernel-open/nvidia/nv.c"
want='kernel-open does not compile.*NO_SUCH' \
	KDIR=$scratch/kernel refused "check of a tree that does not compile" "$kit/check" "$tree"

# ---- a driver in which a place is not found
fresh
sed -i 's/kchannelIsSchedulable_HAL/kchannelMayRun/' "$file" "$rm/inc/mini.h"
cp -r "$tree" "$scratch/before"
want='nothing is changed' refused "apply to a driver of unknown shape" "$kit/apply" "$tree"
like "$(cat "$scratch/out")" 'schedule +0 lines' "apply says which hook has no place"
check "the tree is untouched" diff -r "$scratch/before" "$tree"
want='no tree of NVIDIA' refused "apply to a folder that is no driver" "$kit/apply" "$scratch"
want='no such folder' refused "check of a missing folder" "$kit/check" "$scratch/nothing"
want='usage' refused "revert without an argument" "$kit/revert"
done_testing
