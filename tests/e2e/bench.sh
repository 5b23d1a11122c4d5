#!/bin/bash
# SPDX-License-Identifier: MIT
# gpusched bench, on the model and through the whole path (programs, simulated driver, daemon): its
# figures, the files that it keeps and continues, and the requests that it refuses.
# timeout: 240
# needs: root bpf fuse
# paired: yes
. "$(dirname "$0")/lib.sh"

row() { # LOAD SCHEME FILTER: applies the filter to that row of $rows
	jq -r "select(.load == \"$1\" and .scheme == \"$2\") | $3" <<<"$rows"
}

# ---- loads and schemes ----------------------------------------------------------------------------

list=$("$gpusched" bench --list --gpu sim --json)
ge "$(jq -s 'map(select(.kind == "load")) | length' <<<"$list")" 18 "loads are listed"
is "$(jq -rs 'map(select(.name | IN("mps", "mps-prio", "mps-75", "pool", "share")) | .absent) | @json' <<<"$list")" \
	"[null,null,null,null,null]" "the model has every setting of MPS"
is "$(jq -r 'select(.name == "graph") | .absent' <<<"$list")" "PyTorch runs on a real GPU only" "a load that the model lacks is listed with the reason"
exits 2 "an unknown load is refused" "$gpusched" bench --gpu sim --load a-9be
exits 2 "the model has one GPU" "$gpusched" bench --gpu sim --gpus 2
exits 2 "an unknown place is refused" "$gpusched" bench --gpu there

# ---- the model -----------------------------------------------------------------------------------

rows=$("$gpusched" bench --gpu sim --quick --json --load a-1be,a-3be,half-be)
is "$(jq -s 'map(.load + .scheme) | unique | length' <<<"$rows")" "$(jq -s length <<<"$rows")" "each row comes once"
is "$(jq -s 'map(has("lc_p50_us") and has("lc_p99_us") and has("be_rate") and has("be_share_of_default") and
	has("lost_pct") and has("mode")) | all' <<<"$rows")" true "every row has every figure, or null"
le "$(row a-1be alone .lc_p99_us)" 200 "the LC's p99 is short while it runs alone"
ge "$(row a-1be default .lc_p99_us)" 2000 "the LC waits by default"
le "$(row a-1be lcbe .lc_p99_us)" 400 "under lcbe the LC hardly waits"
le "$(row a-1be lcbe '.lc_p99_of_default')" 0.2 "its latency is given as a part of the default"
is "$(row a-1be default '.be_share_of_default')" 1 "the BE's share of the default is 1 under the default"
ge "$(row a-3be rr '.be_share_of_default')" 0.95 "turns (rr) cost the BE next to nothing"
le "$(row a-3be slices '.be_share_of_default')" 0.6 "static slices of three BE cost half"
ge "$(row a-3be slices .lost_pct)" 15 "the other half is lost in switches"
ge "$(row a-1be be-alone '.be_rate')" 980 "the BE's rate is known while it runs alone"
is "$(row a-1be be-alone '[.lc_p50_us, .failed] | @json')" "[null,null]" "a BE alone has no latency, and that is no failure"
is "$(row a-1be alone '.be_rate')" null "there is no BE where the LC is alone"
ge "$(row a-3be mps .lc_p50_us)" "$(row a-3be mps-prio '.lc_p50_us * 2')" "client priority helps where several BE share a server"
ge "$(row a-3be mps-prio '.be_share_of_default')" 1.05 "programs side by side get more done than by turns"
le "$(row a-1be mps-75 '.be_rate')" 800 "a BE that may use 75 % of the SMs does a quarter less"
le "$(row a-3be pool .lc_p99_us)" 450 "an LC beside a pool waits for one switch"
is "$(row a-3be share '.lc_p50_us > 400')" true "an LC in the BE's server waits for their blocks"
absent=$("$gpusched" bench --gpu sim --quick --json --load memory-be --scheme default)
is "$(jq -r '[.absent, .lc_p50_us] | @json' <<<"$absent")" '["the model has no memory bandwidth",null]' \
	"a load that the model lacks has no figures"
