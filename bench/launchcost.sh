# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# launchcost.sh - the cases of bench/launchcost.c, for the scripts that measure a launch

# launchcost_cases FOLDER GPUSCHED POLICY EMPTYPROBE: fills $cases. Each is a script in FOLDER that brings a running daemon into
# that case from any other, and returns when it is there: probes that are let go of are detached a moment later. Where the kernel
# refuses EMPTYPROBE its case is left out, and said so. launchcost_end FOLDER ends what may be left.
launchcost_cases() {
	local folder=$1 gpusched=$2 policy=$3 empty=$4 name
	cat >"$folder/end-empty" <<-END
		read -r pid 2>/dev/null <$folder/empty.pid || exit 0
		kill \$pid 2>/dev/null
		for _ in \$(seq 100); do [ -e /proc/\$pid ] || break; sleep 0.05; done
		rm -f $folder/empty.pid
	END
	cat >"$folder/off" <<-END
		sh $folder/end-empty
		$gpusched policy stop >/dev/null 2>&1
		$gpusched observe launches off >/dev/null || exit 1
		sleep 1 # the kernel detaches in its own time
	END
	cat >"$folder/empty" <<-END
		sh $folder/off && $empty cuLaunchKernel >$folder/empty.pid
	END
	cat >"$folder/counted" <<-END
		sh $folder/end-empty
		$gpusched policy stop >/dev/null 2>&1
		$gpusched observe launches on >/dev/null && sleep 0.1
	END
	cat >"$folder/policy" <<-END
		sh $folder/end-empty
		$gpusched policy start $policy >/dev/null && sleep 0.1
	END
	cases=()
	for name in off empty counted policy; do
		if [ $name = empty ] && ! sh "$folder/empty"; then
			echo "launchcost: no case with an empty probe" >&2
			continue
		fi
		cases+=("$name=sh $folder/$name")
	done
	cases+=("off-again=sh $folder/off")
}

launchcost_end() {
	sh "$1/end-empty"
	rm -f "$1"/{end-empty,off,empty,counted,policy}
}
