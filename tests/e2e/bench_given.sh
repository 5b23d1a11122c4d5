#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched bench with DISB's loads and with a user's own: a trace of arrivals in CSV, on the model and
# through the whole path, and clients in JSON; what its results say of the file, and what is refused.
# timeout: 180
# needs: root bpf fuse
. "$(dirname "$0")/lib.sh"
cd "$scratch" || exit

on_model() { # OPTIONS...: a bench on the model; its rows go to $rows, its words to the file told
	rows=$("$gpusched" bench --gpu sim --quick --json "$@" 2>told)
}
refuses() { # WORDS NAME OPTIONS...: bench refuses these with the one line "gpusched: bench: WORDS"
	local words=$1 name=$2
	shift 2
	is "$("$gpusched" bench --gpu sim --quick --out refused "$@" 2>&1; echo "exit $?")" "gpusched: bench: $words
exit 2" "$name"
}

# ---- DISB's loads --------------------------------------------------------------------------------

# their figures are those of held-out loads: nothing here reads them
on_model --load disb-a,disb-e --scheme default --blocks 1
is "$(jq -c '[.load, .scheme, .source, .requests > 0, .be_rate > 0, .failed]' <<<"$rows" | paste -sd ' ')" \
	'["disb-a","default",null,true,true,null] ["disb-e","default",null,true,true,null]' "DISB's loads are measured by their names"
is "$("$gpusched" bench --gpu sim --list --json | jq -r 'select(.name | test("^disb-")).name' | paste -sd ' ')" \
	"disb-a disb-b disb-c disb-d disb-e" "five of DISB's loads are listed"
is "$("$gpusched" bench --gpu sim --quick --blocks 1 --seconds 0.5 --json --scheme alone | jq -r '.load | select(test("disb"))')" "" \
	"they are measured only when they are asked for"
texts() { # BEGIN: texts of the loads whose names begin so, without what comes before the colon
	"$gpusched" bench --gpu sim --list --json | jq -r --arg begin "$1" 'select(.name | startswith($begin)).text | sub("^[^:]*: "; "")'
}
is "$(texts disb-)" "$(texts held-disb-)" "the texts are those of the held-out loads"

# ---- a trace of arrivals -------------------------------------------------------------------------

printf '\xef\xbb\xbfsize,"time",what\r\n5,1.1,x\r\n1,1,"a, b"\r\n2,1.3,\r\n7,41,z\r\n' >mine.csv
on_model --load ./mine.csv --scheme alone,default --blocks 1 --seconds 42
is "$(jq -c '[.load, .scheme, .requests]' <<<"$rows" | paste -sd ' ')" \
	'["mine.csv","alone",4] ["mine.csv","default",4]' "each arrival of the file is a request"
is "$(cat told)" "" "nothing is left out of a window that is long enough"
is "$(jq -sr '.[0].source | [.file, .sha256, .arrivals, .length_s] | @tsv' <<<"$rows")" \
	"$scratch/mine.csv	$(sha256sum <mine.csv | cut -d' ' -f1)	4	40" "the results name the file, its hash and its arrivals"
ge "$(jq -s '.[0].lc_max_us' <<<"$rows")" 700 "a size of 7 takes seven kernels of 100 us"
le "$(jq -s '.[0].lc_max_us' <<<"$rows")" 900 "a size of 7 takes no more than that"
on_model --load mine.csv --scheme alone --blocks 1
is "$(cat told)" "gpusched: bench: mine.csv: 3 of 4 arrivals come within the 5 s of a cell: --seconds 41 takes all" \
	"arrivals after the window are told of"
is "$(jq .requests <<<"$rows")" 3 "arrivals after the window do not come"
printf 'time_ms,tokens\n0,3\n100,1\n' >tokens.csv
on_model --load tokens.csv,a-1be --scheme alone --blocks 1
is "$(jq -c '[.load, .source.arrivals, .tokens]' <<<"$rows" | paste -sd ' ')" '["a-1be",null,0] ["tokens.csv",2,4]' \
	"a trace of tokens is measured beside a load of ours"
is "$("$gpusched" bench --gpu sim --list --load tokens.csv --json | jq -r 'select(.name == "tokens.csv").text')" \
	"2 arrivals of a file, each token a CUDA graph of 1.2 ms, beside 1 BE" "the list shows what the file is"

# ---- clients -------------------------------------------------------------------------------------

