# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# launchcost.sh - the cases of bench/launchcost.c, for the scripts that measure a launch

# launchcost_cases FOLDER GPUSCHED POLICY: fills $cases. Each is a script in FOLDER that brings a running daemon into that
# case from any other, and returns when it is there: probes that are let go of are detached a moment later.
launchcost_cases() {
	local folder=$1 gpusched=$2 policy=$3 name
	cat >"$folder/off" <<-END
		$gpusched policy stop >/dev/null 2>&1
		$gpusched observe launches off >/dev/null || exit 1
		for _ in \$(seq 100); do pgrep --ns \$\$ --nslist mnt -x gpusched-keeper >/dev/null || exit 0; sleep 0.05; done
		echo "the probes are still there" >&2
		exit 1
	END
	cat >"$folder/counted" <<-END
		$gpusched policy stop >/dev/null 2>&1
		$gpusched observe launches on >/dev/null && sleep 0.1
	END
	cat >"$folder/policy" <<-END
		$gpusched policy switch $policy >/dev/null && sleep 0.1
	END
	cases=()
	for name in off counted policy; do
		cases+=("$name=sh $folder/$name")
	done
	cases+=("off-again=sh $folder/off")
}
