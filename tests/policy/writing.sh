#!/bin/bash
# SPDX-License-Identifier: MIT
# quick: yes
# timeout: 300
# needs: root bpf fuse
# docs/writing-policies.md: its files compile, its commands run as they stand, and its figures are
# those of the model.
. "$(dirname "$0")/../e2e/lib.sh"
enter_sim
exec 2>"$scratch/stderr"
page=$top/docs/writing-policies.md
mkdir "$scratch/page"
cd "$scratch/page" || exit 1
chmod 711 "$scratch"
chmod 777 .

# each block behind a line "<!-- file: NAME -->"
awk '/^<!-- file: / { file = $3; next }
	/^```/ && file { if (on) file = ""; on = !on; next }
	on { print > file }' "$page"
is "$(echo *)" "polite.bpf.c polite.scn thousand.scn" "the page has its files"
commands() { # KIND
	awk -v start="\`\`\`$1" '$0 == start { on = 1; next } /^```/ { on = 0 } on' "$page"
}
# the model asks for no privilege
nobody() {
	env -u GPUSCHED_SIM setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}

# ---- offline
while read -r command; do
	case $command in
	*"sim run"*) check "$command" eval "nobody $command" ;;
	*) check "$command" eval "$command" ;;
	esac
done < <(commands sh)
check "an object is there" test -s polite.bpf.o
check "a timeline is written" test -s polite.gp
le "$(grep -c . polite.bpf.c)" 50 "the policy has no more than 50 lines"
while IFS='|' read -r _ policy p99 rate _; do
	policy=$(tr -d '`' <<<"$policy")
	# shellcheck disable=SC2086 # options may follow
	got=$(nobody gpusched sim run polite.scn --policy $policy --json | jq -r 'select(.scenario) |
		[.checks[].value | round] | "\(.[0]) \(.[1])"')
	is "$got" "$(echo $p99 $rate)" "$policy: the page's figures"
done < <(grep -E '^\| `.*[0-9]+ \| [0-9]+ \|$' "$page")
check "in the kernel it decides the same" diff <(gpusched sim run polite.scn --policy ./polite.bpf.c --json) \
	<(gpusched sim run polite.scn --policy ./polite.bpf.o --host sim --json | sed 's/polite.bpf.o/polite.bpf.c/')

# ---- on a live machine
printf '#!/bin/sh\nexec gsload be --seconds 0 --iterations-per-us 27.78\n' >training
printf '#!/bin/sh\nexec gsload lc --arrivals closed --period-us 5000 --seconds 0 --iterations-per-us 27.78\n' >server
chmod +x training server
cd / || exit 1 # where a daemon works
start_daemon || exit 1
cd "$scratch/page" || exit 1
running=()
while read -r command; do
	case $command in
	*\&)
		eval "$command" >/dev/null
		running+=($!)
		at_end+=($!)
		check "$command" wait_for 10 eval "[ \"\$(sim_work $!)\" != 0 ]"
		;;
	"gpusched policy start lcbe"*)
		be=${running[0]}
		check "beside the server the training has short slices" wait_for 5 slice_is "$be" 800
		end_load "${running[1]}"
		check "alone it has the long ones of -o" wait_for 5 slice_is "$be" 20000
		check "$command" eval "$command"
		;;
	*) check "$command" eval "$command" ;;
	esac
done < <(commands "sh live")
check "everything is as its owner asked" wait_for 5 restored
done_testing
