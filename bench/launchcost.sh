# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# launchcost.sh - the cases of bench/launchcost.c, for the scripts that measure a launch

# launchcost_cases FOLDER GPUSCHED POLICY EMPTYPROBE: fills $cases with NAME=COMMAND. Each command runs a script in FOLDER that
# switches the running daemon to the case NAME and returns once the switch is complete (the kernel detaches probes with a delay).
# If the kernel refuses EMPTYPROBE, the function leaves the case "empty" out and says so on stderr.
# launchcost_end FOLDER kills a remaining empty probe and removes the scripts.
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
		sleep 1 # the kernel detaches probes some time after the request
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