client() { # KERNELS LOAD: a task
	echo "{\"client\": {\"model_name\": \"mine\", \"kernels\": $1, \"kernel_us\": 50}, \"load\": {$2}}"
}
tasks() { # FILE TASK...: makes a file of these tasks
	local file=$1
	shift
	echo "{\"tasks\": [$(IFS=, && echo "$*")]}" >"$file"
}
few() { # MS: a service with one arrival at that time, among others
	tasks mine.json "$(client 1 '"type": "periodic", "frequency": 10')" "$(client 2 '"type": "trace", "trace": ['"$1"']')" \
		"$(client 4 '"type": "continuous"')" "$(client 1 '"type": "continuous"')"
}
few "1000, 2000"
on_model --load mine.json --scheme alone,default,slices --blocks 1
is "$(jq -c '[.load, .scheme, .failed]' <<<"$rows" | paste -sd ' ')" \
	'["mine.json","alone",null] ["mine.json","default",null] ["mine.json","slices",null]' "clients of a file are measured"
is "$(jq -s '.[0].requests | . >= 51 and . <= 52' <<<"$rows")" true "50 requests by the clock and two of the trace come in 5 s"
is "$(jq -sr '.[0].source | [.sha256, .arrivals, .length_s] | @tsv' <<<"$rows")" \
	"$(sha256sum <mine.json | cut -d' ' -f1)	2	2" "the results name the hash and the arrivals"
is "$(jq -s '.[2].in_force.be_timeslice_us' -c <<<"$rows")" "[200,200]" "each BE has the scheme's settings"
ge "$(jq -s '.[1].be_rate' <<<"$rows")" 8000 "the work of all BE counts"

# ---- kept results --------------------------------------------------------------------------------

on_model --load mine.csv --scheme alone --blocks 1 --out kept
check "the picture has the file's name" test -s kept/latency-mine.csv.svg
on_model --load mine.csv --scheme alone --blocks 1 --out kept --resume --minutes 0
is "$(jq .requests <<<"$rows")" 3 "kept results are shown again"
printf '0,1\n' >mine.csv
on_model --load mine.csv --scheme alone --blocks 1 --out kept --resume
is "$(jq .requests <<<"$rows")" 1 "results of another content are not taken for those of the file"

# ---- what is refused -----------------------------------------------------------------------------

printf 'time,size\n0,1\nsoon,1\n' >wrong.csv
refuses "wrong.csv:3: time: 'soon' is not a number" "an error in the file names the line" --load wrong.csv
refuses "wrong.csv:3: time: 'soon' is not a number" "the list checks the file too" --load wrong.csv --list
refuses "there is no load 'none': see 'gpusched bench --list'" "a word without slash and .csv is a load of ours" --load none
mkdir -p other && cp mine.csv other
refuses "two loads are called mine.csv" "two files of one name are refused" --load mine.csv,other/mine.csv
tasks wrong.json "$(client 1 '"type": "continuous", "think_ms": 5')" "$(client 1 '"type": "periodic", "frequency": 9')"
refuses "wrong.json: task 1: bench cannot express 'think_ms'" "a key that bench does not know is refused" --load wrong.json
tasks wrong.json "$(client 1 '"type": "periodic", "frequency": 9')"
refuses "wrong.json: bench measures services beside continuous clients: there must be both" "clients without a BE are refused" --load wrong.json
cp mine.csv "it's.csv"
refuses "--load takes no file name with quotes" "a name with quotes is refused" --load "it's.csv"
exits 1 "a file that is not there is refused" "$gpusched" bench --gpu sim --load ./none.csv
mkfifo pipe.csv
exits 1 "a pipe is refused, and not waited for" timeout 20 "$gpusched" bench --gpu sim --load pipe.csv
check "a bench that is refused writes nothing" test ! -e refused

# ---- the whole path ------------------------------------------------------------------------------

printf '0,1\n0.2,3\n0.4,1\n' >mine.csv
few 500
"$gpusched" bench --gpu path --seconds 1 --warmup 0.3 --blocks 1 --dilate 3 --load mine.csv,tokens.csv,mine.json --scheme lcbe --json \
	>path 2>told
diag "$(cat told)"
is "$(jq -c '[.load, .requests, .tokens, .proved, .failed]' path | paste -sd ' ')" \
	'["mine.csv",3,0,true,null] ["tokens.csv",2,4,true,null] ["mine.json",'"$(jq 'select(.load == "mine.json").requests' path)"',0,true,null]' "programs run the traces, each anew in its window"
is "$(jq 'select(.load == "mine.json") | .requests >= 8 and .requests <= 13' path)" true "clients run beside each other"
ge "$(jq 'select(.load == "mine.json").be_rate' path)" 8000 "the BE clients work beside them"
done_testing