is "$(row half-be lcbe .load)" "" "a load outside the core set is not measured under lcbe"
ge "$(row half-be default .be_rate)" 400 "a BE that rests counts its kernels"

# ---- loads of a language model's server; too few requests for a 99th percentile ------------------

rows=$("$gpusched" bench --gpu sim --quick --json --load llm,blocks --scheme alone,default,bare)
is "$(jq -rs 'map(.load) | unique | join(" ")' <<<"$rows")" \
	"blocks-100-1be blocks-100-3be blocks-1000-1be blocks-1000-3be blocks-20-1be blocks-20-3be llm-30 llm-60 llm-75 llm-90" \
	"a load is chosen by the beginning of its name"
ge "$(row llm-30 alone .lc_token_p99_us)" 1200 "a token takes its graph's time at least"
le "$(row llm-30 alone .lc_token_p99_us)" 1400 "a token alone takes little more"
ge "$(row llm-60 default '.lc_token_p50_us')" 3000 "a BE's turn comes between two tokens by default"
is "$(row llm-30 alone '[.requests >= 500, .lc_p99_us] | @json')" "[false,null]" "few requests have no 99th percentile"
ge "$(row llm-30 alone '.lc_max_us - .lc_p90_us')" 0 "few requests have a 90th percentile and a largest"
is "$(row blocks-20-1be alone '.lc_p99_us != null')" true "500 requests have a 99th percentile"
is "$(row blocks-20-1be bare .lc_p50_us)" "$(row blocks-20-1be default .lc_p50_us)" \
	"on the model, no gpusched at all equals the driver's default"
is "$(jq -s 'map(has("driver") and has("host_gpus") and (.build | length > 4)) | all' <<<"$rows")" true \
	"each row says driver, build and GPUs on the host"
like "$("$gpusched" bench --gpu sim --quick --load llm-90 --scheme alone)" 'p90 [0-9]+, max [0-9]+' \
	"the table names the percentile that it shows instead"

# ---- held-out loads ------------------------------------------------------------------------------

rows=$("$gpusched" bench --gpu sim --quick --held-out --json --blocks 1 --scheme alone,default,auto)
is "$(jq -s 'map(.valid) | [length, all] | @json' -r <<<"$rows")" "[24,true]" "every held-out load is valid"
is "$(jq -s 'map(keys) | unique | add | join(" ")' -r <<<"$rows")" "blocks load scheme valid why" \
	"held-out loads print no figure"
is "$("$gpusched" bench --gpu sim --quick --blocks 1 --seconds 0.5 --json --scheme alone | jq -s 'map(select(.load | test("^held"))) | length')" \
	0 "held-out loads are measured only when they are asked for"

# ---- a policy of one's own ---------------------------------------------------------------------------

(cd "$scratch" && "$gpusched" policy new mine) >/dev/null
sed -i 's/slice_us, 500/slice_us, 1/' "$scratch/mine.bpf.c"
own=$(cd "$scratch" && "$gpusched" bench --gpu sim --quick --json --load a-1be --scheme default \
	--policy ./mine.bpf.c,fair)
is "$(jq -r .scheme <<<"$own" | paste -sd ' ')" "default ./mine.bpf.c fair" "own policies are measured beside the schemes"
le "$(jq 'select(.scheme == "./mine.bpf.c").lc_p99_us' <<<"$own")" 400 "a policy of one's own is in force"
exits 2 "a policy that is a scheme already is refused" "$gpusched" bench --gpu sim --policy auto
exits 1 "a policy that does not exist is refused" "$gpusched" bench --gpu sim --policy "$scratch/none.bpf.c"

# ---- the files that it keeps ----------------------------------------------------------------------

kept=$scratch/kept
"$gpusched" bench --gpu sim --quick --load a-1be --scheme default,lcbe --blocks 2 --minutes 5 --out "$kept" >"$scratch/first"
is "$(wc -l <"$kept/raw.jsonl")" 4 "a cell is a line of the raw data"
check "the line has every latency" jq -es 'map(.latency_us | length > 500) | all' "$kept/raw.jsonl"
check "the table is kept" grep -q '^a-1be *lcbe' "$kept/table.txt"
check "pictures are made" eval '[ -s "$kept/latency-a-1be.svg" ] && [ -s "$kept/share.svg" ]'
exits 0 "a bench of one scheme, with nothing to compare, succeeds" \
	"$gpusched" bench --gpu sim --quick --load a-1be --scheme alone --out "$scratch/alone"
check "a bench of one scheme makes its picture" test -s "$scratch/alone/latency-a-1be.svg"
is "$("$gpusched" bench --gpu sim --resume --minutes 0 --out "$scratch/alone" 2>&1 >/dev/null)" "" "showing these results again prints no complaint"
bare=$(PATH=/none "$gpusched" bench --gpu sim --quick --load a-1be --scheme default --out "$scratch/bare" 2>&1)
like "$bare" "gnuplot is not installed" "without gnuplot bench says so"
exits 1 "results are not overwritten" "$gpusched" bench --gpu sim --quick --load a-1be --out "$kept"
head -n 3 "$kept/raw.jsonl" >"$kept/cut"
{ head -c 100 "$kept/cut"; } >>"$kept/cut"
mv "$kept/cut" "$kept/raw.jsonl"
"$gpusched" bench --gpu sim --quick --load a-1be --scheme default,lcbe --blocks 2 --out "$kept" --resume >"$scratch/second"
is "$(jq -R 'fromjson? | 1' "$kept/raw.jsonl" | wc -l)" 4 "bench goes on behind a line that was cut off"
is "$(cat "$scratch/second")" "$(cat "$scratch/first")" "a continued bench comes to the same figures"
"$gpusched" bench --gpu sim --out "$kept" --resume --minutes 0 >"$scratch/looked"
is "$(cat "$scratch/looked")" "$(cat "$scratch/first")" "kept results can be shown again, unchanged"
jq -c '.machine = "another"' <"$kept/raw.jsonl" >"$kept/other" 2>/dev/null
mv "$kept/other" "$kept/raw.jsonl"
"$gpusched" bench --gpu sim --quick --load a-1be --scheme default --blocks 1 --out "$kept" --resume --json >"$scratch/third"
is "$(jq -r '[.machine, .blocks] | @json' "$scratch/third")" '["model",1]' "rows of another machine are not mixed in"
# blocks RATIO...: continues a bench whose raw data have these ratios of auto's latencies to the
# default's, one a block
blocks() {
	mkdir -p "$scratch/open" && rm -f "$scratch/open"/*
	jq -nc --args '$ARGS.positional | to_entries[] | .key as $block | (.value | tonumber) as $ratio |
		{default: 1, auto: $ratio} | to_entries[] | {machine: "model", gpu: "h200", mode: "sim", load: "a-1be",
		scheme: .key, $block, be_rate: 900, proved: true, in_force: {}, latency_us: [range(100) as $i | .value * (1000 + $i)]}' \
		"$@" >"$scratch/open/raw.jsonl"
	"$gpusched" bench --gpu sim --load a-1be --scheme default,auto --seconds 2 --out "$scratch/open" --resume --json "${more[@]}"
}
more=()
is "$(blocks 0.9 3 3 3 1.0 | jq -sc 'map(.blocks)')" "[10,10]" "a figure that five blocks leave open gets up to ten"
is "$(blocks 0.9 0.8 0.9 0.8 0.9 | jq -sc 'map([.blocks, .open])')" "[[5,null],[5,null]]" "a figure that five blocks decide gets no more"
more=(--blocks 5)
is "$(blocks 0.9 1.2 0.9 1.2 1.0 | jq -sc 'map([.blocks, .open])')" '[[5,null],[5,"lc_p50_of_default"]]' \
	"no block is added to a number that was asked for, and the figure is marked as open"
like "$(cat "$scratch/open/table.txt")" 'lc_p50_of_default is open: 0.9[0-9]*-1.2' "the table says that the figure is open"
exits 4 "a bench without time left exits with 4" "$gpusched" bench --gpu sim --load b-1be --out "$scratch/late" --minutes 0

rows=$("$gpusched" bench --gpu sim --load a-1be --scheme default,auto-untold --warmup 0.1 --seconds 2 --blocks 1 --json)
le "$(row a-1be auto-untold '.lc_p50_us * 2')" "$(row a-1be default .lc_p50_us)" \
	"auto without classes is measured after it has had time to find them"

# ---- the whole path ------------------------------------------------------------------------------

rows=$(PATH=$build/simmps:$PATH "$gpusched" bench --gpu path --quick --dilate 3 --warmup 0.3 --load a-3be \
	--scheme alone,default,rr,slices,mps,bare --policy "$scratch/mine.bpf.c" --json 2>"$scratch/told")
diag "$(cat "$scratch/told")"
like "$(cat "$scratch/told")" "alone +LC .* BE -/s, lost" "a scheme without a BE shows - in place of the BE's figures"
is "$(row a-3be default .mode)" path "rows that went through the whole path say so"
le "$(row a-3be rr '.lc_p50_us * 4')" "$(row a-3be default .lc_p50_us)" "under rr the LC's median is at most a quarter of the default's"
is "$(row a-3be rr '.in_force.policy')" rr "the policy was in force"
is "$(row a-3be "$scratch/mine.bpf.c" '.in_force.policy')" mine "the policy of one's own was in force"
is "$(row a-3be slices '.in_force.be_timeslice_us | @json')" "[200,200,200]" "the static slices were in force"
is "$(row a-3be bare '.in_force | [.policy, .daemon] | @json')" "[null,false]" "without gpusched there is no daemon"
is "$(row a-3be rr '.in_force.policy')" rr "the next cell has its daemon again"
is "$(row a-3be default '[.driver != null, .host_gpus] | @json')" "[true,1]" "rows name the driver and the GPUs"
is "$(jq -s 'map(select(.lc_p50_us) | .proved) | all' <<<"$rows")" true "for every row the scheme's settings were really in force"
is "$(row a-3be mps '.in_force.mps_clients')" 4 "four programs were clients of the MPS server, by its own list"
is "$(pgrep -c -f "$build/simmps/nvidia-cuda-mps-server")" 0 "no MPS server is left"
ge "$(row a-3be default '.in_force.be_turn_us | min')" 1000 "the BE had long turns by default, by the log"
le "$(row a-3be slices '.in_force.be_turn_us | max')" 400 "the BE had short turns with static slices"

rows=$("$gpusched" bench --gpu path --dilate 3 --warmup 0.2 --seconds 1 --blocks 1 --load open-1be --scheme default,lcbe,auto --json)
few=$(jq -s 'map(.requests) | min' <<<"$rows")
diag "requests: $(jq -s -c 'map(.requests)' <<<"$rows")"
is "$(jq -s 'map(.late_p99_us | type) | unique | @json' -r <<<"$rows")" '["number"]' \
	"the generator's own lateness is counted apart"
ge "$few" 150 "a load with requests by the clock has at least 150"
le "$(jq -s 'map(.requests) | max' <<<"$rows")" $((few + 6)) "all schemes of a block have the same ones"

# ---- pools -----------------------------------------------------------------------------------------

# gpusched uses the programs of MPS only from a folder that root owns
"$gpusched" sim shell --gpus 2 --dilate 3 -- bash -c '
	mount -t tmpfs -o mode=755 none /opt && cp "$1"/simmps/* /opt || exit
	PATH=/opt:$PATH "$0" bench --gpu path --gpus 2 --load a-1be --scheme pool,share --blocks 2 --seconds 0.5 --warmup 0.3 \
		--json --out "$3"
	cd "$GPUSCHED_SIM/run/mps" && find . -name api -o -path "*/pipe/*" | paste -sd " " >"$2"' \
	"$gpusched" "$build" "$scratch/left" "$scratch/real" >"$scratch/pools" 2>"$scratch/told"
diag "$(cat "$scratch/told")"
is "$(jq -s 'map(.proved and .in_force.mps) | @json' -r "$scratch/pools")" "[true,true]" \
	"the programs ran in a pool, and in one MPS server"
is "$(jq -sc 'map([.scheme, .block])' "$scratch/real/raw.jsonl")" '[["pool",0],["pool",1],["share",0],["share",1]]' \
	"two blocks are measured at once, on a GPU each"
is "$(jq -sc 'map(select(.scheme == "pool") | .in_force.be_timeslice_us)' "$scratch/real/raw.jsonl")" "[[1],[1]]" \
	"the pool's server has a short slice"
is "$(jq -s 'map(.be_rate > 800 and .be_rate < 1050) | all' "$scratch/real/raw.jsonl")" true "no GPU has two BE"
is "$(jq -s 'map(.latency_us | length > 20 and . != sort) | all' "$scratch/real/raw.jsonl")" true \
	"the raw data have the latencies in their order of time"
is "$(cat "$scratch/left")" "" "files of raw latencies are removed with their cell"

# ---- not beside others ------------------------------------------------------------------------------

"$gpusched" sim shell --dilate 2 -- bash -c '
	"$0" be --iterations-per-us 27.777 --seconds 0 --ready >"$2" & be=$!
	until grep -q ready "$2"; do sleep 0.05; done
	"$1" bench --gpu path --load a-1be --scheme alone; echo "exit $?"; kill $be' \
	"$gsload" "$gpusched" "$scratch/ready" >"$scratch/beside" 2>&1
like "$(cat "$scratch/beside")" 'TSGs of other programs.*exit 3' "bench refuses to measure beside other programs"

# ---- interrupted ------------------------------------------------------------------------------------

"$gpusched" sim shell --dilate 2 -- bash -c '
	tsgs() { [ "$(jq ".tsgs | length" <"$GPUSCHED_SIM/dev/state.json")" -ge 8 ]; }
	"$0" bench --gpu path --seconds 100 --load a-1be --scheme default 2>/dev/null & bench=$!
	for i in {1..200}; do tsgs && break; sleep 0.1; done
	kill -TERM $bench; wait $bench; echo "exit $? tsgs $(jq ".tsgs | length" <"$GPUSCHED_SIM/dev/state.json")"' \
	"$gpusched" >"$scratch/interrupted" 2>&1
like "$(cat "$scratch/interrupted")" 'exit 4 tsgs 0' "on SIGTERM bench ends its programs first"

# ---- a program that ends ----------------------------------------------------------------------------

"$gpusched" sim shell --dilate 2 -- bash -c '
	tsgs() { [ "$(jq ".tsgs | length" <"$GPUSCHED_SIM/dev/state.json")" -ge 8 ]; }
	"$0" bench --gpu path --blocks 1 --seconds 5 --load a-1be --scheme default --json & bench=$!
	for i in {1..200}; do tsgs && break; sleep 0.1; done
	pkill -f -P $bench "gsload be"; wait $bench' "$gpusched" >"$scratch/ended" 2>/dev/null
is "$(jq -r 'select(.scheme == "default") | .failed' <"$scratch/ended")" "a program ended while it was measured" \
	"no figure is made of a BE that ended"
done_testing
